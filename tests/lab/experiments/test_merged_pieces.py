"""Both algorithms beside the library."""


def test_every_merge_and_every_split_is_the_library_s(found):
    values, findings = found("merged-pieces")
    assert values["same_merges"] == values["same_split"] == values["same_match"] == 1
    assert values["merges"] == 120
    assert findings.verdict == "holds"


def test_texts_become_shorter_with_every_merge(found):
    values, _ = found("merged-pieces")
    for name in ("length_bpe", "length_wordpiece"):
        assert values[name] == sorted(values[name], reverse=True)
    assert values["length_bpe"][0] == values["letters"]

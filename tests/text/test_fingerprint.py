"""The fingerprint changes with everything that changes an id, and with nothing else."""

import copy
import json

import pytest

from clearformer.text.fingerprint import describe_difference, differs_from_outline, fingerprint, outline, pieces


@pytest.fixture
def definition(trained) -> dict:
    return json.loads(trained["bpe"]._definition)


def test_key_order_and_batch_settings_do_not_count(definition):
    shuffled = dict(reversed(definition.items())) | {"version": "9", "padding": {"length": 4}, "truncation": None}
    shuffled["model"] = {**definition["model"], "vocab": dict(reversed(definition["model"]["vocab"].items()))}
    assert fingerprint(shuffled, {}) == fingerprint(definition, {})


def _swap_two_pieces(d):
    d["model"]["vocab"]["A"], d["model"]["vocab"]["B"] = d["model"]["vocab"]["B"], d["model"]["vocab"]["A"]


def _swap_two_merges(d):
    d["model"]["merges"][:2] = reversed(d["model"]["merges"][:2])


CHANGES = {
    "pieces differ": _swap_two_pieces,
    "different merges": _swap_two_merges,
    "different normalisation": lambda d: d.update(normalizer=None),
    "different splitting into words": lambda d: d.update(pre_tokenizer=None),
    "different special tokens around a sentence": lambda d: d.update(post_processor=None),
    "different decoding": lambda d: d.update(decoder=None),
}


@pytest.mark.parametrize("said", CHANGES)
def test_every_change_of_behaviour_counts_and_is_named(definition, said):
    changed = copy.deepcopy(definition)
    CHANGES[said](changed)
    assert fingerprint(changed, {}) != fingerprint(definition, {})
    assert said in differs_from_outline(changed, outline(definition))
    if said != "pieces differ":
        assert said in describe_difference(definition, changed)


def test_facts_count(definition):
    assert fingerprint(definition, {"kind": "bpe"}) != fingerprint(definition, {"kind": "unigram"})


def test_swapped_pieces_are_shown_with_their_ids(definition):
    changed = copy.deepcopy(definition)
    _swap_two_pieces(changed)
    said = describe_difference(definition, changed)
    assert "2 ids mean different pieces" in said
    assert f"id {definition['model']['vocab']['A']} is 'A' against 'B'" in said


def test_scores_of_a_unigram_vocabulary_count(trained):
    definition = json.loads(trained["unigram"]._definition)
    changed = copy.deepcopy(definition)
    changed["model"]["vocab"][-1][1] -= 1.0
    assert "different scores" in describe_difference(definition, changed)
    assert "different scores" in differs_from_outline(changed, outline(definition))


def test_the_outline_is_small_and_json(definition):
    summary = outline(definition)
    assert json.loads(json.dumps(summary)) == summary
    assert len(summary["pieces"]) == 4 * -(-len(pieces(definition)) // 16)


def test_pieces_are_listed_by_id():
    assert pieces({"model": {"vocab": {"b": 1, "a": 0}}, "added_tokens": [{"id": 3, "content": "<x>"}]}) == [
        "a",
        "b",
        "",
        "<x>",
    ]
    assert pieces({"model": {"vocab": [["a", -1.0], ["b", -2.0]]}}) == ["a", "b"]

"""Vocabularies and what they do to length."""


def test_larger_vocabularies_make_shorter_texts(found, had_it_been):
    _, findings = found("vocabulary-sizes")
    lengths = [float(row[2]) for row in findings.tables[0].rows]
    letters, small, usual, _, large = lengths
    assert letters > small > usual > large > 1
    numbers = {"letters": {"per_word": 9.0}, "bpe-1000": {"per_word": 6.0}, "unigram-1000": {"per_word": 6.0}}
    assert had_it_been("vocabulary-sizes", numbers).startswith("holds")
    assert had_it_been("vocabulary-sizes", {**numbers, "letters": {"per_word": 4.0}}) == "does not hold"

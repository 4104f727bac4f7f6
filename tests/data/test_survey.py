"""A survey: counts, lengths and scripts by hand, and keys that are equal exactly where sentences are."""

from clearformer.data.readers.parallel import Pair
from clearformer.data.survey import Survey


def survey(*pairs):
    return Survey.of(Pair(source, target, line) for line, (source, target) in enumerate(pairs, start=1))


def test_pairs_and_mean_lengths():
    seen = survey(("ab", "x"), ("abcd", "xyz"))
    assert (seen.pairs, seen.source.length, seen.target.length) == (2, 3.0, 2.0)


def test_keys_forget_case_and_spacing_and_nothing_else():
    keys = survey(("Hello  there", ""), ("hello there ", ""), ("hello, there", "")).source.keys
    assert keys[0] == keys[1] != keys[2]


def test_the_script_is_that_of_most_letters():
    seen = survey(("Привет, Tom!", "機械学習はおもしろい。"), ("Это NLP.", "はい。"))
    assert (seen.source.script, seen.target.script) == ("Cyrillic", "Han/Kana")
    assert (seen.source.kana, seen.target.kana) == (False, True)
    assert not survey(("", "机器学习很有意思。")).target.kana


def test_a_corpus_without_letters_or_lines_has_no_script():
    assert survey(("1 + 1", "2")).source.script is None
    empty = survey()
    assert (empty.pairs, empty.source.script, len(empty.source.keys)) == (0, None, 0)

"""Who becomes what, learned from pairs: hand-made languages in which the answer is known."""

import random

import pytest

from clearformer.inference.shortlist import learn


def language(count: int, words: int, seed: int = 1) -> tuple[list[list[int]], list[list[int]]]:
    """Every source token has one translation (itself + 100), in another order."""
    generator = random.Random(seed)
    sources = [[generator.randrange(words) for _ in range(generator.randint(2, 8))] for _ in range(count)]
    return sources, [[token + 100 for token in sorted(row)] for row in sources]


def test_the_first_choice_is_the_translation():
    shortlist = learn(*language(300, 20), best=3, frequent=5)
    assert all(targets[0] == source + 100 for source, targets in shortlist.targets.items())
    assert len(shortlist.targets) == 20
    assert all(len(targets) <= 3 for targets in shortlist.targets.values())


def test_a_frequent_companion_does_not_take_a_word_s_place():
    """Every target has token 500, as every text has a full stop; counting alone would link it to everything."""
    sources, targets = language(300, 20)
    shortlist = learn(sources, [[*row, 500] for row in targets], best=1, frequent=1)
    right = sum(targets == (source + 100,) for source, targets in shortlist.targets.items())
    assert right >= 18
    assert shortlist.always == (500,)


def test_it_is_written_as_the_engine_reads_it(tmp_path):
    shortlist = learn([[0, 1]], [[1, 0]], best=2, frequent=1)
    shortlist.write(tmp_path / "vmap.txt", ["a", "b"], ["x", "y"])
    lines = (tmp_path / "vmap.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] in ("\tx", "\ty")
    assert [line.split("\t")[0] for line in lines[1:]] == ["a", "b"]
    assert all(set(line.split("\t")[1].split(" ")) == {"x", "y"} for line in lines[1:])


def test_the_same_pairs_give_the_same_list():
    assert learn(*language(50, 10)) == learn(*language(50, 10))


def test_pairs_that_teach_nothing_are_refused():
    with pytest.raises(ValueError, match="1 sources and 2 targets: give as many"):
        learn([[1]], [[1], [2]])
    with pytest.raises(ValueError, match="nothing can be learned"):
        learn([[], [1] * 500], [[1], [1]])

"""Does the text fit the vocabulary, and was the development set seen? Counted on texts made by hand."""

import pytest

from clearformer.data.readers.parallel import JoinedFiles, ParallelFiles
from clearformer.diagnosis.text import Fit, judge_fit, judge_overlap, judge_tables, measure_fit
from clearformer.tasks.translation import ParallelPaths
from clearformer.text.train_tokenizer import train

ENGLISH = ["two dogs play in the snow", "the dog sleeps in the house", "a bird sings in the tree"] * 4


@pytest.fixture(scope="module")
def tokenizer():
    return train("bpe", ENGLISH, 330)


def names(fit):
    return [finding.name for finding in judge_fit(fit)]


def test_the_training_text_itself_fits(tokenizer):
    fit = measure_fit("source", tokenizer, ENGLISH, ENGLISH)
    assert (fit.spelled, fit.strangers) == (0, ())
    assert fit.pieces_per_character == fit.pieces_per_character_in_training
    assert names(fit) == []


def test_characters_that_the_vocabulary_lacks_are_named(tokenizer):
    fit = measure_fit("source", tokenizer, ["the dog 狗 sleeps", "狗猫"], None)
    assert fit.strangers == ("狗", "猫")
    assert names(fit) == ["missing-pieces"]
    assert judge_fit(fit)[0].evidence["characters"] == "狗 猫"


def test_unknown_words_of_a_wordpiece_vocabulary_count_too():
    fit = measure_fit("source", train("wordpiece", ENGLISH, 200), ["狗 猫"], None)
    assert fit.spelled == 1.0


def test_text_in_capitals_does_not_fit_a_vocabulary_of_small_letters(tokenizer):
    fit = measure_fit("source", tokenizer, [line.upper() for line in ENGLISH], ENGLISH)
    assert names(fit) == ["vocabulary-mismatch"]


def test_without_training_text_nothing_is_said_about_the_kind():
    fit = Fit(side="source", spelled=0, pieces_per_character=1, pieces_per_character_in_training=None, strangers=())
    assert names(fit) == []


def test_tables_have_a_row_a_piece():
    assert judge_tables(rows=300, pieces=300, side="source") == []
    [finding] = judge_tables(rows=300, pieces=299, side="target")
    assert finding.name == "vocabulary-mismatch"
    assert finding.evidence == {"rows_of_the_model": 300, "pieces_of_the_vocabulary": 299}


@pytest.mark.parametrize(("shared", "found"), [(0, []), (1, []), (2, ["dev-overlaps-training"])])
def test_more_than_one_pair_in_a_hundred_seen_in_training_is_told(tmp_path, shared, found):
    train_pairs = [(f"s{n}", f"t{n}") for n in range(300)]
    dev_pairs = train_pairs[:shared] + [(f"S{n}", f"T{n}") for n in range(100 - shared)]
    for name, pairs in (("train", train_pairs), ("dev", dev_pairs)):
        for side in (0, 1):
            (tmp_path / f"{name}{side}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    train_files = ParallelFiles(source=tmp_path / "train0", target=tmp_path / "train1")
    files = ParallelPaths(
        train=JoinedFiles(parts=(train_files,)), dev_source=tmp_path / "dev0", dev_target=tmp_path / "dev1"
    )
    assert [finding.name for finding in judge_overlap(files)] == found

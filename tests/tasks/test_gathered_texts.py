"""Texts to learn from: never one that somebody is judged by, whichever file it stands in."""

import random

import pytest

from clearformer.tasks import text_classes
from clearformer.tasks.gathered_texts import UnlabelledText, gather
from clearformer.tasks.task import Workspace
from clearformer.tasks.text_classes import LabelledData
from clearformer.text.train_tokenizer import TokenizerConfig


def table(path, rows):
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")


@pytest.fixture
def rows():
    draw = random.Random(1)
    words = ("good", "bad", "film", "plot", "very", "slow", "fine", "old")
    texts = [" ".join(draw.choices(words, k=6)) for _ in range(120)]
    return [(draw.choice("012"), text) for text in [*texts, *texts[:20], texts[0].upper()]]  # some of them twice


def test_what_a_classifier_is_judged_by_is_not_learned_from(rows, tmp_path):
    table(tmp_path / "t.tsv", rows)
    data = LabelledData(
        train="t.tsv", text="2", label="1", vocabulary=TokenizerConfig(kind="wordpiece", vocab_size=200)
    )
    judged = text_classes.prepare(data, Workspace(folder=tmp_path / "out", base=tmp_path)).held.texts
    found = gather(UnlabelledText(train="t.tsv", text="2", label="1", join=False), tmp_path)
    assert found.dev == judged
    known = {text.casefold() for text in found.train}
    assert not known & {text.casefold() for text in judged}
    assert known | {text.casefold() for text in judged} == {text.casefold() for _, text in rows}


def test_what_is_held_out_in_one_table_or_named_apart_is_learned_from_nowhere(rows, tmp_path):
    table(tmp_path / "one.tsv", rows)
    table(tmp_path / "two.tsv", rows)
    table(tmp_path / "judge.tsv", rows[:5])
    data = UnlabelledText(train=("one.tsv", "two.tsv"), label=("1", ""), without="judge.tsv", text="2", join=False)
    found = gather(data, tmp_path)
    apart = {text.casefold() for _, text in rows[:5]} | {text.casefold() for text in found.dev}
    assert not apart & {text.casefold() for text in found.train}
    assert [path.name for path in found.files] == ["one.tsv", "two.tsv", "judge.tsv"]


def test_of_running_text_the_end_is_held_out(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n\n" for n in range(15)))
    (tmp_path / "b.txt").write_text("".join(f"line {n}\n" for n in range(15, 20)))
    found = gather(UnlabelledText(train=("a.txt", "b.txt"), hold_out=0.2), tmp_path)
    assert found.train == [f"line {n}" for n in range(16)]
    assert found.dev == [f"line {n}" for n in range(16, 20)]


def test_a_development_file_is_taken_as_it_is(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\none\n")
    joined = gather(UnlabelledText(train="a.txt", dev="b.txt"), tmp_path)
    assert joined.train == ["one", "two"]  # "= History =" stands in every article
    assert joined.dev == ["three", "one"]
    assert gather(UnlabelledText(train="a.txt", dev="b.txt", join=False), tmp_path).train == ["two"]


def test_too_little_text_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(ValueError, match=r"a\.txt: there is too little text to learn from and to hold some out"):
        gather(UnlabelledText(train="a.txt"), tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hold_out": 1.0}, r"data\.hold_out is a share of the texts, above 0 and below 1, not 1"),
        ({"max_length": 3}, r"data\.max_length must be at least 4 tokens, not 3"),
        ({"train": ("a", "b", "c"), "text": ("1", "2")}, r"data\.text names one column for all files of train, or one"),
    ],
)
def test_settings_are_checked(values, message):
    with pytest.raises(ValueError, match=message):
        UnlabelledText(**values)

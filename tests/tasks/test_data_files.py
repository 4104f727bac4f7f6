"""What every [data] section shares: files by name, seen from wherever the recipe stands."""

from dataclasses import dataclass

import pytest

from clearformer.tasks.data_files import DataFiles, check_files, file_names, folder_of, seen_from, several


@dataclass(frozen=True, kw_only=True)
class Made(DataFiles):
    """Data as some task has it."""

    train: str | tuple[str, ...] = file_names("one or more files")
    dev: str = file_names()
    test: str = file_names()
    name: str = "not a file"


def test_files_keep_their_meaning_when_the_recipe_moves(tmp_path):
    base, run = tmp_path / "recipes", tmp_path / "runs" / "one"
    moved = seen_from(run, Made(train=("a.txt", "b/c.txt"), dev="/else/d.txt", name="x"), base)
    assert [(run / name).resolve() for name in moved.train] == [base / "a.txt", base / "b" / "c.txt"]
    assert (moved.dev, moved.test, moved.name) == ("/else/d.txt", "", "x")
    assert seen_from(run, moved, run) == moved
    known = Made(corpus="sample", train="train.en.gz")
    assert seen_from(run, known, base) == known  # names in a known corpus stand in its own folder
    assert (folder_of(known, base) / "train.en.gz").exists()


def test_what_is_missing_is_named_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match=r"the recipe's \[data\] section needs train: one or more files"):
        check_files(Made(), tmp_path)
    (tmp_path / "a.txt").touch()
    check_files(Made(train="a.txt"), tmp_path)
    check_files(Made(train="a.txt", test="later.txt"), tmp_path)  # a test set is read at the end, if at all
    with pytest.raises(ValueError, match=r"b\.txt does not exist; data\.train names it"):
        check_files(Made(train=("a.txt", "b.txt")), tmp_path)
    with pytest.raises(ValueError, match=r"c\.txt does not exist; data\.dev names it"):
        check_files(Made(train="a.txt", dev="c.txt"), tmp_path)


def test_one_name_or_more():
    assert several("a") == ("a",)
    assert several(("a", "b")) == ("a", "b")

"""Distilling from the command line: teacher, recipe, changes and folder are told apart, and mistakes are named."""

from clearformer.cli.main import main


def test_a_teacher_that_is_not_there_is_named(tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["distill", str(tmp_path / "nobody"), "sample", "--out", str(out)]) == 1
    assert "nobody" in capsys.readouterr().err
    assert not (out / "lessons").exists()


def test_a_change_that_no_recipe_knows_is_named(tmp_path, capsys):
    assert main(["distill", "teacher", "sample", "--out", str(tmp_path / "run"), "training.wings=2"]) == 2
    assert "wings" in capsys.readouterr().err


def test_a_recipe_is_needed(capsys):
    assert main(["distill", "teacher"]) == 2
    assert "RECIPE" in capsys.readouterr().err

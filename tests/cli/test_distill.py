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


def test_a_classifier_is_distilled(tmp_path, capsys):
    """The whole way: a teacher's word on texts with and without labels, and a student's folder that classifies."""
    from support.toy_readers import HEADS, LABELS, saved

    saved(tmp_path / "teacher", head=HEADS["class of the mean"])
    rows = [f"{LABELS[n % 3]}\tthe text of number {n}" for n in range(12)]
    (tmp_path / "train.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n")
    (tmp_path / "more.txt").write_text("nobody has labelled this\n")
    (tmp_path / "student.toml").write_text(
        'task = "text-classification"\n[data]\ntrain = "train.tsv"\ndev = "train.tsv"\nmax_length = 16\n'
        'vocabulary = {kind = "wordpiece", vocab_size = 120}\n[model]\nfamily = "bert"\ndim = 16\nhidden_dim = 16\n'
        "layers = 1\nmax_len = 16\nattention = {heads = 2}\n"
        "[training]\nsteps = 2\nvalidate_every = 2\nbatch_tokens = 64\nschedule = {warmup = 1}\n"
    )
    words = ["distill", str(tmp_path / "teacher"), str(tmp_path / "student.toml"), "data.unlabelled=more.txt"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    model = capsys.readouterr().out.strip()
    assert main(["classify", "a text", "--model", model]) == 0
    assert capsys.readouterr().out.split("\t")[0] in LABELS
    lines = (tmp_path / "run" / "lessons" / "lessons.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 12 + 1

"""Classes from the command line, of texts and of pictures: names from the folder, probabilities that sum to one."""

import json
from dataclasses import replace

import pytest

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.text_readers import Classifier
from cli.readers import reader
from cli.trained_models import draw_pictures, train_pictures


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("class"), "class")


def test_every_text_gets_a_class_by_its_name(model, capsys):
    capsys.readouterr()
    assert main(["classify", "two dogs", "the snow .", "--model", model]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(any(name in line for name in ("calm", "wild", "odd")) for line in lines)


def test_json_has_every_class_and_batches_change_nothing(model, tmp_path, capsys):
    (tmp_path / "texts").write_text("two dogs\nplay in the snow .\ndogs\n")
    found = []
    for batch in ("1", "8"):
        capsys.readouterr()
        assert main(["classify", "--input", str(tmp_path / "texts"), "--model", model, "--json", "--batch", batch]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert len(found[0]) == 3
    for one, other in zip(*found, strict=True):
        assert sum(one["scores"].values()) == pytest.approx(1)
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-6)


def test_two_texts_with_a_mark_between_them_are_a_pair(model, capsys):
    capsys.readouterr()
    assert main(["classify", "two dogs ||| the snow .", "dogs\tplay", "--pairs", "--json", "--model", model]) == 0
    found = [json.loads(line)["scores"] for line in capsys.readouterr().out.splitlines()]
    classifier = Classifier(bundle.load(find_model(model)))
    for one, expected in zip(found, classifier.classify([("two dogs", "the snow ."), ("dogs", "play")]), strict=True):
        assert one == pytest.approx(expected.scores, abs=1e-6)
    assert main(["classify", "two dogs", "--pairs", "--model", model]) == 1
    assert "text 1 must be two texts with a tab or |||" in capsys.readouterr().err
    assert main(["classify", "two dogs ||| the snow .", "--model", model]) == 0
    assert "note: ||| is read as a part of the text; --pairs reads two texts" in capsys.readouterr().err


def test_a_text_that_is_longer_than_the_model_reads_is_read_in_windows(model, capsys):
    assert main(["classify", "dogs " * 40, "--model", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(found["scores"].values()) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return train_pictures(tmp_path_factory.mktemp("pictures"))


def lines(capsys) -> list[list[str]]:
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_a_model_of_pictures_takes_files_and_folders(pictures, tmp_path, capsys):
    """The same verb: the folder says what its model reads. Real pictures that were not in the training."""
    drawn = draw_pictures(tmp_path / "new", 3, seed=9)
    single = drawn / "bottom" / "001.png"
    capsys.readouterr()
    assert main(["classify", str(drawn / "top"), str(single), "--model", str(pictures)]) == 0
    found = lines(capsys)
    assert [file for *_, file in found] == [*(str(drawn / "top" / f"00{n}.png") for n in range(3)), str(single)]
    assert [label for label, *_ in found] == ["top", "top", "top", "bottom"]
    assert all(0.5 < float(probability) <= 1 for _, probability, _ in found)


def test_a_list_of_pictures_and_a_file_for_the_answers(pictures, tmp_path, capsys):
    drawn = draw_pictures(tmp_path / "new", 2, seed=10)
    names = [str(drawn / "top" / "000.png"), str(drawn / "bottom" / "001.png")]
    (tmp_path / "list.txt").write_text("\n".join([*names, ""]) + "\n")
    common = ["classify", "--model", str(pictures)]
    capsys.readouterr()
    assert main([*common, *names]) == 0
    expected = capsys.readouterr().out
    output = tmp_path / "out.tsv"
    assert main([*common, "--input", str(tmp_path / "list.txt"), "--output", str(output), "--batch", "1"]) == 0
    assert capsys.readouterr().out == ""
    assert output.read_text() == expected


def test_json_has_the_score_of_every_class_of_a_picture(pictures, tmp_path, capsys):
    drawn = draw_pictures(tmp_path / "new", 1, seed=11)
    capsys.readouterr()
    assert main(["classify", str(drawn / "top"), "--model", str(pictures), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(drawn / "top" / "000.png")
    assert found["scores"].keys() == {"top", "bottom"}
    assert sum(found["scores"].values()) == pytest.approx(1)


def test_a_picture_that_cannot_be_read_is_refused_by_name(pictures, tmp_path, capsys):
    drawn = draw_pictures(tmp_path / "new", 1, seed=12)
    (drawn / "top" / "001.png").write_bytes(b"\x89PNG but no more")
    output = tmp_path / "out.tsv"
    assert main(["classify", str(drawn / "top"), "--model", str(pictures), "--output", str(output)]) == 1
    assert "001.png cannot be read as a picture" in capsys.readouterr().err
    assert not output.exists()
    assert main(["classify", str(tmp_path / "nowhere.png"), "--model", str(pictures)]) == 1
    assert "nowhere.png does not exist" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["classify", str(tmp_path / "empty"), "--model", str(pictures)]) == 1
    assert "holds no pictures" in capsys.readouterr().err
    assert main(["classify", "a.png", "--input", "b.txt", "--model", str(pictures)]) == 2
    assert "give pictures or --input, not both" in capsys.readouterr().err


def test_both_engines_say_the_same(model, capsys):
    found = {}
    for engine in ("torch", "ctranslate2", "auto"):
        capsys.readouterr()
        assert main(["classify", "two dogs", "the snow .", "--model", model, "--json", "--engine", engine]) == 0
        found[engine] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found["auto"] == found["torch"]
    for ours, theirs in zip(found["ctranslate2"], found["torch"], strict=True):
        assert numbers(ours) == pytest.approx(numbers(theirs), abs=1e-4)


def numbers(found: dict) -> list[float]:
    """The probability of each class."""
    return list(found["scores"].values())


def with_outcome(model, folder, outcome, labels=("calm", "wild", "odd")):
    made = bundle.load(find_model(model))
    bundle.save(replace(made, preprocessing=replace(made.preprocessing, outcome=outcome, labels=labels)), folder)
    return str(folder)


def test_all_labels_above_the_folder_s_threshold_are_printed(model, tmp_path, capsys):
    for threshold, count in ((0.0, 3), (1.0, 0)):
        several = with_outcome(model, tmp_path / f"at-{count}", Outcome(kind="several", threshold=threshold))
        capsys.readouterr()
        assert main(["classify", "two dogs", "--model", several]) == 0
        labels, shares, text = capsys.readouterr().out.rstrip("\n").split("\t")
        assert len(list(filter(None, labels.split("|")))) == len(list(filter(None, shares.split("|")))) == count
        assert text == "two dogs"
    assert main(["classify", "two dogs", "--model", several, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == []


def test_one_class_has_no_list_of_labels(model, capsys):
    capsys.readouterr()
    assert main(["classify", "two dogs", "--model", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"text", "label", "probability", "scores"}


def test_why_is_told_by_the_engine_that_can_be_looked_inside(model, capsys):
    assert main(["classify", "two dogs", "--model", model, "--why"]) == 0
    assert main(["classify", "two dogs", "--model", model, "--why", "--engine", "ctranslate2"]) == 2
    assert "--why looks inside the model" in capsys.readouterr().err


def test_two_models_decide_together(model, tmp_path, capsys):
    """With itself a model says what it says alone; with another, the mean of both."""
    made = bundle.load(find_model(model))
    made.model.head.classify.bias.data += 1 - 2 * made.model.head.classify.bias.data.argsort()
    bundle.save(made, tmp_path / "other")
    found = []
    for words in (["--model", model], ["--model", str(tmp_path / "other")], ["--model", model, "--with", model]):
        capsys.readouterr()
        assert main(["classify", "two dogs", "--json", *words]) == 0
        found.append(json.loads(capsys.readouterr().out)["scores"])
    assert found[2] == pytest.approx(found[0])
    assert main(["classify", "two dogs", "--json", "--model", model, "--with", str(tmp_path / "other")]) == 0
    mean = {label: (found[0][label] + found[1][label]) / 2 for label in found[0]}
    assert json.loads(capsys.readouterr().out)["scores"] == pytest.approx(mean)


def test_what_cannot_be_done_together_is_wrong_usage(model, pictures, capsys):
    assert main(["classify", "two dogs", "--model", model, "--with", model, "--why", "rollout"]) == 2
    assert "--why looks inside one model" in capsys.readouterr().err
    assert main(["classify", "x.png", "--model", str(pictures), "--with", str(pictures)]) == 2
    assert "--with is for models of texts" in capsys.readouterr().err


def test_a_model_of_another_task_cannot_join(model, tmp_path, capsys):
    other = reader(tmp_path, "tags")
    assert main(["classify", "two dogs", "--model", model, "--with", other]) == 1
    assert "use `clearformer tag`" in capsys.readouterr().err

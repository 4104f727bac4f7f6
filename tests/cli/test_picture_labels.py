"""Labels from the command line: a list with commas, or the option once for each; and models that have none."""

import json

import numpy as np
import pytest
from PIL import Image

from clearformer import api
from clearformer.cli.main import main
from clearformer.cli.picture_labels import given_labels
from clearformer.cli.usage import UsageError
from support.pair_folders import clip

LABELS = "a photo of a cat,a photo of a dog"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("clip")
    clip(made / "theirs")
    assert main(["import", str(made / "theirs"), str(made / "ours")]) == 0
    for number in range(2):
        pixels = np.random.default_rng(number).integers(0, 256, size=(20, 30, 3), dtype=np.uint8)
        (made / "pictures").mkdir(exist_ok=True)
        Image.fromarray(pixels).save(made / "pictures" / f"{number}.png")
    return made


def run(capsys, *words):
    capsys.readouterr()
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err


def test_one_option_is_a_list_and_several_are_texts():
    assert given_labels(["a cat, a dog"]) == ("a cat", "a dog")
    assert given_labels(["a cat, asleep", "a dog"]) == ("a cat, asleep", "a dog")
    with pytest.raises(UsageError, match="no classes of its own: give --labels"):
        given_labels(None)


def test_the_label_of_every_picture(folder, capsys):
    code, lines, _ = run(
        capsys, "classify", folder / "pictures", "--model", folder / "ours", "--labels", LABELS, "--json"
    )
    assert code == 0
    found = [json.loads(line) for line in lines]
    expected = api.load(folder / "ours").classify(sorted((folder / "pictures").iterdir()), LABELS.split(","))
    assert [one["scores"] for one in found] == [pytest.approx(one.scores, abs=1e-6) for one in expected]
    assert [one["label"] for one in found] == [one.label for one in expected]
    _, lines, _ = run(capsys, "classify", folder / "pictures", "--model", folder / "ours", "--labels", LABELS)
    assert lines[0].split("\t")[0] == expected[0].label


def test_what_an_import_says_to_type_next(folder, tmp_path, capsys):
    code, lines, _ = run(capsys, "import", folder / "theirs", tmp_path / "again")
    assert code == 0
    assert lines[-1].split(maxsplit=1)[1].startswith('clearformer classify photo.jpg --labels "a photo of a cat,')
    assert lines[-2].split(maxsplit=1)[1] == "matches pictures with texts"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "this model has no classes of its own: give --labels, such as"),
        (("--labels", "a cat"), "labels compete with this model"),
        (("--labels", "a cat,,a dog"), "label 2 is empty"),
        (("--labels", LABELS, "--why", "rollout"), "--why is for models with classes of their own"),
        (("--labels", LABELS, "--with", "mnist"), "--with is for models of texts"),
    ],
)
def test_wrong_use_is_one_sentence(folder, capsys, words, why):
    code, lines, said = run(capsys, "classify", folder / "pictures", "--model", folder / "ours", *words)
    assert (code != 0, lines, said.count("\n")) == (True, [], 1)
    assert why in said


def test_a_model_with_classes_of_its_own_takes_no_labels(folder, capsys):
    code, _, said = run(capsys, "classify", folder / "pictures", "--model", "mnist", "--labels", LABELS)
    assert code == 2
    assert "this one has classes of its own" in said

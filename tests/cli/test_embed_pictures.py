"""Vectors of pictures from the command line, in the form that texts have."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer import api
from clearformer.cli.embed_pictures import refuse_picture_names, vector_line
from clearformer.cli.main import main
from clearformer.cli.usage import UsageError
from support.pair_folders import siglip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("siglip")
    siglip(made / "theirs")
    assert main(["import", str(made / "theirs"), str(made / "ours")]) == 0
    for number in range(3):
        pixels = np.random.default_rng(number).integers(0, 256, size=(20, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(made / f"{number}.png")
    return made


def test_texts_and_pictures_have_one_form(folder, capsys):
    model, file = api.load(folder / "ours"), str(folder / "1.png")
    for words, key, given, expected in (
        ([file, "--pictures"], "file", file, model.embed_pictures([file])),
        (["a photo of a cat"], "text", "a photo of a cat", model.embed(["a photo of a cat"])),
    ):
        capsys.readouterr()
        assert main(["embed", *words, "--model", str(folder / "ours"), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told.keys() == {key, "vector"}
        assert told[key] == given
        assert told["vector"] == pytest.approx(expected[0].tolist(), abs=1e-6)


def test_a_folder_becomes_a_matrix(folder, tmp_path):
    words = ["embed", str(folder), "--pictures", "--model", str(folder / "ours"), "--batch", "2"]
    assert main([*words, "--output", str(tmp_path / "v.npy")]) == 0
    rows = np.load(tmp_path / "v.npy")
    expected = api.load(folder / "ours").embed_pictures(sorted(folder.glob("*.png")))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, expected.numpy(), atol=1e-6)


def test_a_picture_s_name_is_not_embedded_for_the_picture(folder, capsys):
    assert main(["embed", str(folder / "1.png"), "--model", str(folder / "ours")]) == 2
    assert "give --pictures" in capsys.readouterr().err
    refuse_picture_names(["a photo.png", "x" * 5000])
    with pytest.raises(UsageError):
        refuse_picture_names(["a", str(folder / "0.png")])


def test_pictures_want_a_model_that_sees(folder, capsys):
    assert main(["embed", str(folder / "1.png"), "--pictures", "--model", "mnist"]) == 2
    assert "match pictures with texts" in capsys.readouterr().err


def test_every_digit_that_a_number_needs():
    value = torch.tensor([1 / 3])
    assert torch.tensor(json.loads(vector_line("text", "a", value, as_json=False))).equal(value)

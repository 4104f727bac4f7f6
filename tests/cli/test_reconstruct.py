"""Reconstructions from the command line: an error per picture, files beside a sheet, and refusals by name."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.cli.main import main
from clearformer.data.readers.pictures import read_picture
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.model.build import build
from clearformer.model.config import FrontConfig
from clearformer.model.families import FAMILIES


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    config = FAMILIES["autoencoder"](
        front=FrontConfig(kind="patches", picture=6, patch=6, channels=1), hidden_dim=8, layers=2, bottleneck=3
    )
    torch.manual_seed(1)
    facts = PictureFacts(size=6, channels=1, mean=(0.5,), deviation=(0.5,))
    folder = tmp_path_factory.mktemp("codes") / "model"
    made = Bundle(config=config, model=build(config), task="autoencoding", preprocessing=Preprocessing(picture=facts))
    bundle.save(made, folder)
    return str(folder)


@pytest.fixture
def pictures(tmp_path):
    draw = np.random.default_rng(1)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        Image.fromarray(draw.integers(0, 256, (6, 6), dtype=np.uint8)).save(folder / f"{number}.png")
    return folder


def test_a_line_per_picture_and_files_when_asked(model, pictures, tmp_path, capsys):
    out = tmp_path / "out"
    capsys.readouterr()
    assert main(["reconstruct", str(pictures), "--model", model, "--output", str(out)]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [name for _, name in lines] == [str(pictures / f"{number}.png") for number in range(3)]
    assert sorted(path.name for path in out.iterdir()) == [
        "00001-0.png", "00002-1.png", "00003-2.png", "sheet.png",
    ]  # fmt: skip
    original, back = read_picture(pictures / "0.png"), read_picture(out / "00001-0.png")
    assert float(lines[0][0]) == pytest.approx(((original / 255 - back / 255) ** 2).mean(), abs=2 / 255)
    paper = read_picture(out / "sheet.png")
    assert np.array_equal(paper[2:26:4, 2:26:4], original)
    assert np.array_equal(paper[28:52:4, 2:26:4], back)


def test_json_has_the_code(model, pictures, capsys):
    capsys.readouterr()
    assert main(["reconstruct", str(pictures / "1.png"), "--model", model, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["code"]) == 3
    assert told.keys() == {"file", "error", "code"}


def test_what_cannot_be_done_is_one_sentence(model, pictures, tmp_path, capsys):
    (pictures / "broken.png").write_bytes(b"no picture")
    assert main(["reconstruct", str(pictures / "broken.png"), "--model", model]) == 1
    assert "broken.png cannot be read as a picture" in capsys.readouterr().err
    assert main(["reconstruct", str(pictures), "--model", model, "--output", str(pictures / "0.png")]) == 2
    assert "is a file; name a folder" in capsys.readouterr().err
    assert main(["reconstruct", str(pictures), "--model", "en-de"]) == 1
    assert "translates, not one that gives pictures back" in capsys.readouterr().err
    assert main(["classify", str(pictures / "0.png"), "--model", model]) == 1
    assert "use `clearformer reconstruct`" in capsys.readouterr().err

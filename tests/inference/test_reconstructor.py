"""An autoencoder in use: code and reconstruction belong together, alone or in company, from files or from bytes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.readers.pictures import PictureError
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.reconstructor import Reconstructor
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES

FACTS = PictureFacts(size=6, channels=3, mean=(0.5, 0.25, 0.1), deviation=(0.2, 0.4, 0.8))


def made(layers: int = 2, bottleneck: int = 5) -> Bundle:
    config = FAMILIES["autoencoder"](
        front=FrontConfig(kind="patches", picture=6, patch=6), hidden_dim=16, layers=layers, bottleneck=bottleneck
    )
    torch.manual_seed(1)
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(picture=FACTS))


def picture(seed: int, size: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(size, size, 3), dtype=np.uint8)


def test_a_picture_alone_is_the_picture_in_a_batch():
    reconstructor = Reconstructor(made())
    pictures = [picture(seed) for seed in range(7)]
    together = reconstructor.reconstruct(pictures, batch=3)
    for one, found in zip(pictures, together, strict=True):
        [alone] = reconstructor.reconstruct(one)
        assert alone.code == pytest.approx(found.code, abs=1e-5)
        assert alone.error == pytest.approx(found.error, abs=1e-6)
        assert np.abs(alone.pixels.astype(int) - found.pixels).max() <= 1


def test_the_code_alone_decides_the_reconstruction():
    reconstructor = Reconstructor(made())
    [found] = reconstructor.reconstruct([picture(3)])
    assert len(found.code) == 5
    [again] = reconstructor.decode(np.array([found.code], dtype=np.float32))
    assert np.array_equal(again, found.pixels)
    with pytest.raises(ValueError, match=r"a code has 5 numbers here, one row per picture, not shape \(1, 4\)"):
        reconstructor.decode(np.zeros((1, 4), dtype=np.float32))


def test_the_error_is_that_of_the_pixels_to_half_a_step():
    [found] = Reconstructor(made()).reconstruct([picture(4)])
    by_hand = ((found.pixels / 255 - found.original / 255) ** 2).mean()
    assert found.error == pytest.approx(by_hand, abs=2 / 255)


def test_a_network_that_loses_nothing_gives_the_picture_back():
    """With a code as long as the picture and the identity for weights, in the folder's own scale of numbers."""
    bundle = made(layers=1, bottleneck=108)
    with torch.no_grad():
        for half in (bundle.model.encoder, bundle.model.decoder):
            half[0].weight.copy_(torch.eye(108))
    [found] = Reconstructor(bundle).reconstruct([picture(5)])
    assert np.array_equal(found.pixels, picture(5))
    assert found.error < 1e-10


def test_files_are_cut_to_the_model_s_size_and_refused_by_name(tmp_path):
    reconstructor = Reconstructor(made())
    Image.fromarray(picture(1, size=12)).save(tmp_path / "large.png")
    [found] = reconstructor.reconstruct(tmp_path / "large.png")
    assert found.original.shape == (6, 6, 3)
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(PictureError, match=r"broken\.png cannot be read as a picture"):
        reconstructor.reconstruct([tmp_path / "broken.png"])


def test_a_model_of_another_kind_is_refused_with_its_own_verb():
    config = FAMILIES["vit"](
        dim=8, hidden_dim=8, layers=1, heads=1, front=FrontConfig(kind="patches", picture=8, patch=4),
        head=HeadConfig(kind="class", labels=2),
    )  # fmt: skip
    with pytest.raises(ValueError, match="not one that gives pictures back from a short code; use `clearformer class"):
        Reconstructor(Bundle(config=config, model=build(config)))
    assert "codes of 5, pictures of 6 × 6" in repr(Reconstructor(replace(made())))

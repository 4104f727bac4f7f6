"""Pictures in, masks out: any size, alone or in company, in their own numbers, through files or bytes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import MaskFacts, PictureFacts, Preprocessing
from clearformer.inference.segmenter import Segmentation, Segmenter
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES, bert

FACTS = PictureFacts(size=16, channels=1, mean=(0.4,), deviation=(0.3,))
NUMBERS = (0, 3, 7)


def made(kind: str, channels: int) -> Bundle:
    config = FAMILIES["vit"](
        dim=16,
        hidden_dim=24,
        layers=1,
        heads=2,
        front=FrontConfig(kind="patches", picture=16, patch=4, channels=1, stem="convolution"),
        head=HeadConfig(kind="masks", labels=channels, decoder="convolution", narrowest=8),
        init_std=0.5,
    )
    torch.manual_seed(1)
    numbers = NUMBERS if kind == "classes" else ()
    labels = ("ground", "road", "sky") if kind == "classes" else ("cell",)
    facts = MaskFacts(kind=kind, numbers=numbers, smallest=3, unit=4.0)
    told = Preprocessing(labels=labels, picture=FACTS, masks=facts)
    return Bundle(task="segmentation", config=config, model=build(config), preprocessing=told)


@pytest.fixture
def classes() -> Segmenter:
    return Segmenter(made("classes", 3))


@pytest.fixture
def things() -> Segmenter:
    return Segmenter(made("instances", 4))


def picture(seed: int, height: int = 16, width: int = 16) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(height, width, 1), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(16, 16), (40, 25), (5, 60), (1, 1)])
def test_a_picture_of_any_size_has_a_mask_of_its_size(classes, things, shape):
    for segmenter in (classes, things):
        [found] = segmenter.segment(picture(1, *shape))
        assert found.mask.shape == shape
        assert found.mask.dtype == np.uint16
    [found] = classes.segment(picture(1, *shape))
    assert set(np.unique(found.mask)) <= set(NUMBERS)


def test_alone_as_in_company(things):
    given = [picture(1), picture(2, 40, 30), picture(3, 8, 50)]
    together = things.segment(given)
    for one, expected in zip(given, together, strict=True):
        [alone] = things.segment([one])
        assert (alone.mask == expected.mask).all()
    values = [things.values(one) for one in given]
    assert all(torch.equal(things.values(one), value) for one, value in zip(given, values, strict=True))


def test_through_a_file_and_a_saved_folder_the_values_are_the_same(things, tmp_path):
    pixels = picture(4, 20, 30)
    Image.fromarray(pixels[..., 0]).save(tmp_path / "a.png")
    bundle.save(things.bundle, tmp_path / "model")
    import clearformer as cf

    opened = cf.load(tmp_path / "model")
    assert isinstance(opened, Segmenter)
    assert opened.masks == things.masks
    assert torch.equal(opened.values(tmp_path / "a.png"), things.values(pixels))


def test_colours_are_made_grey_and_brightness_is_stretched_where_the_folder_says_so(things):
    pixels = picture(5)
    coloured = np.repeat(pixels, 3, axis=2)
    assert torch.equal(things.values(coloured), things.values(pixels))
    told = things.bundle.preprocessing
    stretching = Segmenter(replace(things.bundle, preprocessing=replace(told, masks=replace(told.masks, stretch=True))))
    dim = (pixels // 4).astype(np.uint8)
    assert (stretching.values(dim) - stretching.values(pixels)).abs().max() < 0.35
    assert (things.values(dim) - things.values(pixels)).abs().max() > 0.35


def test_what_was_found_is_counted_measured_and_boxed():
    mask = np.zeros((6, 8), dtype=np.uint16)
    mask[1:3, 2:6], mask[4:6, 0:2] = 1, 2
    found = Segmentation(mask=mask, labels=("cell",))
    assert [(one.number, one.label, one.area, one.box) for one in found.found] == [
        (1, "cell", 8, (2, 1, 4, 2)),
        (2, "cell", 4, (0, 4, 2, 2)),
    ]
    plain = found.to_plain()
    assert (plain["width"], plain["height"], plain["count"], len(found)) == (8, 6, 2, 2)
    named = Segmentation(mask=np.where(mask == 2, 7, 0).astype(np.uint16), labels=("ground", "sky"), numbers=(0, 7))
    shares = {one["label"]: one["share"] for one in named.to_plain()["classes"]}
    assert shares == {"ground": 44 / 48, "sky": 4 / 48}


def test_other_models_are_refused_with_their_own_verb():
    other = bert(vocab_size=10, dim=8, hidden_dim=8, layers=1, heads=1, head=HeadConfig(kind="class", labels=2))
    with pytest.raises(ValueError, match="not one that segments pictures; use `clearformer classify`"):
        Segmenter(Bundle(config=other, model=build(other), preprocessing=Preprocessing()))
    with pytest.raises(ValueError, match="a network for instances says 4 things of a pixel, and this one 3"):
        Segmenter(made("instances", 3))

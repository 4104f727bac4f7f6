"""A painter in use, in each of its three ways: what is painted depends on seed, class and number alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.folder.bundle import Bundle
from clearformer.folder.patch_codes import PatchCodes
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.painter import GROUP, Painter
from clearformer.model.build import build
from clearformer.model.config import ConditionConfig, FrontConfig, HeadConfig
from clearformer.model.families import dit, vit

LABELS = ("cat", "dog", "owl")
WAYS = ("flow", "hidden-places", "left-to-right")
FACTS = PictureFacts(size=8, channels=1, mean=(0.5,), deviation=(0.5,))


def made(way: str) -> Bundle:
    """A painter with large random weights, so that everything that it is told matters."""
    told = Preprocessing(labels=LABELS, picture=FACTS)
    given = {"front": FrontConfig(kind="patches", picture=8, patch=4, channels=1, class_token=False)}
    if way != "flow":
        book = np.random.default_rng(1).integers(0, 256, (11, 4)).astype(np.float32)
        told = replace(told, codes=PatchCodes(book=book, patch=2, order=way))
        given = {"front": FrontConfig(), "head": HeadConfig(), "vocab_size": 12, "max_len": 16}
    condition = ConditionConfig(classes=3, causal=way == "left-to-right")
    config = dit(dim=16, hidden_dim=32, layers=2, heads=2, condition=condition, **given)
    torch.manual_seed(1)
    model = build(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return Bundle(config=config, model=model, task="painting", preprocessing=told)


@pytest.fixture(scope="module", params=WAYS)
def painter(request):
    return Painter(made(request.param))


def pixels(painted):
    return {(one.label, one.number): one.pixels.tobytes() for one in painted}


def test_so_many_of_each_class_in_the_size_of_the_folder(painter):
    painted = painter.paint(("owl", "cat"), count=3, steps=2)
    assert [(one.label, one.number) for one in painted] == [
        ("owl", 0), ("owl", 1), ("owl", 2), ("cat", 0), ("cat", 1), ("cat", 2),
    ]  # fmt: skip
    assert all(one.pixels.shape == (8, 8, 1) and one.pixels.dtype == np.uint8 for one in painted)
    assert len(painter.paint(count=2, steps=2)) == 6
    assert len(set(pixels(painted).values())) == 6  # no two are the same


def test_a_picture_alone_is_the_picture_in_company(painter):
    """Bit for bit, whatever else is painted, in whatever order, across groups."""
    many = pixels(painter.paint(count=GROUP // 2 + 1, steps=3))
    assert len(many) > GROUP
    for label, number in (("cat", 0), ("dog", GROUP // 2), ("owl", 3)):
        few = pixels(painter.paint(label, count=number + 1, steps=3))
        assert few[label, number] == many[label, number]
    turned = pixels(painter.paint(("owl", "dog"), count=2, steps=3))
    assert all(many[key] == value for key, value in turned.items())


def test_seed_and_class_decide(painter):
    one = pixels(painter.paint("cat", count=2, steps=3))
    assert pixels(painter.paint("cat", count=2, steps=3)) == one
    other = pixels(painter.paint("cat", count=2, steps=3, seed=2))
    assert not set(one.values()) & set(other.values())


def test_guidance_of_zero_ignores_the_class_and_of_one_asks_once(painter):
    """At zero a told model and one whose classes all mean "any" paint the same; at one nobody asks without a class."""
    asked = []
    whole = painter.model.forward

    def watched(*given):
        asked.append(set(given[1].tolist()))
        return whole(*given)

    painter.model.forward = watched
    try:
        painter.paint("cat", count=GROUP, steps=2, guidance=0)
        assert all(kinds == {3} for kinds in asked)
        asked.clear()
        painter.paint("cat", count=GROUP, steps=2, guidance=1)
        assert all(kinds == {0} for kinds in asked)
        once = len(asked)
        asked.clear()
        painter.paint("cat", count=GROUP, steps=2, guidance=2)
        assert len(asked) == 2 * once
    finally:
        painter.model.forward = whole


def test_the_steps_can_be_watched(painter):
    seen = []
    [found] = painter.paint("dog", count=1, steps=4, on_step=seen.append)
    assert [step.share for step in seen] == sorted(step.share for step in seen)
    assert all(len(step.pictures) == 1 and step.pictures[0].shape == found.pixels.shape for step in seen)
    if painter.way == "flow":  # the last guess is the picture
        assert all(step.hidden is None for step in seen)
        assert np.array_equal(seen[-1].guesses[0], found.pixels)
        assert seen[0].share == 0
    else:  # what is there stays, and in the end nothing is hidden
        assert all(step.guesses is None for step in seen)
        left = [int(step.hidden.sum()) for step in seen]
        assert left == sorted(left, reverse=True)
        assert left[-1] == 0
        assert np.array_equal(seen[-1].pictures[0], found.pixels)
        assert all(step.share == pytest.approx(1 - step.hidden.mean()) for step in seen)
    assert len(seen) == (16 if painter.way == "left-to-right" else 4)


def test_temperature_zero_is_one_picture_per_class():
    """Codes: the likeliest ones leave nothing to chance."""
    painter = Painter(made("left-to-right"))
    assert len(set(pixels(painter.paint("cat", count=3, temperature=0)).values())) == 1


def test_a_network_that_knows_the_picture_paints_it():
    painter = Painter(made("flow"))
    picture = torch.linspace(-1, 1, 64).reshape(1, 1, 8, 8)
    painter.model.forward = lambda noisy, kinds, times: picture.expand(len(noisy), 1, 8, 8)
    for steps in (1, 5):
        [found] = painter.paint("cat", count=1, steps=steps, guidance=3)
        expected = ((picture[0, 0] + 1) / 2 * 255).round().to(torch.uint8).numpy()
        assert np.array_equal(found.pixels[..., 0], expected)


def test_wrong_classes_and_wrong_models_are_refused(painter):
    with pytest.raises(ValueError, match="this model does not paint 'horse'; it paints cat, dog, owl"):
        painter.paint("horse")
    config = vit(
        dim=8, hidden_dim=8, layers=1, heads=1, front=FrontConfig(kind="patches", picture=8, patch=4),
        head=HeadConfig(kind="class", labels=2),
    )  # fmt: skip
    with pytest.raises(
        ValueError, match="classifies pictures, not one that paints pictures; use `clearformer classify"
    ):
        Painter(Bundle(config=config, model=build(config)))
    without = made("hidden-places")
    with pytest.raises(ValueError, match="its folder has no book of them"):
        Painter(replace(without, preprocessing=replace(without.preprocessing, codes=None)))

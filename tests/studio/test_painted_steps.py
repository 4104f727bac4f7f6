"""Painting on the pages: the pictures are those of `paint`, and the steps are those that led to them."""

from collections.abc import Callable

import numpy as np
import pytest

from clearformer.inference.painter import Painter
from clearformer.inference.painting_settings import PaintingConfig
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.painted_steps import MOST_FRAMES
from clearformer.studio.requests import PaintRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from inference.test_painter import WAYS, made
from studio.small_pictures import numbers

STAYS: Callable[[], bool] = bool  # whoever asked waits


def asked(**changes):
    return PaintRequest(**{"label": "owl", "count": 2, "seed": 3, "guidance": 1.5, "temperature": 1.0, **changes})


@pytest.fixture(scope="module", params=WAYS)
def painted(request):
    """(bundle, senses, answer)."""
    bundle = made(request.param)
    senses = Handlers(ShownModel(bundle, "painter"), Runs([])).senses
    return bundle, senses, senses.paint(asked(steps=5), STAYS)


def test_the_pictures_are_those_of_paint(painted):
    bundle, _, found = painted
    said = Painter(bundle).paint("owl", PaintingConfig(count=2, seed=3, steps=5, guidance=1.5))
    assert np.array_equal(numbers(found["pictures"]), np.stack([one.pixels for one in said]))


def test_the_steps_end_in_them(painted):
    _, _, found = painted
    last, pictures = found["steps"][-1], numbers(found["pictures"])
    assert np.array_equal(numbers(last["guesses"] or last["pictures"]), pictures)
    assert [step["number"] for step in found["steps"]] == list(range(1, found["count"] + 1))
    shares = [step["share"] for step in found["steps"]]
    assert shares == sorted(shares)
    if found["way"] == "flow":
        assert found["count"] == 5
        assert all(step["hidden"] is None for step in found["steps"])
    else:
        assert not numbers(last["hidden"]).any()
        assert numbers(found["steps"][0]["hidden"]).any()


def test_of_many_steps_some_are_shown_from_the_first_to_the_last(painted):
    bundle, senses, _ = painted
    if bundle.preprocessing.codes is not None:
        return  # sixteen places have no more than sixteen steps
    found = senses.paint(asked(steps=60), STAYS)
    places = [step["number"] for step in found["steps"]]
    assert len(places) == MOST_FRAMES
    assert (places[0], places[-1]) == (1, 60)


def test_the_form_says_what_the_folder_says(painted):
    bundle, senses, _ = painted
    told = senses.paint_form()
    assert told["labels"] == ["cat", "dog", "owl"]
    assert (told["steps"] is None) == (told["way"] == "left-to-right")
    bundle.provenance["decoding"] = {"guidance": 2.5}
    try:
        assert senses.paint_form()["guidance"] == 2.5
    finally:
        del bundle.provenance["decoding"]


def test_what_is_not_there_is_refused(painted, all_handlers):
    _, senses, _ = painted
    with pytest.raises(ValueError, match="does not paint 'horse'"):
        senses.paint(asked(label="horse"), STAYS)
    with pytest.raises(Refused, match="does not paint pictures"):
        all_handlers["bert"].senses.paint_form()
    for wrong in ({"count": 0}, {"count": 17}, {"steps": 101}, {"guidance": -1.0}, {"temperature": 6.0}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            asked(**wrong)

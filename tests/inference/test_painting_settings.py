"""How pictures are painted: bounds, and what a model folder remembers of its recipe."""

import pytest

from clearformer.inference.painting_settings import PaintingConfig, usual_painting


@pytest.mark.parametrize(
    "wrong",
    [{"count": 0}, {"steps": 0}, {"steps": 5000}, {"guidance": -1.0}, {"guidance": float("nan")},
     {"temperature": -0.1}, {"seed": -1}, {"count": 10**6}],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_its_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PaintingConfig(**wrong)


def test_a_folder_remembers_how_its_recipe_paints():
    assert usual_painting({}) == PaintingConfig()
    found = usual_painting({"decoding": {"guidance": 2, "steps": 30, "count": 9999, "beam": 3}})
    assert (found.guidance, found.steps, found.count) == (2, 30, 8)
    with pytest.raises(ValueError, match=r"provenance says decoding\.guidance = 'much'"):
        usual_painting({"decoding": {"guidance": "much"}})

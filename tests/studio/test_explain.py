"""The walk-through in one file. Its look is tested in a browser (pages/test_walk.py)."""

import json
import re

import pytest

from clearformer.studio.explain import explain


def test_the_page_has_everything_inside(handlers):
    page = explain(handlers, "two dogs play", language="zh")
    data = json.loads(re.search(r'id="answers">(.*?)</script>', page, re.DOTALL)[1])
    assert data["language"] == "zh"
    assert data["answers"]["/api/model"]["name"] == handlers.shown_model.name
    assert {f"{name}.weights" for name in handlers.layers} <= data["values"].keys()
    assert not re.search(r'(src|href)="http', page)


def test_too_long_a_text_is_refused(all_handlers):
    with pytest.raises(ValueError, match="more than the 96"):
        explain(all_handlers["llama"], "ø" * 60)

"""The walk-through in one file. Its look is tested in a browser (test_pages.py)."""

import json
import re

import pytest

from clearformer.studio.explain import explain


def test_the_page_has_everything_inside(desk):
    page = explain(desk, "two dogs play", language="zh")
    data = json.loads(re.search(r'id="answers">(.*?)</script>', page, re.DOTALL)[1])
    assert data["language"] == "zh"
    assert data["answers"]["/api/model"]["name"] == desk.subject.name
    assert {f"{name}.weights" for name in desk.sites} <= data["values"].keys()
    assert not re.search(r'(src|href)="http', page)


def test_too_long_a_text_is_refused(desks):
    with pytest.raises(ValueError, match="more than the 96"):
        explain(desks["llama"], "ø" * 60)

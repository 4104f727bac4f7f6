"""Summaries for the pages: the summarizer's own, with the settings of the model folder's recipe."""

from dataclasses import asdict, replace

import pytest
from fastapi.testclient import TestClient

from clearformer.inference.summarizer import Summarizer
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers, studio_app
from clearformer.studio.requests import SummaryRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.summary import MOST
from support.toy_models import small

TEXT = "two dogs play. the cat runs in the snow."
LONG = "two dogs play. " * 12 + "the cat runs in the snow."
RECIPE = {"max_length": 33, "decoding": {"beam": 2, "long": "beginning", "max_tokens": 12}}


@pytest.fixture(scope="module")
def bundle():
    return replace(small(), provenance=RECIPE, task="summarization")


@pytest.fixture(scope="module")
def client(bundle):
    return TestClient(studio_app(ShownModel(bundle, "short"), Runs([])), base_url="http://localhost")


@pytest.mark.parametrize("text", [TEXT, LONG])
@pytest.mark.parametrize("settings", [{}, {"beam": 1, "long": "parts", "no_repeat_ngram": 0, "alpha": 0.5}])
def test_a_summary_is_what_the_command_prints(bundle, client, text, settings):
    answer = client.post("/api/summary", json={"text": text, "settings": settings})
    assert answer.status_code == 200, answer.text
    [expected] = Summarizer(bundle).summarize(text, **settings)
    assert answer.json() == {**asdict(expected), "share": len(expected.text) / len(text)}


def test_the_form_says_what_the_recipe_says_within_the_page_s_bounds(client):
    fields = {field["name"]: field for field in client.get("/api/summary").json()["fields"]}
    assert list(fields) == ["beam", "alpha", "no_repeat_ngram", "max_tokens", "long"]
    assert [fields[name]["default"] for name in fields] == [2, 1.0, 3, 12, "beginning"]
    assert {name: fields[name]["most"] for name in MOST} == MOST
    assert fields["long"]["choices"] == ["parts", "beginning"]
    assert all(field["help"] for field in fields.values())


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"text": " \n"}, "nothing to read"),
        ({"text": "snow " * 5000}, "characters"),
        ({"text": "a", "settings": {"beam": 17}}, "less than or equal to 16"),
        ({"text": "a", "settings": {"long": "end"}}, "'parts' or 'beginning'"),
        ({"text": "a", "settings": {"batch": 1}}, "batch"),
    ],
)
def test_what_cannot_be_summarised_is_refused_with_a_reason(client, request_, reason):
    answer = client.post("/api/summary", json=request_)
    assert answer.status_code in (400, 422)
    assert reason in answer.text


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_a_model_that_writes_nothing_for_a_text_is_refused(all_handlers, name):
    with pytest.raises(Refused, match="cannot summarise"):
        all_handlers[name].summary(SummaryRequest(text=TEXT))
    with pytest.raises(Refused, match="cannot summarise"):
        all_handlers[name].summary_form()


def test_a_folder_that_does_not_say_how_has_the_usual_settings(bundle):
    handlers = Handlers(ShownModel(replace(bundle, provenance={}), "plain"), Runs([]))
    assert {field["name"]: field["default"] for field in handlers.summary_form()["fields"]}["max_tokens"] == 64

"""Why, for the pages: the numbers are those of the objects that the command line uses."""

from dataclasses import asdict, replace

import pytest
import torch
from fastapi.testclient import TestClient

from clearformer.folder.bundle import load
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.text_readers import Classifier
from clearformer.interop.importer import read_hugging_face
from clearformer.model.config import HeadConfig
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers, studio_app
from clearformer.studio.explained_words import MOST_STEPS, why_fields
from clearformer.studio.requests import WhyRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from interop.folders import bert_folder
from support.colour_texts import colour_model
from support.toy_readers import reader

TEXT = "the man sees a red ball"


@pytest.fixture(scope="module")
def shown():
    return ShownModel(load(colour_model()), "colours")


@pytest.fixture(scope="module")
def client(shown):
    return TestClient(studio_app(shown, Runs([])), base_url="http://localhost")


def test_a_class_and_its_words_are_the_classifier_s_own(shown, client):
    answer = client.post("/api/why", json={"text": TEXT, "settings": {"why": "gradient", "steps": 16}})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    classifier = Classifier(shown.bundle)
    [said] = classifier.classify(TEXT)
    assert (found["kind"], found["label"]) == ("class", said.label)
    assert found["scores"] == pytest.approx(said.scores)
    [explained] = classifier.why(TEXT, why="gradient", steps=16)
    [one] = found["attributions"]
    assert [word["score"] for word in one["words"]] == pytest.approx([w.score for w in explained.attributions[0].words])
    assert one["completeness"]["error"] == pytest.approx(explained.attributions[0].completeness.error, abs=1e-5)


def test_a_number_and_its_words_are_the_classifier_s_own():
    made = reader(head=HeadConfig(kind="class", labels=1))
    made = replace(made, preprocessing=replace(made.preprocessing, labels=(), outcome=Outcome(kind="number")))
    shown_model = ShownModel(made, "numbers")
    client = TestClient(studio_app(shown_model, Runs([])), base_url="http://localhost")
    found = client.post("/api/why", json={"text": TEXT, "settings": {"why": "gradient", "steps": 16}}).json()
    [estimate] = Classifier(made).estimate(TEXT)
    assert found["kind"] == "number"
    assert found["number"] == pytest.approx(estimate.number)
    assert found["attributions"][0]["completeness"]["logit"] == pytest.approx(estimate.number, abs=1e-4)


def test_an_answer_and_its_words_are_the_answerer_s_own(tmp_path):
    torch.manual_seed(3)
    bert_folder(tmp_path, HeadConfig(kind="span"), "BertForQuestionAnswering")
    shown = ShownModel(read_hugging_face(tmp_path).bundle, "span")
    handlers = Handlers(shown, Runs([]))
    context = "two dogs play in the snow ."
    found = handlers.why(WhyRequest(text=context, question="dogs play", settings={"why": "rollout"}))
    said = Answerer(shown.bundle).answer("dogs play", context)
    assert found["answer"] == {**asdict(said), "probability": said.probability}
    assert [one["method"] for one in found["attributions"]] == ["attention rollout"]
    assert {word["part"] for word in found["attributions"][0]["words"]} == {"question", "context"}
    with pytest.raises(Refused, match="there is nothing to read"):
        handlers.why(WhyRequest(text=context))


def test_the_form_is_the_options_own_within_the_page_s_bounds(client):
    fields = client.get("/api/why").json()["fields"]
    assert [field["name"] for field in fields] == [field["name"] for field in why_fields()]
    [steps] = [field for field in fields if field["name"] == "steps"]
    assert steps["most"] == MOST_STEPS
    too_many = client.post("/api/why", json={"text": TEXT, "settings": {"steps": MOST_STEPS + 1}})
    assert too_many.status_code == 422


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"text": "   "}, "nothing to read"),
        ({"text": "snow " * 5000}, "characters"),
        ({"text": "a " * 2000}, "tokens, more than the 1024 shown here"),
        ({"text": "a", "settings": {"of": "green"}}, "no class 'green'"),
        ({"text": "a", "settings": {"why": "guess"}}, "settings.why"),
        ({"text": "a", "settings": {"beam": 4}}, "settings.beam"),
        ({"text": "a", "questions": ""}, "questions"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_sentence(client, request_, reason):
    answer = client.post("/api/why", json=request_)
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


def test_a_model_that_writes_is_told_so(all_handlers):
    for handlers in all_handlers.values():
        with pytest.raises(Refused, match="neither classifies texts nor answers questions"):
            handlers.why(WhyRequest(text="two dogs"))

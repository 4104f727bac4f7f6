"""The routes, from outside: right answers, and sentences for everything that is wrong."""

import base64
import json

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearformer.model.trace import trace
from clearformer.serving.guard import Guard
from clearformer.studio.app import studio_app
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel

TEXT = {"text": "two dogs play in the snow"}
SITE = "encoder.layers.0.self_attn"


@pytest.fixture(scope="module")
def clients(bundles, folders):
    shown_models = {
        **{name: ShownModel(bundle, name) for name, bundle in bundles.items()},
        "mute": ShownModel.open(folders["mute"]),
    }
    apps = {name: Guard(studio_app(shown_model, Runs([]))) for name, shown_model in shown_models.items()}
    return {
        name: TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) for name, app in apps.items()
    }


@pytest.fixture(scope="module")
def client(clients):
    return clients["transformer"]


def tensor(packed):
    return torch.tensor(np.frombuffer(base64.b64decode(packed["f32"]), "<f4").reshape(packed["shape"]).copy())


def test_values_are_the_model_s_own(client, all_handlers):
    name = f"{SITE}.weights"
    found = client.post("/api/values", json={"input": {**TEXT, "target": [7, 8]}, "names": [name]}).json()
    shown_model = all_handlers["transformer"].shown_model
    with trace(shown_model.model, only=[name]) as seen:
        shown_model.run(shown_model.look(TEXT["text"], [7, 8]))
    assert torch.equal(tensor(found[name]), seen[name][0])


def test_without_a_target_the_model_writes_its_own(client):
    written = client.post("/api/translate", json=TEXT).json()["results"][0]["ids"]
    assert client.post("/api/trace", json=TEXT).json()["ids"] == written


def test_a_text_in_another_language_is_noticed(client):
    """The small model says of itself that it reads English."""
    found = client.post("/api/language", json={"text": "Zwei Hunde spielen im Schnee mit dem Kind."}).json()
    assert found == {"other": True, "language": "de", "expected": "en", "read_as": None}
    assert client.post("/api/language", json=TEXT).json() == found | {"other": False, "language": None}
    german = client.post("/api/translate", json={"text": "Zwei Hunde spielen im Schnee mit dem Kind."}).json()
    assert german["remark"].startswith("the text seems to be in German, but this model reads English")
    assert "remark" not in client.post("/api/translate", json=TEXT).json()


def test_heads_have_thumbnails_and_names(clients):
    for name, client in clients.items():
        text = {"text": "5 6 7", "target": [3]} if name == "mute" else TEXT
        found = client.post("/api/heads", json=text).json()
        for layer in found["attention_layers"]:
            assert len(layer["patterns"]) == layer["shades"]["shape"][0] == layer["heads"]


def test_long_inputs_have_small_thumbnails_and_full_heads(client):
    text = {"text": "ø" * 150, "target": [5] * 60}
    layer = client.post("/api/heads", json=text).json()["attention_layers"][0]
    assert layer["shades"]["shape"][1:] == [40, 40]
    head = client.post("/api/head", json={"input": text, "layer": SITE, "head": 1}).json()
    assert head["weights"]["shape"] == [302, 302]


def test_every_page_s_questions_are_answered_for_every_family(clients):
    for name, client in clients.items():
        text = {"text": "5 6 7", "target": [3]} if name == "mute" else TEXT
        model = client.get("/api/model").json()
        assert client.get("/api/anatomy").status_code == 200
        assert client.get("/api/positions").status_code == 200
        assert client.get("/api/runs").json() == []
        assert client.post("/api/trace", json=text).status_code == 200
        for layer in model["attention_layers"]:
            place = {"input": text, "layer": layer["name"], "head": 0, "query": 0, "key": 0}
            assert client.post("/api/cell", json=place).status_code == 200
        tree = client.post("/api/tree", json={"text": text["text"], "settings": {"max_new": 5}})
        assert tree.status_code == (422 if model["task"] == "read" else 200)


HOSTILE = {
    "empty": "",
    "blank": " \n\t ",
    "100,000 characters": "a" * 100_000,
    "many tokens": "ø" * 3000,
    "control characters": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "mixed directions": "abc \u202e שלום \u2066 مرحبا \u2069 \u202d xyz",
    "astral and combining": "👨‍👩‍👧‍👦 e\u0301\u0301\u0301 \U0010ffff",
    "special tokens as text": "<eos> <bos> <pad> <unk> [MASK]",
    "a null": "a\x00b",
    "markup": "<script>alert(1)</script>",
}
QUESTIONS = {
    "/api/language": lambda text: {"text": text},
    "/api/translate": lambda text: {"text": text},
    "/api/trace": lambda text: {"text": text},
    "/api/heads": lambda text: {"text": text},
    "/api/tree": lambda text: {"text": text},
    "/api/next": lambda text: {"text": text},
    "/api/lens": lambda text: {"text": text},
    "/api/parts": lambda text: {"text": text, "token": 3, "against": 5},
    "/api/values": lambda text: {"input": {"text": text}, "names": ["encoder.output"]},
    "/api/head": lambda text: {"input": {"text": text}, "layer": SITE},
    "/api/cell": lambda text: {"input": {"text": text}, "layer": SITE, "head": 0, "query": 0, "key": 0},
    "/api/checkpoint": lambda text: {"text": text, "run": 0, "step": 1},
}


@pytest.mark.parametrize("path", QUESTIONS)
@pytest.mark.parametrize("name", ["transformer", "llama", "bert", "mute"])
def test_hostile_text_gets_an_answer_or_a_sentence(clients, name, path):
    for text in HOSTILE.values():
        answer = clients[name].post(path, json=QUESTIONS[path](text))
        assert answer.status_code in (200, 422), (name, path, text[:20], answer.text[:200])
        if answer.status_code == 422:
            assert answer.json()["error"]


def test_a_surrogate_half_is_refused_and_not_echoed(client):
    for path, make in QUESTIONS.items():
        body = json.dumps(make("a\ud800b"))
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, path


@pytest.mark.parametrize("name", ["llama", "alibi"])
def test_what_comes_next_is_asked_over_the_wire(clients, name):
    """Whether the asker has left is found out from the connection; here nobody leaves."""
    for path in ("/api/next", "/api/lens", "/api/parts"):
        answer = clients[name].post(path, json={**TEXT, "place": 2})
        assert answer.status_code == 200, answer.text
        assert answer.json()["place"] == 2
    assert clients["transformer"].post("/api/next", json=TEXT).json()["code"] == "nodecoder"


numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.none(), st.text(max_size=5))
values = st.recursive(
    numbers,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "text",
        "input",
        "target",
        "settings",
        "layer",
        "head",
        "query",
        "key",
        "names",
        "prefix",
        "run",
        "step",
        "ids",
        "place",
        "token",
        "against",
    ]
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(list(QUESTIONS)), body=st.dictionaries(fields, values, max_size=6), base=st.booleans())
def test_no_body_whatever_makes_it_fail(client, path, body, base):
    asked = {**QUESTIONS[path]("two dogs"), **body} if base else body
    answer = client.post(path, content=json.dumps(asked), headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400, 422), answer.text[:300]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=80))
def test_bytes_that_are_no_json(client, body):
    answer = client.post("/api/translate", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400, 422)


@pytest.mark.parametrize(
    "query", ["length=0", "length=1e9", "length=x", "dim=3", "heads=-1", "length=" + "9" * 400, "dim[]=1"]
)
def test_odd_queries(client, query):
    assert client.get(f"/api/positions?{query}").status_code in (200, 422)


@pytest.mark.parametrize("run", ["0", "-1", "99999999999999999999", "x", "..%2f..", "%00"])
def test_runs_are_numbers(client, run):
    assert client.get(f"/api/runs/{run}").status_code in (404, 422)


def test_patterns_and_unknown_names_are_not_values(client):
    for name in ("*", "encoder.*", "encoder.layers.[01].output", "no.such.value", ""):
        answer = client.post("/api/values", json={"input": TEXT, "names": [name]})
        assert answer.status_code == 422


def test_no_file_of_this_computer_is_served(client):
    for path in (
        "/../app.py",
        "/static/index.html",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%5capp.py",
        "//etc/passwd",
        "/app.py",
    ):
        answer = client.get(path)
        assert answer.status_code in (404, 400, 421), path
        assert b"import" not in answer.content


def test_a_strange_host_and_a_large_body_are_stopped_before_the_model(client):
    assert client.get("/api/model", headers={"host": "evil.example"}).status_code == 421
    assert client.post("/api/translate", content=b"x" * 1_000_001).status_code == 413


def test_pages_are_there_with_their_policy(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-security-policy"].startswith("default-src 'self'")

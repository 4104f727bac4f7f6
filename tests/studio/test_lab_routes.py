"""The routes of the lab's page: answers and refusals, as the page gets them."""

import pytest
import torch
from fastapi.testclient import TestClient

from clearformer.serving.admission import Turns
from clearformer.serving.app import new_app
from clearformer.studio.lab_routes import LabAnswers


@pytest.fixture(scope="module")
def client():
    app = new_app()
    LabAnswers(lambda request: torch.eye(3), Turns()).add_to(app)
    return TestClient(app)


@pytest.mark.parametrize(
    "address",
    [
        "/api/lab",
        "/api/lab/experiments/head-width",
        "/api/lab/softmax?width=8&temperature=0.5&scaled=false",
        "/api/lab/distance?kind=alibi",
        "/api/lab/schedule?dim=128&warmup=10&kind=cosine",
    ],
)
def test_it_answers(client, address):
    assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/api/lab/experiments/nonsense",
        "/api/lab/softmax?width=0",
        "/api/lab/softmax?temperature=0",
        "/api/lab/softmax?temperature=nan",
        "/api/lab/distance?kind=nonsense",
        "/api/lab/schedule?warmup=0",
        "/api/lab/schedule?dim=1000000",
    ],
)
def test_it_refuses_in_one_sentence(client, address):
    answer = client.get(address)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_a_head_at_a_temperature(client):
    asked = {"input": {"text": "x"}, "layer": "one", "head": 0, "temperature": 2.0}
    assert client.post("/api/lab/temperature", json=asked).json()["largest"] == 1.0
    assert client.post("/api/lab/temperature", json={**asked, "temperature": 0.0}).status_code == 422

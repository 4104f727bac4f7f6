"""A picture on the pages: what is shown is what `classify` says and what the network computed, and nothing else."""

import io

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from clearformer.inference.picture_classifier import PictureClassifier
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers, studio_app
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import LABELS, picture_file, picture_model


@pytest.fixture(scope="module", params=[1, 3], ids=["grey", "colour"])
def viewed(request):
    """(bundle, handlers, file, what was answered)."""
    bundle = picture_model(channels=request.param)
    handlers = Handlers(ShownModel(bundle, "pictures"), Runs([]))
    content = picture_file(channels=request.param)
    return bundle, handlers, content, handlers.senses.picture(content)


def test_classes_are_what_classify_says_of_the_file(viewed, tmp_path):
    bundle, _, content, found = viewed
    (tmp_path / "some.png").write_bytes(content)
    [said] = PictureClassifier(bundle).classify(tmp_path / "some.png")
    assert {one["label"]: one["probability"] for one in found["classes"]} == pytest.approx(said.scores)
    shares = [one["probability"] for one in found["classes"]]
    assert shares == sorted(shares, reverse=True)
    assert (found["width"], found["height"], found["side"], found["extra"]) == (30, 20, 3, 1)
    assert found["count"] == len(LABELS)


def bomb():
    """A few kilobytes that unpack into 20,000 × 20,000 pixels."""
    written = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(written, "PNG")
    return written.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"no picture", picture_file()[:60], bomb()], ids=["empty", "text", "cut", "bomb"]
)
def test_a_bad_file_is_refused_in_words_without_a_path(viewed, content):
    with pytest.raises(Refused, match="cannot be read as a picture") as caught:
        viewed[1].senses.picture(content)
    assert caught.value.code == "picture"
    assert "/" not in str(caught.value.values["reason"])


def test_a_model_of_texts_takes_no_pictures(all_handlers):
    with pytest.raises(Refused, match="does not classify pictures"):
        all_handlers["bert"].senses.picture(picture_file())


def test_bytes_arrive_by_http_as_they_are():
    bundle = picture_model()
    with TestClient(studio_app(ShownModel(bundle, "pictures"), Runs([]))) as client:
        kind = {"content-type": "application/octet-stream"}
        answer = client.post("/api/picture", content=picture_file(kind="JPEG"), headers=kind)
        assert answer.status_code == 200
        picture = answer.json()["picture"]
        asked = {"picture": picture, "layer": 0, "query": 0}
        assert client.post("/api/picture/attention", json=asked).json()["weights"]["shape"] == [4, 10]
        refused = client.post("/api/picture", content=b"\x00" * 50, headers=kind)
        assert (refused.status_code, refused.json()["code"]) == (422, "picture")
        assert client.post("/api/picture/token", json={"picture": "../x", "place": 0}).status_code == 422

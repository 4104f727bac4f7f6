"""Files arrive by HTTP as they are, where a page sends them, and large ones nowhere else."""

import pytest
from fastapi.testclient import TestClient

from clearformer.studio.app import studio_app
from clearformer.studio.runs import Runs
from clearformer.studio.senses import FILE_PATHS
from clearformer.studio.shown_model import ShownModel
from inference.test_painter import made
from studio.small_pictures import box_model, code_model, mask_model, picture_file
from support.spoken import hearing, say, write_wave

BYTES = {"content-type": "application/octet-stream"}


def test_boxes_by_http():
    with TestClient(studio_app(ShownModel(box_model(), "boxes"), Runs([]))) as client:
        found = client.post("/api/boxes", content=picture_file(channels=3, kind="JPEG"), headers=BYTES).json()
        asked = {"picture": found["picture"], "threshold": 0.5}
        assert client.post("/api/boxes/chosen", json=asked).json().keys() >= {"objects", "nearest"}
        refused = client.post("/api/boxes", content=b"\x00" * 50, headers=BYTES)
        assert (refused.status_code, refused.json()["code"]) == (422, "picture")
        for wrong in ({"picture": "../x"}, {**asked, "threshold": 2}, {**asked, "duplicates": -1}):
            assert client.post("/api/boxes/chosen", json=wrong).status_code == 422


def test_recordings_by_http(tmp_path):
    path = write_wave(tmp_path / "said.wav", say("do re"))
    with TestClient(studio_app(ShownModel(hearing(), "speech"), Runs([]))) as client:
        found = client.post("/api/sound", content=path.read_bytes(), headers=BYTES).json()
        asked = {"sound": found["sound"], "piece": 0}
        assert client.post("/api/sound/piece", json=asked).json()["frames"]["shape"][1] == 12
        refused = client.post("/api/sound", content=b"\x00" * 50, headers=BYTES)
        assert (refused.status_code, refused.json()["code"]) == (422, "sound")
        assert client.post("/api/sound/piece", json={**asked, "piece": -1}).status_code == 422


def test_painting_by_http():
    with TestClient(studio_app(ShownModel(made("flow"), "painter"), Runs([]))) as client:
        told = client.get("/api/paint").json()
        asked = {"label": told["labels"][0], "count": 1, "steps": 2, "guidance": 1.0, "temperature": 1.0}
        assert client.post("/api/paint", json=asked).json()["pictures"]["shape"] == [1, 8, 8, 1]
        for wrong in ({**asked, "steps": 0}, {**asked, "label": "horse"}, {**asked, "other": 1}):
            assert client.post("/api/paint", json=wrong).status_code == 422


def test_codes_by_http():
    with TestClient(studio_app(ShownModel(code_model(), "code"), Runs([]))) as client:
        found = client.post("/api/code", content=picture_file(), headers=BYTES).json()
        assert found["code"]["shape"] == [5]
        asked = {"codes": [[0.0, 1, -1, 0.5, 2]]}
        assert client.post("/api/code/decode", json=asked).json()["pictures"]["shape"] == [1, 6, 6, 3]
        assert client.post("/api/code/decode", json={"codes": [[1.0]]}).status_code == 422


def test_masks_by_http():
    with TestClient(studio_app(ShownModel(mask_model("instances"), "masks"), Runs([]))) as client:
        found = client.post("/api/masks", content=picture_file(width=20, height=16), headers=BYTES).json()
        asked = {"masks": found["masks"]}
        assert client.post("/api/masks/mask", json=asked).json()["mask"]["shape"] == [16, 20]
        assert client.post("/api/masks/channel", json={**asked, "number": 1}).json()["values"]["shape"] == [16, 20]
        assert client.post("/api/masks/tile", json={**asked, "number": 0}).json()["side"] == 4
        assert client.post("/api/masks/mask", json={**asked, "threshold": 3}).status_code == 422


@pytest.mark.parametrize("path", sorted(FILE_PATHS))
def test_every_address_of_files_answers(path):
    """One that is named for its limit and does not exist would be a hole in the fence."""
    with TestClient(studio_app(ShownModel(box_model(), "boxes"), Runs([]))) as client:
        assert client.post(path, content=b"nothing", headers=BYTES).status_code == 422

"""What the hub says of a model, asked through the real library; every refusal is one sentence."""

import logging
import socket

import pytest

from clearformer.folder.fetched import HubName
from clearformer.foundation.download import DownloadConfig, Expected
from clearformer.interop.hub import endpoint, find_repository
from support.hub_server import COMMIT, send, send_json

QUICK = DownloadConfig(first_pause=0.01)
NAME = HubName("somebody/tiny")
FILES = {"config.json": b"{}", "model.safetensors": b"numbers"}

pytestmark = pytest.mark.timeout(60)


def refusal(name: HubName = NAME) -> str:
    with pytest.raises(ValueError) as error:
        find_repository(name, QUICK)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_list_has_commit_licence_sizes_and_checksums(hub):
    repo = hub.put("somebody/tiny", FILES)
    found = find_repository(NAME, QUICK)
    assert (found.repo, found.commit, found.licence) == ("somebody/tiny", COMMIT, "mit")
    blob, sha256 = repo.sibling("config.json")["blobId"], repo.sibling("model.safetensors")["lfs"]["sha256"]
    assert found.files == {
        "config.json": Expected(size=2, git_blob=blob),
        "model.safetensors": Expected(size=7, sha256=sha256),
    }


def test_the_server_is_one_that_the_library_takes_for_the_hub(hub, tmp_path):
    """Its own download works against it, through the redirect to the store: the tests speak the real protocol."""
    from huggingface_hub import hf_hub_download

    hub.put("somebody/tiny", FILES)
    for name, content in FILES.items():
        path = hf_hub_download("somebody/tiny", name, endpoint=hub.url, cache_dir=tmp_path / "theirs")
        with open(path, "rb") as file:  # noqa: PTH123
            assert file.read() == content


def test_the_library_does_not_notice_other_bytes_of_the_same_size(hub, tmp_path):
    """Why checksums are compared here. If this fails, the library has learned it."""
    from huggingface_hub import hf_hub_download

    hub.put("somebody/tiny", FILES)
    hub.instead["/store/somebody/tiny/model.safetensors"] = lambda request: send(request, 200, b"NUMBERS")
    path = hf_hub_download("somebody/tiny", "model.safetensors", endpoint=hub.url, cache_dir=tmp_path / "theirs")
    with open(path, "rb") as file:  # noqa: PTH123
        assert file.read() == b"NUMBERS"


def test_a_revision_is_asked_for_by_name(hub):
    hub.put("somebody/tiny", FILES)
    assert find_repository(HubName("somebody/tiny", "v1"), QUICK).commit == COMMIT
    assert hub.asked == ["/api/models/somebody/tiny/revision/v1"]
    assert refusal(HubName("somebody/tiny", "v9")).startswith("somebody/tiny has no branch, tag or commit v9")


def test_the_address_is_the_one_of_the_environment_now(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert endpoint() == "https://mirror.example"
    monkeypatch.delenv("HF_ENDPOINT")
    assert endpoint() == "https://huggingface.co"


def test_a_model_that_was_renamed_is_found_and_its_new_name_said(hub, caplog):
    hub.put("somebody/new", FILES)
    hub.instead["/api/models/somebody/tiny"] = lambda request: send(
        request, 307, Location="/api/models/somebody/new?blobs=true"
    )
    with caplog.at_level(logging.INFO, "clearformer"):
        assert find_repository(NAME, QUICK).repo == "somebody/new"
    assert "somebody/tiny is called somebody/new by now" in caplog.text


def test_an_absent_model(hub):
    assert "has no model somebody/tiny, or does not show it to you; check the spelling" in refusal()
    assert len(hub.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_model(hub, status):
    hub.instead["/api/models/somebody/tiny"] = lambda request: send(request, status, X_Error_Code="GatedRepo")
    assert f"accept its terms at {hub.url}/somebody/tiny, log in with `hf auth login`" in refusal()


def test_a_busy_hub_is_asked_again_and_then_given_up(hub):
    hub.instead["/api/models/somebody/tiny"] = lambda request: send(request, 503)
    assert "answered 503 when asked for somebody/tiny; try again later" in refusal()
    assert len(hub.asked) == 3

    def recovering(request):
        del hub.instead["/api/models/somebody/tiny"]
        send(request, 500)

    hub.put("somebody/tiny", FILES)
    hub.instead["/api/models/somebody/tiny"] = recovering
    assert find_repository(NAME, QUICK).commit == COMMIT


def test_a_circle_of_redirects_ends(hub):
    hub.instead["/api/models/somebody/tiny"] = lambda request: send(request, 302, Location="/api/models/somebody/tiny")
    assert "cannot be reached to fetch somebody/tiny" in refusal()
    assert len(hub.asked) < 50


@pytest.mark.parametrize("change", [
    {"sha": None}, {"sha": "../../x"}, {"id": "../../x"}, {"id": 3}, {"siblings": [{"rfilename": "config.json"}]},
    {"siblings": [{"rfilename": "config.json", "size": -1, "blobId": "0" * 40}]},
    {"siblings": [{"rfilename": "config.json", "size": "2", "blobId": "0" * 40}]},
    {"siblings": [{"rfilename": "x.bin", "size": 2, "blobId": "0" * 40, "lfs": {"sha256": "?", "size": 2}}]},
    {"siblings": 3},
])  # fmt: skip
def test_a_list_that_makes_no_sense_is_refused(hub, change):
    told = hub.put("somebody/tiny", FILES).listing("somebody/tiny")
    hub.instead["/api/models/somebody/tiny"] = lambda request: send_json(request, told | change)
    assert "does not answer as a hub does" in refusal()


@pytest.mark.parametrize("body", [b"<html>log in to this network</html>", b"[]", b"null", b"", b'"x"', b"\xff"])
def test_an_answer_of_something_else_is_refused(hub, body):
    hub.instead["/api/models/somebody/tiny"] = lambda request: send(request, 200, body)
    assert "does not answer as a hub does when asked for somebody/tiny" in refusal()


def test_nobody_there(monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        assert "cannot be reached to fetch somebody/tiny" in refusal()


def test_an_address_that_is_none(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "mirror")
    assert "mirror cannot be reached to fetch somebody/tiny" in refusal()


def test_who_is_offline_by_choice_is_told_so(hub, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # read from the environment when the library is imported
    assert "HF_HUB_OFFLINE is set" in refusal()
    assert hub.asked == []

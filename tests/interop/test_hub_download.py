"""Fetching from a hub that breaks off, lies, redirects and refuses: the right bytes, or one sentence."""

import json
import resource
import shutil

import pytest

from clearformer.folder.fetched import HubName
from clearformer.foundation.download import DownloadConfig, DownloadError
from clearformer.interop.hub import find_repository
from clearformer.interop.hub_download import FetchConfig, fetch_files
from interop.folders import gpt2_folder
from support.hub_server import send, send_json

QUICK = FetchConfig(download=DownloadConfig(stall_seconds=5, attempts=2, first_pause=0.01))
ONCE = FetchConfig(download=DownloadConfig(stall_seconds=5, attempts=1, first_pause=0.01))
NAME, WEIGHTS = HubName("somebody/tiny"), "model.safetensors"
STORED = f"/store/somebody/tiny/{WEIGHTS}"

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The files of a small GPT-2."""
    folder = tmp_path_factory.mktemp("published") / "gpt2"
    gpt2_folder(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def fetch(folder, config=QUICK, **more):
    return fetch_files(find_repository(NAME, config.download), folder, config, **more)


def refusal(folder, config=QUICK, kind=(ValueError, DownloadError)) -> str:
    with pytest.raises(kind) as error:
        fetch(folder, config)
    assert "\n" not in str(error.value)
    assert not (folder / WEIGHTS).exists()
    return str(error.value)


def test_what_an_import_reads_and_nothing_else(hub, published, tmp_path):
    clutter = {"modeling_evil.py": b"raise SystemExit", "README.md": b"#", "pytorch_model.bin": b"pickle", "a/b": b""}
    hub.put("somebody/tiny", published | clutter)
    steps = []
    assert fetch(tmp_path / "f", on_progress=lambda *step: steps.append(step)) == tmp_path / "f"
    assert {file.name: file.read_bytes() for file in (tmp_path / "f").iterdir()} == published
    assert sorted(hub.files_asked_for()) == sorted(published)
    total = sum(map(len, published.values()))
    assert steps[-1] == (total, total)
    assert steps == sorted(steps)


def test_the_token_stays_with_the_hub(hub, published, tmp_path):
    """The list and the files are asked for as the user; the store that the hub redirects to is another host."""
    hub.put("somebody/tiny", published)
    fetch(tmp_path / "f")
    stored = {path: token for path, token in hub.tokens.items() if path.startswith("/store/")}
    assert stored == {STORED: None}
    assert {token for path, token in hub.tokens.items() if path not in stored} == {"Bearer hf_secret"}


def test_shards_are_those_that_the_index_names(hub, published, tmp_path):
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    files = {name: content for name, content in published.items() if name != WEIGHTS}
    files |= {f"model-{number}-of-2.safetensors": b"x" * number for number in (1, 2, 3)}
    hub.put("somebody/tiny", files | {"model.safetensors.index.json": json.dumps(index).encode()})
    fetch(tmp_path / "f")
    fetched = {file.name for file in (tmp_path / "f").glob("model-*")}
    assert fetched == {"model-1-of-2.safetensors", "model-2-of-2.safetensors"}


def test_a_pickle_only_where_there_is_nothing_else(hub, published, tmp_path):
    hub.put("somebody/tiny", {"config.json": published["config.json"], "pytorch_model.bin": b"pickle"})
    fetch(tmp_path / "f")
    assert (tmp_path / "f" / "pytorch_model.bin").read_bytes() == b"pickle"


def test_one_quantised_file(hub, tmp_path):
    hub.put("somebody/tiny", {"q4.gguf": b"GGUF", "README.md": b"#"})
    assert fetch(tmp_path / "f") == tmp_path / "f" / "q4.gguf"


def test_a_line_that_is_cut_is_resumed_also_by_the_next_command(hub, published, tmp_path):
    """Every byte leaves the server once, over three connections and two commands."""
    hub.put("somebody/tiny", published)
    hub.instead[STORED] = lambda request: hub.send_file(request, "somebody/tiny", WEIGHTS, upto=4000)
    sentence = refusal(tmp_path / "f")
    assert "broke off after 8,000 of" in sentence
    assert "run the command again" in sentence
    del hub.instead[STORED]
    fetch(tmp_path / "f")
    assert (tmp_path / "f" / WEIGHTS).read_bytes() == published[WEIGHTS]
    assert hub.sent == {name: len(content) for name, content in published.items()}


def test_who_stops_it_in_the_middle_goes_on_there(hub, published, tmp_path):
    """As Ctrl-C does. What was sent and not yet written when it came is sent again, and no more than that."""
    hub.put("somebody/tiny", published)
    small = sum(len(content) for name, content in published.items() if name != WEIGHTS)

    def stop_at_the_weights(done, total):
        if small < done < total:
            raise KeyboardInterrupt

    hub.instead[STORED] = lambda request: hub.send_file(request, "somebody/tiny", WEIGHTS, upto=5000)
    with pytest.raises(KeyboardInterrupt):
        fetch(tmp_path / "f", on_progress=stop_at_the_weights)
    assert not (tmp_path / "f" / WEIGHTS).exists()
    del hub.instead[STORED]
    fetch(tmp_path / "f")
    assert (tmp_path / "f" / WEIGHTS).read_bytes() == published[WEIGHTS]
    assert hub.sent[WEIGHTS] == len(published[WEIGHTS])


def test_what_is_there_is_not_fetched_again_but_looked_at(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    fetch(tmp_path / "f")
    (tmp_path / "f" / "config.json").write_bytes(b"?" * len(published["config.json"]))
    hub.asked.clear()
    fetch(tmp_path / "f")
    assert hub.files_asked_for() == ["config.json"]
    assert (tmp_path / "f" / "config.json").read_bytes() == published["config.json"]


@pytest.mark.parametrize("more", [-10, 10])
def test_a_size_that_is_not_the_list_s_is_refused(hub, published, tmp_path, more):
    hub.put("somebody/tiny", published)
    lie = published[WEIGHTS][:more] if more < 0 else published[WEIGHTS] + b"x" * more
    hub.instead[STORED] = lambda request: send(request, 200, lie)
    assert f"offers {len(lie):,} bytes where {len(published[WEIGHTS]):,} are expected" in refusal(tmp_path / "f")


def test_a_body_longer_than_it_says_is_cut_off(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    longer = published[WEIGHTS] + b"x" * 100_000
    hub.instead[STORED] = lambda request: send(request, 200, longer, Content_Length=None)
    assert "and was cut off" in refusal(tmp_path / "f")


def test_other_weights_of_the_same_size_are_refused(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    hub.instead[STORED] = lambda request: send(request, 200, published[WEIGHTS][:-1] + b"?")
    assert "SHA-256" in refusal(tmp_path / "f")
    assert not list((tmp_path / "f").glob("*.partial*")), "wrong bytes are not kept for the next attempt"


def test_another_description_of_the_same_size_is_refused(hub, published, tmp_path):
    """Small files have no SHA-256 on the hub, but git's name for their content."""
    repo = hub.put("somebody/tiny", published)
    path = f"/somebody/tiny/resolve/{repo.commit}/config.json"
    hub.instead[path] = lambda request: send(request, 200, b"?" * len(published["config.json"]))
    assert "the content that git names" in refusal(tmp_path / "f")
    assert list((tmp_path / "f").iterdir()) == []


def test_a_redirect_elsewhere_brings_the_same_bytes_or_none(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    hub.put("somebody/other", {"x": b"y" * len(published[WEIGHTS])})
    hub.instead[STORED] = lambda request: send(request, 302, Location="/store/somebody/other/x")
    assert "SHA-256" in refusal(tmp_path / "f")
    hub.instead[STORED] = lambda request: send(request, 302, Location="/elsewhere")
    hub.instead["/elsewhere"] = lambda request: hub.send_file(request, "somebody/tiny", WEIGHTS)
    fetch(tmp_path / "f")
    assert (tmp_path / "f" / WEIGHTS).read_bytes() == published[WEIGHTS]


def test_redirects_in_a_circle_end(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    hub.instead[STORED] = lambda request: send(request, 302, Location=STORED)
    assert "replied 302" in refusal(tmp_path / "f")


@pytest.mark.parametrize("status", [401, 403])
def test_files_that_only_some_may_have(hub, published, tmp_path, status):
    """The list of a gated model is public; its files are not."""
    repo = hub.put("somebody/tiny", published)
    path = f"/somebody/tiny/resolve/{repo.commit}/config.json"
    hub.instead[path] = lambda request: send(request, status, X_Error_Code="GatedRepo")
    assert "log in with `hf auth login`" in refusal(tmp_path / "f")


@pytest.mark.parametrize(("status", "sentence"), [(404, "replied 404"), (500, "could not be fetched in 2 attempts")])
def test_a_file_that_cannot_be_had(hub, published, tmp_path, status, sentence):
    hub.put("somebody/tiny", published)
    hub.instead[STORED] = lambda request: send(request, status)
    assert sentence in refusal(tmp_path / "f")


def test_a_name_that_leads_out_of_the_folder_is_never_asked_for(hub, published, tmp_path):
    names = ["../../x", "/etc/passwd", "a/../../x.safetensors", "..\\x"]
    hub.put("somebody/tiny", published | dict.fromkeys(names, b"evil"))
    fetch(tmp_path / "f")
    assert sorted(hub.files_asked_for()) == sorted(published)
    index = {"weight_map": {"a": "../../x.safetensors"}}
    files = {"config.json": published["config.json"], "model.safetensors.index.json": json.dumps(index).encode()}
    hub.put("somebody/tiny", files | {"../../x.safetensors": b"evil"})
    assert "names '../../x.safetensors'" in refusal(tmp_path / "g")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "g"]


def test_an_unknown_family_is_refused_before_its_weights(hub, published, tmp_path):
    hub.put("somebody/tiny", published | {"config.json": b'{"model_type": "mamba"}'})
    assert "somebody/tiny: models of the family mamba are not opened here" in refusal(tmp_path / "f")
    assert WEIGHTS not in hub.files_asked_for()
    fetch(tmp_path / "f", FetchConfig(family="gpt2"))
    assert WEIGHTS in hub.files_asked_for()


def announcing(hub, file, size):
    """The list says that a file is so large."""
    told = hub.repos["somebody/tiny"].listing("somebody/tiny")
    for sibling in told["siblings"]:
        if sibling["rfilename"] == file:
            sibling["size"] = size
            if "lfs" in sibling:
                sibling["lfs"]["size"] = size
    hub.instead["/api/models/somebody/tiny"] = lambda request: send_json(request, told)


def test_more_than_allowed_is_refused_before_the_first_byte(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    announcing(hub, WEIGHTS, 13_200_000_000)
    sentence = refusal(tmp_path / "f")
    assert sentence == (
        "somebody/tiny has 13.2 GB to fetch, more than the 10 GB that are allowed; allow more with --max-gb 14, which "
        "`clearformer models get` takes"
    )
    assert WEIGHTS not in hub.files_asked_for()


def test_a_description_as_large_as_weights_is_refused(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    announcing(hub, "config.json", 1_000_000_000)
    assert "config.json has 1,000,000,000 bytes, more than the" in refusal(tmp_path / "f")
    assert hub.files_asked_for() == []


def test_more_than_the_disk_holds_is_refused_before_the_first_byte(hub, published, tmp_path):
    hub.put("somebody/tiny", published)
    room = shutil.disk_usage(tmp_path).free
    announcing(hub, WEIGHTS, room + 10**12)
    sentence = refusal(tmp_path / "f", FetchConfig(max_gb=100_000), OSError)
    assert "GB to fetch, but" in sentence
    assert "CLEARFORMER_CACHE" in sentence


def test_a_disk_that_fills_up_on_the_way(hub, published, tmp_path):
    """A limit on the size of files stands in for the disk."""
    hub.put("somebody/tiny", published)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        sentence = refusal(tmp_path / "f", ONCE, OSError)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert f"could not hold {WEIGHTS} of somebody/tiny: File too large; make room" in sentence
    fetch(tmp_path / "f")  # and when there is room again, the rest is fetched
    assert hub.sent[WEIGHTS] < 2 * len(published[WEIGHTS])

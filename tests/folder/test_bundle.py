import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

import clearformer
from clearformer.folder import bundle, description
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import settings, storage
from clearformer.model.build import build
from clearformer.model.config import NormConfig
from clearformer.model.described import described
from clearformer.model.families import FAMILIES, transformer
from clearformer.model.weights import weights_of
from clearformer.text.train_tokenizer import TokenizerConfig, train_from
from conftest import SEED
from model.specimens import configured, specimen

TEXTS = ["zwei Hunde spielen im Schnee", "two dogs play in the snow", "ein Hund", "a dog"] * 3


def learn(texts):
    return train_from(TokenizerConfig(kind="character", vocab_size=300, min_frequency=1), texts)


def make(*, separate=False, norm="layer"):
    """A small model with one vocabulary, or two."""
    torch.manual_seed(5)
    source, target = learn(TEXTS), learn([text.upper() for text in TEXTS]) if separate else None
    config = transformer(
        vocab_size=source.vocab_size,
        target_vocab_size=target.vocab_size if target else None,
        dim=16,
        hidden_dim=24,
        layers=1,
        heads=2,
        norm=NormConfig(kind=norm),
    )
    if separate:
        config = replace(config, embedding=replace(config.embedding, tie="output"))
    return Bundle(
        config=config,
        model=build(config),
        task="translation",
        preprocessing=Preprocessing(tokenizer=source, target_tokenizer=target),
        provenance={"data": "made here", "attribution": "Zoë"},
    )


@pytest.mark.parametrize("separate", [False, True])
def test_save_and_load_is_identity(tmp_path, separate):
    made = make(separate=separate)
    bundle.save(made, tmp_path / "m")
    loaded = bundle.load(tmp_path / "m")
    assert loaded.config == made.config
    assert loaded.provenance == made.provenance
    assert loaded.preprocessing == made.preprocessing
    assert loaded.task == made.task == "translation"
    assert (loaded.tokenizer, loaded.target_tokenizer) == (made.tokenizer, made.target_tokenizer)
    assert not loaded.model.training
    ours, theirs = weights_of(made.model), weights_of(loaded.model)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_comes_back_from_its_folder(tmp_path, family):
    """The folder names what this model has; what it leaves out has no effect, so the model is the same."""
    config = configured(family)
    bundle.save(Bundle(config=config, model=specimen(family)), tmp_path / "m")
    loaded = bundle.load(tmp_path / "m")
    assert described(loaded.config) == described(config)
    torch.manual_seed(SEED)  # the seed that `specimen` drew from
    made = specimen(family)
    assert repr(loaded.model) == repr(made)
    ours, theirs = weights_of(made), weights_of(loaded.model)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    bundle.save(loaded, tmp_path / "again")
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "m" / name).read_bytes()


def test_a_translator_s_folder_says_nothing_of_pictures_or_sound(tmp_path):
    bundle.save(make(), tmp_path / "m")
    told = storage.read_json(tmp_path / "m" / "config.json")
    assert told["format"] == 2
    assert list(told) == ["format", "task", "model", "preprocessing", "provenance"]
    assert list(told["preprocessing"]) == ["tokenizer"]
    assert told["model"]["front"] == {"kind": "tokens"}
    assert not {"kernel", "bottleneck"} & told["model"].keys()
    text = (tmp_path / "m" / "config.json").read_text(encoding="utf-8")
    assert not [word for word in ("picture", "patch", "mels", "channels", "pooler", "buckets") if word in text]


def test_a_folder_of_format_1_is_the_same_model(tmp_path):
    """The model that ships has it: pieces of preprocessing one by one, every setting of any model, and no task."""
    shipped = description.shipped_models() / "en-de"
    assert storage.read_json(shipped / "config.json")["format"] == 1
    first = bundle.load(shipped)
    bundle.save(first, tmp_path / "m", dtype="float16")
    second = bundle.load(tmp_path / "m")
    assert storage.read_json(tmp_path / "m" / "config.json")["format"] == 2
    for name in ("config", "task", "preprocessing", "provenance"):
        assert getattr(second, name) == getattr(first, name), name
    assert repr(second.model) == repr(first.model)
    ours, theirs = weights_of(first.model), weights_of(second.model)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert first.task is None
    assert first.tokenizer.vocab_size == first.config.vocab_size


def test_format_1_had_markers_and_labels_beside_the_tokenizers(tmp_path):
    """Written by hand as the version before did, with what it had no value for as null."""
    made = make(separate=True)
    bundle.save(made, tmp_path / "m")
    told = storage.read_json(tmp_path / "m" / "config.json")
    old = {
        "format": 1,
        "model": settings.to_plain(made.config),
        **told["preprocessing"],
        "markers": {"before_source": [5], "after_source": [2, 6], "start": 2, "forced": [7]},
        "labels": ["cat", "dog"],
        "provenance": told["provenance"],
    }
    forge(tmp_path / "m", "config.json", lambda path: storage.write_json(path, old))
    read = bundle.load(tmp_path / "m").preprocessing
    assert read.markers == Markers(before_source=(5,), after_source=(2, 6), start=2, forced=(7,))
    assert read.labels == ("cat", "dog")
    assert read.sides == made.preprocessing.sides
    nothing = old | {"markers": None, "labels": None, "target_tokenizer": None}
    forge(tmp_path / "m", "config.json", lambda path: storage.write_json(path, nothing))
    assert open_folder(tmp_path / "m").preprocessing == Preprocessing(tokenizer=made.tokenizer)


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        bundle.save(make(), tmp_path / name)
    bundle.save(bundle.load(tmp_path / "a"), tmp_path / "c")
    contents = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in "abc"]
    assert contents[0] == contents[1] == contents[2]


def test_float16_halves_the_file_and_comes_back_rounded(tmp_path):
    made = make()
    bundle.save(made, tmp_path / "full")
    bundle.save(made, tmp_path / "half", dtype="float16")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half")]
    assert sizes[1] == pytest.approx(sizes[0] / 2, rel=0.15)
    for name, weight in weights_of(bundle.load(tmp_path / "half").model).items():
        assert torch.equal(weight, weights_of(made.model)[name].half().float())
        assert weight.dtype == torch.float32


def test_counters_are_not_rounded_and_values_beyond_float16_are_refused(tmp_path):
    made = make(norm="batch")
    counters = [b for name, b in made.model.named_buffers() if name.endswith("num_batches_tracked")]
    assert counters
    for counter in counters:
        counter.fill_(123_457)  # neither exact nor finite as float16
    bundle.save(made, tmp_path / "half", dtype="float16")
    loaded = bundle.load(tmp_path / "half").model
    assert {int(b) for name, b in loaded.named_buffers() if name.endswith("num_batches_tracked")} == {123_457}
    with torch.no_grad():
        next(made.model.parameters())[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"weight has values that torch\.float16 cannot hold"):
        bundle.save(made, tmp_path / "too-much", dtype="float16")
    assert not (tmp_path / "too-much").exists()


def test_a_tied_table_is_stored_once_and_stays_tied(tmp_path):
    made = make()
    bundle.save(made, tmp_path / "m")
    stored = storage.read_tensors(tmp_path / "m" / "model.safetensors")
    tables = [name for name, tensor in stored.items() if made.config.vocab_size in tensor.shape]
    assert len(tables) == 1
    loaded = bundle.load(tmp_path / "m").model
    with torch.no_grad():
        next(p for n, p in loaded.named_parameters() if n == tables[0]).zero_()
    assert not loaded(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, dtype=torch.long)).any()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path, name):
    bundle.save(make(), tmp_path / "m")
    file = tmp_path / "m" / name
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    with pytest.raises(storage.DamagedError, match=re.escape(str(file))):
        bundle.load(tmp_path / "m")


def forge(folder, name, write):
    """Replace a file and its line in the manifest, as somebody would who means it."""
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != storage.MANIFEST}
    with storage.new_folder(folder) as aside:
        for other, content in files.items():
            (aside / other).write_bytes(content)
        write(aside / name)


def test_another_tokenizer_than_the_model_s_is_refused_with_the_pieces_that_differ(tmp_path):
    bundle.save(make(), tmp_path / "m")
    forge(tmp_path / "m", "tokenizer.json", learn(["völlig ändere Zeichen: äöüß"] * 3).save)
    with pytest.raises(ValueError, match=r"tokenizer\.json is not the tokenizer this model was trained with: .*'.*'"):
        bundle.load(tmp_path / "m")


def test_weights_of_another_model_are_refused_by_name(tmp_path):
    bundle.save(make(), tmp_path / "m")
    forge(tmp_path / "m", "model.safetensors", lambda path: storage.write_tensors(path, {"x": torch.zeros(1)}))
    with pytest.raises(storage.DamagedError, match=r"model\.safetensors: the weights do not fit the model: missing "):
        bundle.load(tmp_path / "m")


def test_a_newer_format_says_so(tmp_path):
    bundle.save(make(), tmp_path / "m")
    described = storage.read_json(tmp_path / "m" / "config.json") | {"format": description.FORMAT + 1}
    forge(tmp_path / "m", "config.json", lambda path: storage.write_json(path, described))
    with pytest.raises(ValueError, match=r"config\.json has format 3, but this version reads format 2; update"):
        bundle.load(tmp_path / "m")


def test_an_unknown_setting_of_the_model_is_refused_not_ignored(tmp_path):
    bundle.save(make(), tmp_path / "m")
    described = storage.read_json(tmp_path / "m" / "config.json")
    described["model"]["sparkle"] = True
    forge(tmp_path / "m", "config.json", lambda path: storage.write_json(path, described))
    with pytest.raises(ValueError, match=r"config\.json: there is no setting sparkle"):
        bundle.load(tmp_path / "m")


def test_what_is_no_model_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"is not a model folder: it has no config\.json"):
        bundle.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ValueError, match=r"config\.json was not written by clearformer; .*clearformer import"):
        bundle.load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(storage.DamagedError, match=r"config\.json is not valid JSON"):
        bundle.load(tmp_path)


def test_a_model_without_a_tokenizer_can_be_kept_too(tmp_path):
    made = replace(make(), preprocessing=Preprocessing())
    bundle.save(made, tmp_path / "m")
    assert bundle.load(tmp_path / "m").tokenizer is None


def test_no_file_of_the_package_can_run_what_it_loads():
    """Loading a model must never run code: no pickle, no torch.load, no eval or exec, no yaml."""
    package = Path(clearformer.__file__).parent
    files = list(package.rglob("*.py"))
    assert len(files) > 50
    for file in files:
        found = list(dangerous(file.read_text(encoding="utf-8")))
        assert not found, f"{file}: {', '.join(found)}"


def dangerous(text: str) -> Iterator[str]:
    """What a file imports or calls that could run somebody else's code."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            yield from {word.split(".")[0] for word in named} & {
                "pickle",
                "joblib",
                "dill",
                "marshal",
                "shelve",
                "yaml",
            }
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.load", "eval", "exec", "__import__"):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield "allow_pickle"


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from pickle import loads", "torch.load(path)", "eval(text)", "np.load(path, allow_pickle=True)"],
)
def test_a_dangerous_line_is_found(line):
    assert list(dangerous(line))


def test_the_sieve_for_dangerous_calls_lets_evaluation_mode_pass():
    assert isinstance(make().model.eval(), nn.Module)

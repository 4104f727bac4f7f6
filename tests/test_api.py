"""The Python door: about fifteen names, looked up when first used."""

import json
import pydoc
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.families import FAMILIES, transformer
from clearformer.tasks import find_task
from clearformer.text.train_tokenizer import train
from flows.tiny_tasks import prose
from interop.folders import SIZES, bert_folder, gpt2_folder, write
from model import specimens
from support.every_kind import KINDS, ask, in_format_one, make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small untrained translator."""
    tokenizer = train("bpe", ["two dogs play in the snow"] * 5, 300)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=32, layers=2, heads=2)
    cf.save(
        Bundle(config=config, model=cf.build(config), preprocessing=Preprocessing(tokenizer=tokenizer)), tmp_path / "m"
    )
    return tmp_path / "m"


@pytest.mark.parametrize("name", KINDS)
def test_a_folder_opens_as_the_object_for_its_task(name: str, tmp_path: Path):
    """One test per family and head: the method is there, it runs, and the object says what it is."""
    kind, folder = KINDS[name], make(name, tmp_path / "m")
    model = cf.load(folder)
    task = find_task(kind.task)
    assert isinstance(model, task.use)
    assert task.verb.name == kind.method
    assert ask(model, name) is not None
    line = repr(model)
    assert re.match(rf"{type(model).__name__}\({kind.family}, 0\.\d M parameters", line)
    assert " at 0x" not in line
    assert "\n" not in line
    old = cf.load(in_format_one(folder, tmp_path / "old"))
    assert type(old) is type(model)


def test_what_a_folder_says_counts_more_than_its_head(tmp_path: Path):
    """An encoder–decoder that was trained for something else than translation is not taken for a translator."""
    folder = make("transformer", tmp_path / "m")
    said = replace(bundle.load(folder), task="network")
    cf.save(said, tmp_path / "said")
    assert type(cf.load(tmp_path / "said")).__name__ == "Network"
    unknown = replace(said, task="zzz")
    cf.save(unknown, tmp_path / "unknown")
    with pytest.raises(ValueError, match="there is no task 'zzz'; known are translation, "):
        cf.load(tmp_path / "unknown")


def test_a_published_encoder_without_an_end_token_embeds(tmp_path: Path):
    """MiniLM's kind: BERT's vocabulary has no <eos>, and no head needs one."""
    bert_folder(tmp_path / "published")
    for model in (cf.import_checkpoint(tmp_path / "published", tmp_path / "kept"), cf.load(tmp_path / "kept")):
        [vector] = model.embed("two dogs play")
        assert vector.shape == (16,)


def test_a_published_decoder_generates(tmp_path: Path):
    """SmolLM2's kind was taken for a translator."""
    gpt2_folder(tmp_path / "gpt2")
    assert isinstance(cf.import_checkpoint(tmp_path / "gpt2").generate("two", max_new=2), str)
    config = FAMILIES["llama"](vocab_size=257, kv_heads=1, **SIZES)
    write(tmp_path / "llama", "llama", "LlamaForCausalLM", config)
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / "llama" / name).write_bytes((tmp_path / "gpt2" / name).read_bytes())
    told = {"eos_token": "<|endoftext|>", "tokenizer_class": "GPT2Tokenizer"}
    (tmp_path / "llama" / "tokenizer_config.json").write_text(json.dumps(told))
    assert isinstance(cf.import_checkpoint(tmp_path / "llama").generate("two", max_new=2), str)


def test_a_published_whisper_transcribes(tmp_path: Path):
    """It is an encoder–decoder, too, but what it reads is sound."""
    config = specimens.configured("whisper", vocab_size=257)
    write(tmp_path / "whisper", "whisper", "WhisperForConditionalGeneration", config, pad_token_id=256)
    gpt2_folder(tmp_path / "gpt2")
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / "whisper" / name).write_bytes((tmp_path / "gpt2" / name).read_bytes())
    for model in (cf.import_checkpoint(tmp_path / "whisper", tmp_path / "kept"), cf.load(tmp_path / "kept")):
        assert hasattr(model, "transcribe")
        assert not hasattr(model, "translate")


def test_help_names_what_there_is_with_its_first_line():
    """`help(cf)` looks up every name, although none is imported before it is used."""
    told = pydoc.render_doc(cf, renderer=pydoc.plaintext)
    for name in ("load", "train", "translate"):
        first = (getattr(cf, name).__doc__ or "").splitlines()[0]
        assert first
        assert name in told
        assert first in told


def test_models_that_decide_together_are_one_translator(folder: Path):
    model = cf.load(folder, folder)
    assert (
        model.translate("two dogs play", beam=2)[0].text == cf.load(folder).translate("two dogs play", beam=2)[0].text
    )


@pytest.mark.parametrize("given", [{}, {"recipe": "sample", "data": "x.txt"}])
def test_training_wants_a_recipe_or_data(given, tmp_path: Path):
    with pytest.raises(ValueError, match="give either a recipe or data to train on"):
        cf.train(**given, out=tmp_path / "run")


def test_training_on_data_chooses_everything(tmp_path: Path):
    (tmp_path / "book.txt").write_text(prose(600))
    changes = {"training.steps": 2, "training.validate_every": 2, "use.max_new": 4}
    model = cf.train(data=tmp_path / "book.txt", changes=changes, out=tmp_path / "run")
    assert len(cf.load(model).generate("the", max_new=4)) > 0
    assert cf.train(tmp_path / "run" / "recipe.toml", out=tmp_path / "run", resume=True) == model


@pytest.mark.parametrize("name", cf.__all__)
def test_every_name_opens(name: str):
    assert getattr(cf, name) is not None
    assert name in dir(cf)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match=r"clearformer has no 'transform'; it has .*trace"):
        cf.transform  # noqa: B018


def test_a_model_is_opened_used_and_seen_through(folder: Path):
    model = cf.load(folder)
    with cf.trace(model) as seen:
        [found] = model.translate("two dogs play")
    weights = seen["decoder.layers.1.cross_attn.weights"]
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    [again] = cf.translate(["two dogs play"], folder)
    assert again.text == found.text
    assert again.score == pytest.approx(found.score, abs=1e-4)  # looking on takes the readable path


def test_a_recipe_is_trained_with_changes(tmp_path: Path):
    for side in ("source", "target"):
        for part in ("train", "dev"):
            (tmp_path / f"{part}.{side}").write_text("".join(f"word{n} dog{n}\n" for n in range(40)))
    files = "".join(f'{part}_{side} = "{part}.{side}"\n' for part in ("train", "dev") for side in ("source", "target"))
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f"task = 'translation'\n[data]\n{files}[data.vocabulary]\nvocab_size = 300\n"
        "[model]\npreset = 'tiny'\ndim = 16\nhidden_dim = 32\nlayers = 1\n"
        "[training]\nsteps = 100000\nschedule = { warmup = 0.1 }\n"
    )
    changes = {"training.steps": 2, "training.validate_every": 2, "training.save_every": 1}
    model = cf.train(recipe, changes, out=tmp_path / "run")
    assert cf.load(model).bundle.config.dim == 16


def test_files_are_indexed_and_asked(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Dogs\n\nTwo dogs play in the snow.\n\n# Cats\n\nA cat sleeps.\n")
    made = cf.build_index(tmp_path / "a.md", tmp_path / "idx")
    assert repr(made) == "SearchIndex(2 × passage of 1 × file, by words)"
    [hit] = cf.open_index(tmp_path / "idx").ask("cats")
    assert (hit.line, hit.text) == (5, "# Cats\n\nA cat sleeps.")
    assert hit.passage == hit.text
    assert cf.build_index([tmp_path / "a.md"], tmp_path / "idx", by="line").ask("cat")[0].line == 5

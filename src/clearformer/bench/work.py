"""The work: one text, tokenised once, and the same batches for all contenders.

A work folder is the start of a training run (`recipe.toml`, `vocabulary/`, `shards/`), which this package resumes like
any run, and beside it the same token ids in the same batches as plain arrays (`batches.npz`, `sources.npz`), which the
peers read. So the training step or the search is measured, not a tokenizer.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.shards import Shards
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.data.tokenise import SIDES
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.foundation import settings, storage
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.cost import count_cost
from clearformer.run.recipe import Recipe, find_recipe, keep_recipe, read_recipe
from clearformer.tasks import translation
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Workspace
from clearformer.tasks.translation import ParallelData
from clearformer.text.doctor.parallel import read_lines
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig

RECIPE = "multi30k-en-de-raw"
# Settings that are the same for all contenders, whatever the recipe says.
ALIKE = (
    "training.batch_tokens=4096",
    "training.optimiser.kind=adam",
    "training.optimiser.ema=0",
)
SENTENCES = 1000  # to translate
CLOCK = 0  # the coordinate that tells the decoding model when to end
LONG_AGO = 1 << 30  # steps between validations and checkpoints: none within a turn
BATCHES = 64  # of a synthetic text, more than any turn needs
# Characters that no normalisation changes, enough for the largest vocabulary.
CHARACTERS = [chr(code) for first, last in ((0x4E00, 0x9FA5), (0x20000, 0x2A6D6)) for code in range(first, last + 1)]
NOT_CHARACTERS = 400  # pieces that a vocabulary of characters holds besides: special tokens, bytes, ASCII


@dataclass(frozen=True, kw_only=True)
class Work:
    """A prepared folder and what a contender must know about its ids."""

    folder: Path
    vocab_size: int
    pad: int
    bos: int
    eos: int
    target_length: float  # the mean, with the end token
    batch_tokens: int


def multi30k(root: Path) -> Work:
    """Captions, English to German: a recipe's text, in pieces and batches that suit all contenders."""
    path = find_recipe(RECIPE)
    recipe = read_recipe(path, ("data.vocabulary.vocab_size=10000", *ALIKE))
    return prepared(_folder_of(recipe, root), recipe, base=path.parent)


def made_up(root: Path, *, length: int, vocab_size: int) -> Work:
    """Sentences of exactly so many tokens, the end token included: characters drawn uniformly, one piece each."""
    recipe = replace(
        read_recipe(find_recipe(RECIPE), ALIKE),
        name=f"made-up-{length}-{vocab_size}",
        data=ParallelData(
            train_source="train.a",
            train_target="train.b",
            dev_source="dev.a",
            dev_target="dev.b",
            vocabulary=TokenizerConfig(kind="character", vocab_size=vocab_size, min_frequency=1),
            max_length=2 * length,
        ),
    )
    folder = _folder_of(recipe, root)
    if not (folder / "work.json").exists():
        draw = random.Random(length * vocab_size)
        alphabet = CHARACTERS[: vocab_size - NOT_CHARACTERS]
        count = BATCHES * max(1, recipe.training.batch_tokens // length)
        for name in ("train.a", "train.b", "dev.a", "dev.b"):
            lines = ("".join(draw.choices(alphabet, k=length - 1)) for _ in range(count if "train" in name else 4))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return prepared(folder, recipe, base=folder)


def prepared(folder: Path, recipe: Recipe, *, base: Path) -> Work:
    """Make a work folder, or reuse the one that was made before."""
    facts = folder / "work.json"
    if not facts.exists():
        folder.mkdir(parents=True, exist_ok=True)
        keep_recipe(_endless(recipe), folder, base=base, resume=False)
        files = translation.locate(recipe.data, base)
        made = translation.prepare(recipe.data, Workspace(folder=folder, base=base, resume=True))
        tokenizer, _ = made.preprocessing.sides
        corpus = Shards(folder / "shards")
        _write_batches(folder / "batches.npz", corpus, recipe)
        _write_sources(folder, tokenizer, base if recipe.data.corpus is None else files.dev_source.parents[1], recipe)
        storage.write_json(facts, _facts(tokenizer, corpus, recipe))
    return Work(folder=folder, **storage.read_json(facts))


def _folder_of(recipe: Recipe, root: Path) -> Path:
    """A changed recipe is other work: a folder prepared for the old one is not reused."""
    mark = sha256(settings.to_toml(settings.to_plain(recipe)).encode()).hexdigest()
    return root / f"{recipe.name}-{mark[:8]}"


def _endless(recipe: Recipe) -> Recipe:
    """Uninterrupted steps, each of them logged: the speed is read from the log."""
    steady = replace(
        recipe.training, steps=LONG_AGO, save_every=LONG_AGO, validate_every=LONG_AGO, log_every=1, average=1
    )
    return replace(recipe, training=steady)


def _write_batches(path: Path, corpus: Shards, recipe: Recipe) -> None:
    """The batches of the first epoch, in the order in which this package takes them."""
    plan = DataPlan(
        *_lengths(corpus),
        config=BatchingConfig(max_tokens=recipe.training.batch_tokens, longest_first=True),
        seed=recipe.training.seed,
    )
    pairs = list(corpus)
    rows, ends = _joined(plan.batches(0))
    sources, source_ends = _joined(source for source, _ in pairs)
    targets, target_ends = _joined(target for _, target in pairs)
    arrays = {"source": sources, "source_ends": source_ends, "target": targets, "target_ends": target_ends}
    np.savez(path, rows=rows, row_ends=ends, **arrays)  # type: ignore[arg-type]


def _lengths(corpus: Shards) -> list[NDArray[np.int64]]:
    """Of both sides, as they stand in a batch."""
    return [corpus.lengths(side) + SPECIALS_PER_SIDE for side in SIDES]


def _write_sources(folder: Path, tokenizer: Tokenizer, base: Path, recipe: Recipe) -> None:
    """The sentences to translate, as text and as ids with their end token."""
    path = base / (recipe.data.test_source or recipe.data.dev_source)
    texts = list(read_lines(path))[:SENTENCES]
    (folder / "sources.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    ids, ends = _joined(np.array([*row, tokenizer.eos_id]) for row in tokenizer.ids(texts, add_special=False))
    np.savez(folder / "sources.npz", source=ids, source_ends=ends)


def _joined(rows: Iterable[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows concatenated, and where each of them ends."""
    found = [np.asarray(row, dtype=np.int64) for row in rows]
    return np.concatenate(found), np.cumsum([len(row) for row in found])


def _facts(tokenizer: Tokenizer, corpus: Shards, recipe: Recipe) -> dict[str, Any]:
    return {
        "vocab_size": tokenizer.vocab_size,
        "pad": tokenizer.pad_id,
        "bos": tokenizer.bos_id,
        "eos": tokenizer.eos_id,
        "target_length": float(_lengths(corpus)[1].mean()),
        "batch_tokens": recipe.training.batch_tokens,
    }


def training_job(work: Work, case: str, model: Mapping[str, Any]) -> dict[str, Any]:
    """What a contender needs to train. model: a recipe's [model] section."""
    config = configuration(work, model)
    return {
        **_description(work, config),
        "task": "train",
        "case": case,
        "changes": [f"model.{key}={value}" for key, value in model.items()],
        "smoothing": 0.1,
    }


def decoding_job(
    work: Work, case: str, model: Mapping[str, Any], *, length: int, sentences: int = SENTENCES
) -> dict[str, Any]:
    """What a contender needs to translate: sentences, sizes, and a folder with a model of these sizes.

    length: the number of tokens of every translation, so that all engines take equally many steps.
    """
    config = configuration(work, model)
    folder = work.folder / f"model-{'-'.join(map(str, model.values()))}-{length}"
    if not folder.exists():
        bundle.save(_exactly(length, config, work), folder)
    asked = {"case": case, "model_folder": str(folder), "length": length, "sentences": sentences}
    return {**_description(work, config), "task": "decode", **asked}


def configuration(work: Work, model: Mapping[str, Any]) -> ModelConfig:
    """The model that is raced, for the vocabulary of the work."""
    return model_config(model, {"vocab_size": work.vocab_size})


def training_operations(work: Work, config: ModelConfig) -> float:
    """Floating-point operations per target token in training: those of the forward pass, and twice as many backward."""
    return 3.0 * count_cost(config, length=max(1, round(work.target_length))).flops_per_token


def decoding_operations(work: Work, config: ModelConfig, *, length: int, beam: int) -> float:
    """Floating-point operations per sentence in a search: the products with weights, which every engine needs.

    The source passes the encoder and becomes keys and values once; the first step has one row, every other a beam.
    """
    with np.load(work.folder / "sources.npz") as kept:
        tokens = len(kept["source"]) / len(kept["source_ends"])
    parts = count_cost(config).parts
    encoder, decoder = (
        sum(count for name, count in parts.items() if name.startswith(f"{stack}.layers"))
        for stack in ("encoder", "decoder")
    )
    read_once = 2 * config.dim**2 * (config.decoder_layers or config.layers)
    rows = 1 + (length - 1) * beam
    return 2.0 * (tokens * (encoder + read_once) + rows * (decoder - read_once + config.vocab_size * config.dim))


def _description(work: Work, config: ModelConfig) -> dict[str, Any]:
    known = asdict(work) | {"folder": str(work.folder)}
    sizes = {name: getattr(config, name) for name in ("layers", "dim", "hidden_dim", "vocab_size")}
    return {"work": known, "model": {**sizes, "heads": config.attention.heads, "dropout": config.dropout.residual}}


def _exactly(length: int, config: ModelConfig, work: Work) -> Bundle:
    """A model with random weights whose translations all have so many tokens, the end token included.

    One coordinate of the decoder's states is kept for a clock: no layer writes to it, the (learned) position sets it
    below zero until the last token and above zero there, and the end token's vector reads it. Engines that treat a
    translation cut at its limit differently from one that ends by itself are then compared on the latter.
    """
    torch.manual_seed(1)
    config = replace(config, position=replace(config.position, kind="learned"), decoder_position=None)
    model: Any = build(config)
    with torch.no_grad():
        for layer in model.decoder.layers:
            for projection in (layer.self_attn.out_proj, layer.cross_attn.out_proj, layer.ffn.down_proj):
                projection.weight[CLOCK] = 0.0
                projection.bias[CLOCK] = 0.0
        positions, vectors = model.decoder.front.position.table.weight, model.head.table
        positions[: length - 1, CLOCK], positions[length - 1 :, CLOCK] = -4.0, 4.0
        vectors[:, CLOCK] = 0.0
        vectors[work.eos, CLOCK] = 400.0  # large enough to outweigh the rest of the state
    path = work.folder / "vocabulary" / "joint.json"
    tokenizer = Tokenizer.load(path, storage.read_json(path.with_suffix(".facts.json")))
    return Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(tokenizer=tokenizer),
        provenance={"weights": "random weights, for timing"},
    )

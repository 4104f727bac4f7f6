"""From a recipe to a trained model folder: the one place that knows everything.

The folder of a run: `recipe.toml` as resolved, `vocabulary/` and `shards/` (made once), `checkpoints/`,
`metrics.jsonl`, and at the end `model/`. Started again with `resume`, it goes on where it was and ends with the same
bits.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import nn

from clearformer import __version__, bundle, settings, storage
from clearformer.bundle import Bundle
from clearformer.data import fetch
from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.collate import Batch, collate_pairs
from clearformer.data.corpora import ParallelFiles
from clearformer.data.shards import ShardedPairs
from clearformer.data.tokenise import Encoder, prepare
from clearformer.evaluation.translation import quick_bleu, tokenisation
from clearformer.model.build import build
from clearformer.model.weights import put_weights
from clearformer.recipe import DataConfig, Recipe, model_config
from clearformer.text.doctor import read_lines
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train import train_from
from clearformer.training.checkpoint import Checkpoints, Progress
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, Report, Task
from clearformer.training.loss import Loss, cross_entropy, perplexity, r_drop
from clearformer.training.optimiser import average
from clearformer.training.schedule import make_schedule
from clearformer.training.signals import Stop
from clearformer.translator import Translator

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Watchers:
    """Whoever wants to know how it goes; the command line draws bars."""

    prepare: Callable[[int, int], None] = lambda done, total: None
    train: Callable[[Report], None] = lambda report: None


def train(
    recipe: Recipe, out: Path, *, resume: bool = False, base: Path = Path(), watchers: Watchers | None = None
) -> Path:
    """Train as the recipe says; returns the finished model folder. base: where relative file names start from."""
    watchers = watchers or Watchers()
    ranks = Ranks()
    if not resume and (out / "checkpoints").exists():
        raise ValueError(f"{out} holds a run already; go on with --resume, or choose another --out")
    data = locate(recipe.data, base)
    out.mkdir(parents=True, exist_ok=True)
    (out / "recipe.toml").write_text(settings.to_toml(settings.to_plain(recipe)), encoding="utf-8")
    source, target = vocabularies(recipe, data, out / "vocabulary")
    corpus = prepare(
        ParallelFiles(source=data.train_source, target=data.train_target),
        out / "shards",
        encoder=Encoder(source=source, target=target, max_len=recipe.data.max_length),
        on_progress=watchers.prepare,
    )
    config = model_config(
        recipe.model,
        vocab_size=source.vocab_size,
        target_vocab_size=None if recipe.joint else target.vocab_size,
    )
    torch.manual_seed(recipe.training.seed)
    made = Bundle(
        config=config,
        model=build(config),
        tokenizer=source,
        target_tokenizer=None if recipe.joint else target,
        provenance=_provenance(recipe),
    )
    task = translation_task(recipe, made, corpus, data, ranks)
    schedule = make_schedule(recipe.training.schedule, dim=config.dim, steps=recipe.training.steps)
    loop = Loop(made.model, task, recipe.training, schedule, out, ranks)
    if resume:
        log.info("going on from step %d", loop.resume())
    with Stop() as stop:
        progress = loop.run(watch=watchers.train, stop=stop)
    if stop.asked:
        raise Interrupted(f"stopped at step {progress.step:,} and saved; go on with --resume --out {out}")
    return finish(recipe, made, out, progress)


class Interrupted(Exception):  # noqa: N818 - it is not an error
    """A run was asked to stop and can go on."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where a recipe's text is."""

    train_source: Path
    train_target: Path
    dev_source: Path
    dev_target: Path


def locate(data: DataConfig, base: Path) -> Files:
    """Find a recipe's files: in the folder of its corpus, or relative to the recipe."""
    folder = fetch.get(data.corpus) if data.corpus else base
    names = ("train_source", "train_target", "dev_source", "dev_target")
    missing = [name for name in names if not getattr(data, name)]
    if missing:
        raise ValueError(f"the recipe's [data] section needs {', '.join(missing)}")
    return Files(**{name: folder / getattr(data, name) for name in names})


def vocabularies(recipe: Recipe, data: Files, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Learn the vocabularies from the training text, or take those that this run made before."""
    names = ["joint"] if recipe.joint else ["source", "target"]
    if not folder.exists():
        sides = [[data.train_source, data.train_target]] if recipe.joint else [[data.train_source], [data.train_target]]
        with storage.new_folder(folder) as aside:
            for name, files in zip(names, sides, strict=True):
                made = train_from(recipe.vocabulary, _Lines(files))
                made.save(aside / f"{name}.json")
                storage.write_json(aside / f"{name}.facts.json", made.facts())
    storage.verify(folder)
    loaded = [
        Tokenizer.load(folder / f"{name}.json", storage.read_json(folder / f"{name}.facts.json")) for name in names
    ]
    return loaded[0], loaded[-1]


class _Lines:
    """The lines of several files, opened anew each time somebody reads them."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files

    def __iter__(self) -> Any:
        for file in self.files:
            yield from read_lines(file)


def translation_task(recipe: Recipe, made: Bundle, corpus: ShardedPairs, data: Files, ranks: Ranks) -> Task[Batch]:
    """Batches, loss and validation of an encoder–decoder."""
    plan = DataPlan(
        *corpus.lengths(),
        config=BatchingConfig(max_tokens=recipe.training.batch_tokens, longest_first=True),
        seed=recipe.training.seed,
        ranks=ranks.count,
    )
    tokenizer = made.tokenizer
    assert tokenizer is not None

    @lru_cache(maxsize=1)
    def batches(epoch: int) -> list[NDArray[np.int64]]:
        return plan.batches(epoch, ranks.rank)

    def batch_at(position: int) -> Batch:
        place = plan.position(position)
        rows = [corpus[int(row)] for row in batches(place.epoch)[place.batch]]
        return collate_pairs(rows, pad=tokenizer.pad_id, bos=tokenizer.bos_id, eos=tokenizer.eos_id)

    return Task(
        batch_at=batch_at,
        loss=partial(translation_loss, smoothing=recipe.training.smoothing, divergence=recipe.training.r_drop),
        validate=Validation(recipe, made, data),
        better=lambda scores: float(scores["bleu"]),
    )


def translation_loss(model: nn.Module, batch: Batch, *, smoothing: float, divergence: float = 0.0) -> Loss:
    """Cross-entropy of the next target token. Right padding needs no target mask: no token looks ahead."""
    logits = model(batch.source, batch.target_in, source_keep=batch.source_keep)
    if not divergence:
        return cross_entropy(logits, batch.target_out, batch.target_keep, smoothing)
    again = model(batch.source, batch.target_in, source_keep=batch.source_keep)
    return r_drop(logits, again, batch.target_out, batch.target_keep, smoothing=smoothing, weight=divergence)


class Validation:
    """Loss, BLEU and a few translations on the development set."""

    def __init__(self, recipe: Recipe, made: Bundle, data: Files) -> None:
        self.recipe, self.made = recipe, made
        self.sources = list(read_lines(data.dev_source))
        self.references = list(read_lines(data.dev_target))
        if len(self.sources) != len(self.references):
            raise ValueError(
                f"{data.dev_source} has {len(self.sources)} lines but {data.dev_target} has {len(self.references)}"
            )
        self.tokenise = recipe.scoring.tokenise or tokenisation(recipe.data.target_language)

    def __call__(self, model: nn.Module, step: int) -> Mapping[str, float | str]:
        nll, tokens = self.likelihood(model)
        count = self.recipe.scoring.sentences
        translator = Translator(self.made)
        found = [t.text for t in translator.translate(self.sources[:count], self.recipe.decoding)]
        samples = {f"sample_{n}": f"{self.sources[n]} → {found[n]}" for n in range(min(3, len(found)))}
        return {
            "loss": nll / tokens,
            "perplexity": perplexity(nll, tokens),
            "bleu": quick_bleu(found, self.references[:count], self.tokenise),
            **samples,
        }

    @torch.inference_mode()
    def likelihood(self, model: nn.Module) -> tuple[float, int]:
        """Negative log-likelihood of the references and their token count."""
        source, target = self.made.tokenizer, self.made.target_tokenizer or self.made.tokenizer
        assert source is not None
        assert target is not None
        rows = list(
            zip(
                (np.array(row) for row in source.ids(self.sources, add_special=False)),
                (np.array(row) for row in target.ids(self.references, add_special=False)),
                strict=True,
            )
        )
        rows.sort(key=lambda row: len(row[0]) + len(row[1]))
        nll, tokens = 0.0, 0
        for start in range(0, len(rows), 64):
            batch = collate_pairs(rows[start : start + 64], pad=source.pad_id, bos=source.bos_id, eos=source.eos_id)
            loss = translation_loss(model, batch, smoothing=0.0)
            nll, tokens = nll + float(loss.nll), tokens + loss.tokens
        return nll, tokens


def finish(recipe: Recipe, made: Bundle, out: Path, progress: Progress) -> Path:
    """The finished model folder: the mean of the last checkpoints, or the best one."""
    checkpoints = Checkpoints(out / "checkpoints", keep=10**9)
    count = recipe.training.average
    steps = checkpoints.steps()[-count:] if count > 1 else [progress.best_step or progress.step]
    file = "ema.safetensors" if recipe.training.optimiser.ema else "model.safetensors"
    put_weights(made.model, average(load_file(checkpoints.path(step) / file) for step in steps))
    bundle.save(made, out / "model")
    return out / "model"


def _provenance(recipe: Recipe) -> dict[str, Any]:
    facts = {
        "recipe": recipe.name,
        "seed": recipe.training.seed,
        "data": recipe.data.corpus or Path(recipe.data.train_source).name,
        "source_language": recipe.data.source_language,
        "target_language": recipe.data.target_language,
        "attribution": recipe.data.attribution,
        "licence": recipe.data.licence,
        "clearformer": __version__,
    }
    return {name: value for name, value in facts.items() if value is not None}

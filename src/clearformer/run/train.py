"""From a recipe to a trained model folder: the one place that knows everything.

The folder of a run: `recipe.toml` as resolved, `vocabulary/` and `shards/` (made once), `checkpoints/`,
`metrics.jsonl`, and at the end `model/`. Started again with `resume`, it goes on where it was and ends with the same
bits.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clearformer import __version__
from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.catalogue import fetch
from clearformer.data.collate import Batch, collate_pairs
from clearformer.data.readers.parallel import CorpusError, JoinedFiles, ParallelFiles
from clearformer.data.shards import Manifest, ShardedPairs
from clearformer.data.subword_dropout import SubwordDropout
from clearformer.data.tokenise import OnProgress, PairEncoder, prepare
from clearformer.evaluation.bleu import quick_bleu, tokenisation
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import load_tokenizers, read_description
from clearformer.folder.preprocessing import Markers, Preprocessing, usual_markers
from clearformer.foundation import settings, storage
from clearformer.foundation.locks import only_one
from clearformer.foundation.machine import keep_freed_memory
from clearformer.inference.translation_settings import REMEMBERED
from clearformer.inference.translator import Translator
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.weights import put_weights, thin_out, weights_of
from clearformer.run.recipe import DataConfig, Recipe, model_config
from clearformer.text.doctor.parallel import Severity, examine, read_lines
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train_from
from clearformer.training.checkpoint import finished_weights
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, StepReport, Task
from clearformer.training.loss import Loss, perplexity
from clearformer.training.memory_forecast import estimate
from clearformer.training.optimiser import average
from clearformer.training.projected_loss import projected_cross_entropy, projected_r_drop
from clearformer.training.schedule import make_schedule
from clearformer.training.signals import Stop

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Watchers:
    """Whoever wants to know how it goes; the command line draws bars."""

    prepare: Callable[[int, int], None] = lambda done, total: None
    train: Callable[[StepReport], None] = lambda report: None


def train(
    recipe: Recipe, out: Path, *, resume: bool = False, base: Path = Path(), watchers: Watchers | None = None
) -> Path:
    """Train as the recipe says; returns the finished model folder. base: where relative file names start from."""
    if not resume and (out / "checkpoints").exists():
        raise ValueError(f"{out} holds a run already; go on with --resume, or choose another --out")
    recipe = going_on(recipe, base)
    data = locate(recipe.data, base)  # before anything is made on disk
    keep_freed_memory()
    ranks = Ranks()
    if resume and ranks.count == 1 and not out.exists():  # torchrun's restarts say --resume from the first launch on
        raise ValueError(f"there is no run in {out} to go on with; leave --resume out to begin one")
    try:
        with alone_in(out) if ranks.first else nullcontext():
            return _train(recipe, data, out, ranks, resume=resume, base=base, watchers=watchers or Watchers())
    finally:
        ranks.close()


def _train(
    recipe: Recipe, data: "Files", out: Path, ranks: Ranks, *, resume: bool, base: Path, watchers: Watchers
) -> Path:
    with ranks.first_then_others():
        if ranks.first:
            keep_recipe(replace(recipe, data=seen_from(out, recipe.data, base)), out, resume=resume)
            if not resume:
                check(data.train)
        source, target = vocabularies(recipe, data, out / "vocabulary", anew=ranks.first and not resume)
        encoder = PairEncoder(source=source, target=target, max_len=recipe.data.max_length)
        corpus = prepare_pairs(data.train, out / "shards", encoder, resume=resume, on_progress=watchers.prepare)
    config = model_config(
        recipe.model,
        vocab_size=source.vocab_size,
        target_vocab_size=None if recipe.joint else target.vocab_size,
    )
    torch.manual_seed(recipe.training.seed)
    made = Bundle(
        config=config,
        model=begin(recipe, config).to(ranks.device),
        preprocessing=Preprocessing(tokenizer=source, target_tokenizer=None if recipe.joint else target),
        provenance=_provenance(recipe),
    )
    task = translation_task(recipe, made, corpus, data, ranks)
    schedule = make_schedule(recipe.training.schedule, dim=config.dim, steps=recipe.training.steps)
    loop = Loop(made.model, task, recipe.training, schedule, out, ranks)
    foresee_memory(loop)
    if resume:
        log.info("going on from step %d", loop.resume())
    with Stop() as stop:
        progress = loop.run(watch=watchers.train, stop=stop)
    if not loop.done():
        raise Interrupted(
            f"stopped at step {progress.step:,} and saved; go on with: clearformer train --resume --out {out}"
        )
    if ranks.first:
        finish(recipe, made, loop, out / "model")
    ranks.wait()
    return out / "model"


def going_on(recipe: Recipe, base: Path) -> Recipe:
    """A recipe that goes on from a model folder, with the folder's own vocabulary and its whole name.

    Text is framed here as x + eos and bos + y, so a model that expects other markers is refused.
    """
    if "from" not in recipe.model:
        return recipe
    folder = (base / str(recipe.model["from"])).resolve()
    described = read_description(folder)
    source, target = load_tokenizers(folder)
    markers = described.get("markers")
    if markers is not None and settings.parse(Markers, markers, str(folder)) != usual_markers(source, target):
        raise ValueError(f"{folder} puts other markers around its texts than training does here; it cannot go on")
    joint = described.get("target_tokenizer") is None
    return replace(recipe, model={**recipe.model, "from": str(folder)}, joint=joint)


def begin(recipe: Recipe, config: ModelConfig) -> nn.Module:
    """The model before its first step: freshly drawn, or as a folder has it, or fewer layers of it."""
    model = build(config)
    if "from" in recipe.model:
        put_weights(model, thin_out(weights_of(bundle.load(Path(recipe.model["from"])).model), model))
    return model


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Keep a second process out of a run's folder, and clear up after one that was killed there."""
    try:
        with only_one(out / ".lock", wait_seconds=0):
            storage.sweep(out)
            yield
    except TimeoutError:
        raise ValueError(f"another process is training in {out}; wait for it, or choose another --out") from None


def keep_recipe(recipe: Recipe, out: Path, *, resume: bool) -> None:
    """Write the recipe down as resolved; name what differs from the one that the run was started with."""
    path, text = out / "recipe.toml", settings.to_toml(settings.to_plain(recipe))
    if resume and path.exists() and (before := path.read_text(encoding="utf-8")) != text:
        changed = sorted(set(text.splitlines()) - set(before.splitlines()))
        log.warning("the recipe is not the one that this run was started with; now it says: %s", "; ".join(changed))
    path.write_text(text, encoding="utf-8")


class Interrupted(Exception):  # noqa: N818 - it is not an error
    """A run was asked to stop and can go on."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where a recipe's text is."""

    train: JoinedFiles
    dev_source: Path
    dev_target: Path


def locate(data: DataConfig, base: Path) -> Files:
    """Find a recipe's files: in the folder of its corpus, or relative to the recipe."""
    missing = [name for name in ("train_source", "train_target", "dev_source", "dev_target") if not getattr(data, name)]
    if missing:
        raise ValueError(f"the recipe's [data] section needs {', '.join(missing)}")
    sources, targets = _several(data.train_source), _several(data.train_target)
    if len(sources) != len(targets):
        raise ValueError(
            f"the recipe's data.train_source names {len(sources)} files but data.train_target {len(targets)}; "
            "each needs its partner, in the same order"
        )
    folder = fetch.get(data.corpus) if data.corpus else base
    pairs = zip(sources, targets, strict=True)
    return Files(
        train=JoinedFiles(
            parts=tuple(ParallelFiles(source=folder / left, target=folder / right) for left, right in pairs)
        ),
        dev_source=folder / data.dev_source,
        dev_target=folder / data.dev_target,
    )


def seen_from(folder: Path, data: DataConfig, base: Path) -> DataConfig:
    """The same files by their names from another folder, so that the recipe kept there can be run again."""
    if data.corpus:
        return data

    def moved(name: str) -> str:
        return os.path.relpath(base / name, folder) if name and not Path(name).is_absolute() else name

    def all_moved(names: str | tuple[str, ...]) -> str | tuple[str, ...]:
        return moved(names) if isinstance(names, str) else tuple(moved(name) for name in names)

    return replace(
        data,
        train_source=all_moved(data.train_source),
        train_target=all_moved(data.train_target),
        dev_source=moved(data.dev_source),
        dev_target=moved(data.dev_target),
        test_source=moved(data.test_source),
        test_target=moved(data.test_target),
    )


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def check(corpus: JoinedFiles) -> None:
    """Let the doctor look at the text first: what stops training is raised, what is left out is logged."""
    for part in corpus.parts:
        report = examine(part.source, part.target)
        if report.fatal:
            worst = next(finding for finding in report.findings if finding.kind.severity is Severity.FATAL)
            raise CorpusError(str(worst))
        log.info("%s: %s", " and ".join(file.name for file in part.files), report.balance)


def vocabularies(recipe: Recipe, data: Files, folder: Path, *, anew: bool) -> tuple[Tokenizer, Tokenizer]:
    """Learn the vocabularies from the training text, or take those of the model to go on from, or of this run."""
    names = ["joint"] if recipe.joint else ["source", "target"]
    if anew or not folder.exists():
        sources, targets = ([getattr(part, side) for part in data.train.parts] for side in ("source", "target"))
        sides = [sources + targets] if recipe.joint else [sources, targets]
        with storage.new_folder(folder) as aside:
            given = load_tokenizers(Path(recipe.model["from"])) if "from" in recipe.model else None
            for place, (name, files) in enumerate(zip(names, sides, strict=True)):
                made = train_from(recipe.vocabulary, _Lines(files)) if given is None else given[place]
                made.save(aside / f"{name}.json")
                storage.write_json(aside / f"{name}.facts.json", made.facts())
    storage.verify(folder)
    loaded = [
        Tokenizer.load(folder / f"{name}.json", storage.read_json(folder / f"{name}.facts.json")) for name in names
    ]
    return loaded[0], loaded[-1]


def prepare_pairs(
    corpus: JoinedFiles, folder: Path, encoder: PairEncoder, *, resume: bool, on_progress: OnProgress
) -> ShardedPairs:
    """Tokenise the training text, or take what this run made before; a run goes on with the same text or not at all."""
    before = Manifest.read(folder).made_from if resume and folder.exists() else None
    pairs = prepare(corpus, folder, encoder=encoder, on_progress=on_progress)
    if before is not None and before != pairs.manifest.made_from:
        names = ", ".join(map(str, corpus.files))
        raise ValueError(f"{names}: not the text that the run was begun with (see {folder}); begin anew")
    return pairs


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

    splitting = SubwordDropout(
        tokenizer, made.target_tokenizer or tokenizer, rate=recipe.data.split_pieces, longest=recipe.data.max_length
    )

    @lru_cache(maxsize=1)
    def batches(epoch: int) -> list[NDArray[np.int64]]:
        return plan.batches(epoch, ranks.rank)

    def batch_at(position: int) -> Batch:
        place = plan.position(position)
        rows = [corpus[int(row)] for row in batches(place.epoch)[place.batch]]
        rows = splitting.read(rows, seed=(recipe.training.seed, position, ranks.rank))
        batch = collate_pairs(rows, pad=tokenizer.pad_id, bos=tokenizer.bos_id, eos=tokenizer.eos_id)
        return batch.to(ranks.device)

    return Task(
        batch_at=batch_at,
        loss=partial(translation_loss, smoothing=recipe.training.smoothing, divergence=recipe.training.r_drop),
        validate=Validation(recipe, made, data),
        # Of equal BLEU (0 at the start, 100 on easy text) the lower loss is better; a real difference outweighs it.
        better=lambda scores: float(scores["bleu"]) - 1e-5 * float(scores["loss"]),
        split=Batch.split,
    )


def foresee_memory(loop: Loop[Batch]) -> None:
    """Say what the run will take; the plan begins with the largest batch, so a mistake shows at the first step."""
    largest = loop.task.batch_at(0)
    parts: dict[str, Any] = {name: part[:1] for name, part in vars(largest).items() if isinstance(part, Tensor)}
    row = replace(largest, **parts)
    lanes = 1 if loop.lanes is None else len(loop.lanes.generators)
    memory = estimate(loop.training, partial(loop.task.loss, loop.training.model, row), len(largest.source), lanes)
    log.info("memory: %s", memory)
    if memory.exceeds_this_machine():
        log.warning("that is more than this machine has; lower training.batch_tokens and raise training.accumulate")


def translation_loss(model: nn.Module, batch: Batch, *, smoothing: float, divergence: float = 0.0) -> Loss:
    """Cross-entropy of the next target token. Right padding needs no target mask: no token looks ahead."""
    wanted = batch.target_out[batch.target_keep]

    def states() -> Tensor:
        made: Tensor = model.states(batch.source, batch.target_in, source_keep=batch.source_keep)  # type: ignore[operator]
        return made[batch.target_keep]  # N D: padding is never scored against the whole vocabulary

    head: Any = model.head
    features, table, bias = head.projection(states())
    if not divergence:
        return projected_cross_entropy(features, table, bias, wanted, smoothing=smoothing)
    again, table, bias = head.projection(states())
    return projected_r_drop(features, again, table, bias, wanted, smoothing=smoothing, weight=divergence)


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
        self.translator = Translator(made)
        try:
            self.translator.encode(self.sources, recipe.decoding)  # now rather than at the first validation
        except ValueError as error:
            raise ValueError(f"{data.dev_source}: {error}") from error

    def __call__(self, model: nn.Module, step: int) -> Mapping[str, float | str]:
        nll, tokens = self.likelihood(model)
        count = self.recipe.scoring.sentences
        found = [t.text for t in self.translator.translate(self.sources[:count], self.recipe.decoding)]
        bleu = quick_bleu(found, self.references[:count], self.tokenise)
        log.info(
            "step %d: development loss %.3f, BLEU %.2f; %s → %s", step, nll / tokens, bleu, self.sources[0], found[0]
        )
        samples = {f"sample_{n}": f"{self.sources[n]} → {found[n]}" for n in range(min(3, len(found)))}
        return {
            "loss": nll / tokens,
            "perplexity": perplexity(nll, tokens),
            "bleu": bleu,
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
            loss = translation_loss(model, batch.to(next(model.parameters()).device), smoothing=0.0)
            nll, tokens = nll + float(loss.nll), tokens + loss.tokens
        return nll, tokens


def finish(recipe: Recipe, made: Bundle, loop: Loop[Batch], folder: Path) -> None:
    """Write the finished model folder: the mean of the last checkpoints, or the best one."""
    progress, checkpoints, count = loop.training.progress, loop.checkpoints, recipe.training.average
    trained = [step for step in checkpoints.planned_steps(progress.step) if step > 0]
    best = [progress.step if progress.best is None else progress.best_step]
    paths = [checkpoints.path(step) for step in (trained[-count:] if count > 1 else best)]
    put_weights(made.model, average(finished_weights(path) for path in paths))
    bundle.save(made, folder)


def _provenance(recipe: Recipe) -> dict[str, Any]:
    facts = {
        "recipe": recipe.name,
        "seed": recipe.training.seed,
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in _several(recipe.data.train_source)),
        "source_language": recipe.data.source_language,
        "target_language": recipe.data.target_language,
        "decoding": {name: getattr(recipe.decoding, name) for name in REMEMBERED},
        "tokenise": recipe.scoring.tokenise,
        "attribution": recipe.data.attribution,
        "licence": recipe.data.licence,
        "clearformer": __version__,
    }
    return {name: value for name, value in facts.items() if value is not None}

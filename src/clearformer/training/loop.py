"""The training loop: one for every task and device. What differs (data, loss, validation) is passed in.

A step is a pure function of what a checkpoint holds and of the position in the data plan, so that a run that was killed
and resumed ends with the same bits as one that was left alone.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from clearformer.foundation import storage
from clearformer.training.checkpoint import Checkpoints, Progress, TrainingState
from clearformer.training.distributed import Ranks
from clearformer.training.loss import Loss
from clearformer.training.metrics_log import MetricsLog
from clearformer.training.optimiser import MovingAverage, OptimiserConfig, make_optimiser
from clearformer.training.replicas import Replicas, count_replicas
from clearformer.training.schedule import Schedule, ScheduleConfig
from clearformer.training.signals import Stop
from clearformer.training.tuning import TuningConfig, shares_of_the_rate

log = logging.getLogger(__name__)
B = TypeVar("B")
Sums = dict[str, float]  # the loss, its count and its metrics, by name

AT_LEAST_ONE = (
    "steps", "save_every", "validate_every", "log_every",
    "batch_tokens", "accumulate", "keep", "average", "bad_updates",
)  # fmt: skip
HARMLESS = 0.01  # a model that is nearly perfect may have a batch a hundred times as hard: that is no explosion
ROLLBACKS = 10  # to one and the same checkpoint before we give up


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long, how often, and what to do when something goes wrong."""

    steps: int = 10_000  # updates of the weights
    save_every: int = 500  # steps between two checkpoints
    validate_every: int = 500  # steps between two looks at the development set, each of which saves, too
    log_every: int = 50  # steps between two lines of metrics.jsonl
    seed: int = 1  # of the first weights, the order of the data, and dropout
    batch_tokens: int = 4096  # most tokens in a batch, padding included, on its larger side; a picture counts as one
    batch_examples: int | None = None  # most examples in a batch, where that is less
    accumulate: int = 1  # micro-batches per update
    replicas: int = 0  # threads that share each batch by rows; 0 = as many as this machine has use for
    patience: int = 0  # validations without a better score before stopping early; 0 = never
    keep: int = 3  # checkpoints kept besides the best
    average: int = 1  # the finished model is the mean of this many last checkpoints
    precision: Literal["float32", "bfloat16"] = "float32"  # of the forward pass; bfloat16 where the machine has it
    spike: float = 100.0  # a loss this many times the running mean is not learned from
    bad_updates: int = 5  # so many in a row and the run goes back to its last checkpoint
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    tuning: TuningConfig = field(default_factory=TuningConfig)

    def __post_init__(self) -> None:
        for name in AT_LEAST_ONE:
            if getattr(self, name) < 1:
                raise ValueError(f"training.{name} must be at least 1, not {getattr(self, name)}")
        for name in ("seed", "replicas", "patience"):
            if getattr(self, name) < 0:
                raise ValueError(f"training.{name} must not be negative, but is {getattr(self, name)}")
        if self.batch_examples is not None and self.batch_examples < 1:
            raise ValueError(f"training.batch_examples must be at least 1, or left out, not {self.batch_examples}")
        warmup = self.schedule.warmup_steps(self.steps)
        if self.schedule.kind != "constant" and warmup >= self.steps > 1:
            raise ValueError(
                f"training.schedule.warmup is {warmup} steps, but the run has {self.steps}, so the learning rate would "
                "only rise; shorten the warm-up (a number below 1 is a share of the steps), or train longer"
            )


@dataclass(frozen=True, kw_only=True)
class LoopParts(Generic[B]):
    """What the loop does not know: where batches come from, what to make smaller, what is good."""

    batch_at: Callable[[int], B]  # position in the plan -> this rank's micro-batch, a pure function
    loss: Callable[[nn.Module, B], Loss]
    validate: Callable[[nn.Module, int], Mapping[str, float | str]]  # -> scores and samples to log; on every rank
    better: Callable[[Mapping[str, float | str]], float]  # a validation as one number, larger is better
    split: Callable[[B, int], Sequence[B]] | None = None  # share a batch's rows out to so many replicas
    follow: Callable[[B, Tensor, int], B] | None = None  # a batch with what the one before left to it, at a position


class LearnedPart(NamedTuple):
    """What is known of a batch, or a replica's share of it, when its gradients are there."""

    sums: Sums
    left: Tensor | None  # what its rows leave to the next batch


class WithLoss(nn.Module):
    """A model whose forward pass ends in its loss, so that what wraps a model (compile, FSDP2) sees all of the work."""

    def __init__(self, model: nn.Module, loss: Callable[[nn.Module, Any], Loss]) -> None:
        super().__init__()
        self.model, self._loss = model, loss

    def forward(self, batch: Any) -> Loss:
        return self._loss(self.model, batch)


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """What a watcher (a progress bar) is told after each step."""

    progress: Progress
    steps: int
    loss: float
    rate: float
    count_per_second: float  # of what the loss counts: tokens, pictures


class Loop(Generic[B]):
    """Everything that a run needs, put together; `run` trains until the last step, a signal, or no progress."""

    def __init__(
        self,
        model: nn.Module,
        parts: LoopParts[B],
        config: TrainingConfig,
        schedule: Schedule,
        folder: Path,
        ranks: Ranks,
    ) -> None:
        self.parts, self.config, self.schedule, self.folder, self.ranks = parts, config, schedule, folder, ranks
        optimiser = make_optimiser(model, config.optimiser, shares_of_the_rate(model, config.tuning.layer_decay))
        ema = MovingAverage(model, config.optimiser.ema) if config.optimiser.ema else None
        self.training = TrainingState(model, optimiser, Progress(), ema)
        self.with_loss = WithLoss(model, parts.loss)
        count = config.replicas or count_replicas(torch.get_num_threads(), config.batch_tokens, ranks=ranks.count)
        shared = parts.split is not None and count > 1
        self.replicas: Replicas[B] | None = Replicas(self.with_loss, count) if shared else None
        self.checkpoints = Checkpoints(
            folder / "checkpoints", keep=max(config.keep, config.average), planned=self.planned
        )
        self._saved: int | None = None  # the step of the checkpoint written or read last
        self._record: MetricsLog | None = None
        if ranks.first:
            storage.sweep(folder / "checkpoints")

    def planned(self, step: int) -> bool:
        """Whether a run saves at this step, whatever happens to it."""
        config = self.config
        return step in (0, config.steps) or step % config.save_every == 0 or step % config.validate_every == 0

    def resume(self) -> int:
        """Go on from the newest whole checkpoint; returns its step, 0 if there is none."""
        self._saved = self.checkpoints.load_newest(self.training)
        found = -1 if self._saved is None else self._saved
        first = int(self.ranks.share(found))  # and nobody writes before everybody has looked
        if first != found:
            raise RuntimeError(f"rank {self.ranks.rank} sees step {found}, the first one {first}: not the same folder?")
        if self._saved is not None and self.ranks.first:  # the kill may have come between a save and this
            self.checkpoints.tidy(self.training.progress)
        return self.training.progress.step

    def run(self, *, watch: Callable[[StepReport], None] = lambda report: None, stop: Stop | None = None) -> Progress:
        """Train to the last step, an early stop, or a signal; the last state is always saved."""
        stop = stop if stop is not None else Stop()
        if self.ranks.first:
            progress = self.training.progress
            self._record = MetricsLog(self.folder, keep=progress.records, step=progress.step)
        try:
            if self._saved is None:  # step 0, so that even the first steps can be gone back to
                self.save()
            while not self.done() and not self.ranks.any(stop.asked):
                self.advance(watch)
            if self.training.progress.step != self._saved:
                self.save()
        finally:
            if self._record is not None:
                self._record.close()
        return self.training.progress

    def done(self) -> bool:
        """At the last step, or without a better validation for too long."""
        progress = self.training.progress
        return progress.step >= self.config.steps or 0 < self.config.patience <= progress.stale

    def advance(self, watch: Callable[[StepReport], None]) -> None:
        """Try one update; if it was made, do what is due at the step that it reached."""
        started, before = time.perf_counter(), self.training.progress.step
        loss, count = self.update()
        watch(self.report(loss, count / (time.perf_counter() - started)))
        step = self.training.progress.step
        if step <= before:  # refused, perhaps rolled back: what is due here was done when we came here first
            return
        if step % self.config.log_every == 0:
            self.log()
        if step % self.config.validate_every == 0:
            self.validate()
        if self.planned(step):
            self.save()

    def save(self) -> None:
        """Write a checkpoint; the ranks hold the same, so one of them writes and the others wait."""
        if self._record is not None:
            self._record.sync()
        if self.ranks.first:
            self.checkpoints.save(self.training)
        self._saved = self.training.progress.step
        self.ranks.wait()

    def update(self) -> tuple[float, int]:
        """One optimiser step over `accumulate` micro-batches and all ranks; returns mean loss and what was counted."""
        progress = self.training.progress
        self.training.model.train()
        parts: list[Sums] = []
        for _ in range(self.config.accumulate):
            learned = self.learn(self.batch(), progress.position)
            parts += [part.sums for part in learned]
            self.training.left = _joined([part.left for part in learned])
            progress.position += 1
        names = list(parts[0])
        sums = dict(zip(names, self.ranks.sum(*(sum(part[name] for part in parts) for name in names)), strict=True))
        count = sums["count"]
        mean, norm = sums["loss"] / count, self.gather_gradients(count)
        if self.acceptable(mean, norm):
            self.apply(mean, norm, sums)
        else:
            self.refuse(mean)
        self.training.optimiser.zero_grad(set_to_none=True)
        return mean, int(count)

    def batch(self) -> B:
        """The micro-batch that comes next, with what the one before left to it."""
        position, left = self.training.progress.position, self.training.left
        batch = self.parts.batch_at(position)
        return batch if left is None or self.parts.follow is None else self.parts.follow(batch, left, position)

    def learn(self, batch: B, position: int) -> list[LearnedPart]:
        """Leave the gradients of a micro-batch behind; returns the sums of the loss and its metrics by replica."""
        if self.replicas is None or self.parts.split is None:
            torch.manual_seed(self.seed(position))
            return [self.learn_part(self.with_loss, batch)]
        rows = self.parts.split(batch, len(self.replicas.generators))
        seeds = [self.seed(position, replica) for replica in range(len(rows))]
        return self.replicas.learn(rows, seeds, self.learn_part)

    def learn_part(self, model: nn.Module, batch: B) -> LearnedPart:
        """Forward and backward."""
        device = next(model.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, self.config.precision == "bfloat16"):
            loss: Loss = model(batch)
        loss.total.backward()  # type: ignore[no-untyped-call]
        metrics = {name: float(value) for name, value in loss.metrics.items()}
        sums = {"loss": float(loss.total.detach()), "count": float(loss.count), **metrics}
        return LearnedPart(sums, None if loss.left is None else loss.left.detach())

    def seed(self, position: int, replica: int = 0) -> int:
        """Dropout depends on the seed, the place in the plan, rank and replica, on nothing that happened before."""
        return (((self.config.seed * 1_000_003 + position) * 1_009 + self.ranks.rank) * 1_013 + replica) % 2**63

    def gather_gradients(self, count: float) -> float:
        """Sum gradients over ranks, divide once by all that was counted, clip; returns the norm before clipping."""
        gradients = [p.grad for p in self.training.model.parameters() if p.grad is not None]
        self.ranks.sum_tensors(gradients)
        torch._foreach_mul_(gradients, 1 / count)
        limit = self.config.optimiser.clip or math.inf
        return float(nn.utils.clip_grad_norm_(self.training.model.parameters(), limit))

    def acceptable(self, loss: float, norm: float) -> bool:
        """Whether an update can be trusted: finite, and no spike."""
        smooth = self.training.progress.smooth_loss
        usual = math.inf if smooth is None else max(smooth, HARMLESS)
        return math.isfinite(loss) and math.isfinite(norm) and loss < self.config.spike * usual

    def apply(self, loss: float, norm: float, sums: Sums) -> None:
        """Make the step and count it."""
        progress = self.training.progress
        progress.step += 1
        for group in self.training.optimiser.param_groups:
            group["lr"] = self.schedule(progress.step) * group["share"]
        self.training.optimiser.step()
        # The fused optimiser writes without a mark; whoever keeps something made from the weights looks for one.
        torch.autograd.graph.increment_version(list(self.training.model.parameters()))
        if self.training.ema is not None:
            self.training.ema.update(self.training.model, progress.step)
        progress.count += int(sums["count"])
        progress.skipped_in_a_row = 0
        progress.smooth_loss = loss if progress.smooth_loss is None else 0.98 * progress.smooth_loss + 0.02 * loss
        for name, value in {**sums, "loss": loss * sums["count"], "norm": norm, "steps": 1}.items():
            progress.window[name] = progress.window.get(name, 0.0) + value

    def refuse(self, loss: float) -> None:
        """Leave a bad update out, and count it; after several in a row something is wrong with the weights, too."""
        progress = self.training.progress
        self.training.left = None  # it may be what is wrong
        progress.skipped += 1
        progress.skipped_in_a_row += 1
        log.warning("step %d: loss %g is not usable; update skipped", progress.step + 1, loss)
        if progress.skipped_in_a_row >= self.config.bad_updates:
            self.roll_back()

    def roll_back(self) -> None:
        """Take the weights of the last checkpoint, and go on behind the data that led here."""
        failed = self.training.progress
        self._saved = self.checkpoints.load_planned(self.training)
        restored = self.training.progress
        if failed.rollbacks - restored.rollbacks >= ROLLBACKS:
            raise ArithmeticError(
                f"the loss is unusable again after {ROLLBACKS} rollbacks to step {restored.step}; "
                "lower training.schedule.peak, or look for what is wrong with the data"
            )
        self.training.left = None  # of other data than what comes next
        restored.position, restored.records = failed.position, failed.records
        restored.skipped, restored.rollbacks = failed.skipped, failed.rollbacks + 1
        log.warning("%d bad updates in a row; back to step %d", self.config.bad_updates, restored.step)
        self.write("rollback", from_step=failed.step, skipped=restored.skipped, rollbacks=restored.rollbacks)

    def log(self) -> None:
        """A line of averages since the last one."""
        progress = self.training.progress
        window = progress.window
        means = {name: window[name] / window["count"] for name in window.keys() - {"count", "norm", "steps"}}
        if (nll := means.pop("nll", None)) is not None:
            means["perplexity"] = math.exp(min(700.0, nll))
        self.write(
            "train",
            **dict(sorted(means.items())),
            learning_rate=self.schedule(progress.step),
            gradient_norm=window["norm"] / window["steps"],
            count=progress.count,
            skipped=progress.skipped,
            rollbacks=progress.rollbacks,
            time=time.time(),
        )
        progress.window = {}

    def write(self, kind: str, **values: float | str) -> None:
        """Count a record on every rank, and write it on the first."""
        progress = self.training.progress
        progress.records += 1
        if self._record is not None:
            self._record.write(kind, progress.step, **values)

    def validate(self) -> None:
        """Look at the development set with the averaged weights, on every rank; the first one's word counts."""
        model, ema, progress = self.training.model, self.training.ema, self.training.progress
        model.eval()
        if ema is not None:
            ema.swap(model)
        scores = self.parts.validate(model, progress.step)
        if ema is not None:
            ema.swap(model)
        value = self.ranks.share(self.parts.better(scores))
        if value > (-math.inf if progress.best is None else progress.best):
            progress.best, progress.best_step, progress.stale = value, progress.step, 0
        else:
            progress.stale += 1
        self.write("validation", **scores)

    def report(self, loss: float, speed: float) -> StepReport:
        """The present state for whoever watches."""
        progress = self.training.progress
        rate = self.schedule(max(1, progress.step))
        return StepReport(progress=progress, steps=self.config.steps, loss=loss, rate=rate, count_per_second=speed)


def _joined(left: Sequence[Tensor | None]) -> Tensor | None:
    """What the replicas' rows leave behind, in the order of the rows."""
    found = [part for part in left if part is not None]
    return torch.cat(found) if found else None

"""The training loop: one for every task and device. What differs (data, loss, validation) is passed in.

A step is a pure function of what a checkpoint holds and of the position in the data plan, so that a run that was killed
and resumed ends with the same bits as one that was left alone.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

import torch
from torch import nn

from clearformer.training.checkpoint import Checkpoints, Progress, Training
from clearformer.training.distributed import Ranks
from clearformer.training.loss import Loss
from clearformer.training.optimiser import MovingAverage, OptimiserConfig, make_optimiser
from clearformer.training.record import Record
from clearformer.training.schedule import Schedule, ScheduleConfig
from clearformer.training.signals import Stop

log = logging.getLogger(__name__)
B = TypeVar("B")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long, how often, and what to do when something goes wrong."""

    steps: int = 10_000
    save_every: int = 500
    validate_every: int = 500
    log_every: int = 50
    seed: int = 1
    batch_tokens: int = 4096  # ceiling of padded tokens on the larger side of a batch
    accumulate: int = 1  # micro-batches an update
    smoothing: float = 0.1
    r_drop: float = 0.0  # weight of the divergence between two passes; 0 = one pass
    patience: int = 0  # validations without a better score before stopping early; 0 = never
    keep: int = 3  # checkpoints kept besides the best
    average: int = 1  # the finished model is the mean of this many last checkpoints
    precision: Literal["float32", "bfloat16"] = "float32"
    spike: float = 100.0  # a loss this many times the running mean is not learned from
    bad_updates: int = 5  # so many in a row and the run goes back to its last checkpoint
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)

    def __post_init__(self) -> None:
        for name in (
            "steps",
            "save_every",
            "validate_every",
            "log_every",
            "batch_tokens",
            "accumulate",
            "keep",
            "average",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"training.{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"training.smoothing must be at least 0 and below 1, not {self.smoothing}")


@dataclass(frozen=True, kw_only=True)
class Task(Generic[B]):
    """What the loop does not know: where batches come from, what to make smaller, what is good."""

    batch_at: Callable[[int], B]  # position in the plan -> this rank's micro-batch, a pure function
    loss: Callable[[nn.Module, B], Loss]
    validate: Callable[[nn.Module, int], Mapping[str, float | str]]  # -> scores and samples to log
    better: Callable[[Mapping[str, float | str]], float]  # a validation as one number, larger is better


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a watcher (a progress bar) is told after each step."""

    progress: Progress
    steps: int
    loss: float
    rate: float
    tokens_per_second: float


class Loop(Generic[B]):
    """Everything that a run needs, put together; `run` goes on until done, stopped or bored."""

    def __init__(
        self, model: nn.Module, task: Task[B], config: TrainingConfig, schedule: Schedule, folder: Path, ranks: Ranks
    ) -> None:
        self.task, self.config, self.schedule, self.ranks = task, config, schedule, ranks
        optimiser = make_optimiser(model, config.optimiser)
        ema = MovingAverage(model, config.optimiser.ema) if config.optimiser.ema else None
        self.training = Training(model, optimiser, Progress(), ema)
        self.checkpoints = Checkpoints(folder / "checkpoints", max(config.keep, config.average))
        self.folder = folder

    def resume(self) -> int:
        """Go on from the newest whole checkpoint; returns its step, 0 if there is none."""
        return self.checkpoints.load_newest(self.training) or 0

    def run(self, *, watch: Callable[[Report], None] = lambda report: None, stop: Stop | None = None) -> Progress:
        """Train to the last step, an early stop, or a signal; the last state is always saved."""
        config, record = self.config, Record(self.folder, resume_from=self.training.progress.step)
        stop = stop if stop is not None else Stop()
        if not self.checkpoints.steps():  # step 0, so that even the first steps can be gone back to
            self.save()
        try:
            while (progress := self.training.progress).step < config.steps and not self.bored() and not stop.asked:
                started = time.perf_counter()
                loss, tokens = self.update()
                watch(self.report(loss, tokens / (time.perf_counter() - started)))
                progress = self.training.progress  # a rollback puts another one in its place
                self.log(record)
                best = progress.step % config.validate_every == 0 and self.validate(record)
                if best or progress.step % config.save_every == 0:
                    self.save(best=best)
            if self.training.progress.step not in self.checkpoints.steps():
                self.save()
        finally:
            record.close()
        return self.training.progress

    def save(self, *, best: bool = False) -> None:
        """Write a checkpoint; the ranks hold the same, so one of them writes and the others wait."""
        if self.ranks.first:
            self.checkpoints.save(self.training, best=best)
        self.ranks.wait()

    def bored(self) -> bool:
        """Whether validation has not improved for too long."""
        return 0 < self.config.patience <= self.training.progress.stale

    def update(self) -> tuple[float, int]:
        """One optimiser step over `accumulate` micro-batches and all ranks; returns mean loss and token count."""
        model, progress = self.training.model, self.training.progress
        model.train()
        total, nll, tokens = 0.0, 0.0, 0
        for _ in range(self.config.accumulate):
            batch = self.task.batch_at(progress.position)
            self.seed(progress.position)
            with torch.autocast(
                next(model.parameters()).device.type, torch.bfloat16, self.config.precision == "bfloat16"
            ):
                loss = self.task.loss(model, batch)
            loss.total.backward()  # type: ignore[no-untyped-call]
            total, nll, tokens = total + float(loss.total.detach()), nll + float(loss.nll), tokens + loss.tokens
            progress.position += 1
        total, nll, tokens = self.ranks.sum(total, nll, tokens)
        mean, norm = total / tokens, self.gather_gradients(tokens)
        if self.acceptable(mean, norm):
            self.apply(mean, norm, nll, tokens)
        else:
            self.refuse(mean)
        self.training.optimiser.zero_grad(set_to_none=True)
        return mean, tokens

    def seed(self, position: int) -> None:
        """Dropout depends on the seed, the place in the plan and the rank, on nothing that happened before."""
        torch.manual_seed(((self.config.seed * 1_000_003 + position) * 1_009 + self.ranks.rank) % 2**63)

    def gather_gradients(self, tokens: int) -> float:
        """Sum gradients over ranks, divide once by all tokens, clip; returns the norm before clipping."""
        gradients = [p.grad for p in self.training.model.parameters() if p.grad is not None]
        self.ranks.sum_tensors(gradients)
        torch._foreach_mul_(gradients, 1 / tokens)
        limit = self.config.optimiser.clip or math.inf
        return float(nn.utils.clip_grad_norm_(self.training.model.parameters(), limit))

    def acceptable(self, loss: float, norm: float) -> bool:
        """Whether an update can be trusted: finite, and no spike."""
        smooth = self.training.progress.smooth_loss
        return math.isfinite(loss) and math.isfinite(norm) and (smooth is None or loss < self.config.spike * smooth)

    def apply(self, loss: float, norm: float, nll: float, tokens: int) -> None:
        """Make the step and count it."""
        progress = self.training.progress
        progress.step += 1
        for group in self.training.optimiser.param_groups:
            group["lr"] = self.schedule(progress.step)
        self.training.optimiser.step()
        if self.training.ema is not None:
            self.training.ema.update(self.training.model, progress.step)
        progress.tokens += tokens
        progress.skipped_in_a_row = 0
        progress.smooth_loss = loss if progress.smooth_loss is None else 0.98 * progress.smooth_loss + 0.02 * loss
        for name, value in (("loss", loss * tokens), ("nll", nll), ("tokens", tokens), ("norm", norm), ("steps", 1)):
            progress.window[name] = progress.window.get(name, 0.0) + value

    def refuse(self, loss: float) -> None:
        """Leave a bad update out; after several in a row go back to the last checkpoint and on behind the bad data."""
        progress = self.training.progress
        progress.skipped += 1
        progress.skipped_in_a_row += 1
        log.warning("step %d: loss %g is not usable; update skipped", progress.step + 1, loss)
        if progress.skipped_in_a_row < self.config.bad_updates:
            return
        self.checkpoints.load_newest(self.training)
        restored = self.training.progress
        log.warning("%d bad updates in a row; back to step %d", self.config.bad_updates, restored.step)
        restored.position, restored.skipped = progress.position, progress.skipped
        restored.rollbacks = progress.rollbacks + 1
        if restored.rollbacks > 10 * max(1, restored.step):
            raise ArithmeticError("the loss stays unusable after every rollback; lower schedule.peak or check the data")

    def log(self, record: Record) -> None:
        """A line of averages every `log_every` steps."""
        progress = self.training.progress
        window = progress.window
        if not window or progress.step % self.config.log_every:
            return
        record.write(
            "train",
            progress.step,
            loss=window["loss"] / window["tokens"],
            perplexity=math.exp(min(700.0, window["nll"] / window["tokens"])),
            learning_rate=self.schedule(progress.step),
            gradient_norm=window["norm"] / window["steps"],
            tokens=progress.tokens,
            skipped=progress.skipped,
            time=time.time(),
        )
        progress.window = {}

    def validate(self, record: Record) -> bool:
        """Look at the development set with the averaged weights; returns whether it is the best so far."""
        model, ema, progress = self.training.model, self.training.ema, self.training.progress
        model.eval()
        if ema is not None:
            ema.swap(model)
        scores = self.task.validate(model, progress.step)
        if ema is not None:
            ema.swap(model)
        value = self.task.better(scores)
        improved = progress.best is None or value > progress.best
        if improved:
            progress.best, progress.best_step, progress.stale = value, progress.step, 0
        else:
            progress.stale += 1
        record.write("validation", progress.step, **scores)
        return improved

    def report(self, loss: float, speed: float) -> Report:
        """The present state for whoever watches."""
        progress = self.training.progress
        rate = self.schedule(max(1, progress.step))
        return Report(progress=progress, steps=self.config.steps, loss=loss, rate=rate, tokens_per_second=speed)

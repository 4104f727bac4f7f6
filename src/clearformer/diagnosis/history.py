"""What the records of a run show: was it long enough, did it overfit, was the learning rate too high?

Every task writes the same records, so this holds for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from clearformer.diagnosis.finding import Symptom
from clearformer.foundation import storage
from clearformer.training.checkpoint import PROGRESS, Checkpoints, Progress
from clearformer.training.metrics_log import METRICS, read_records

STILL_FALLING = 0.02  # of the loss, over the last tenth of the run: a curve that has flattened falls by less
ROSE = 0.10  # of the development loss since its lowest point: more than it wavers
ROSE_IN_TRAINING = 0.05  # of the training loss, against the lowest quarter before
SKIPPED = 0.01  # of all updates
SPIKE = 20.0  # times the usual size of the gradient
SETTLED = 0.01  # a loss below this is nothing any more, whatever its share falls by

Curve = Sequence[tuple[int, float]]  # (step, loss), in order


@dataclass(frozen=True, kw_only=True)
class History:
    """How a run went. finished: it saved its model, at its last step or at an early stop; passes: over the data, where
    its size is known; gradients: their sizes, record by record."""

    steps: int
    planned: int
    finished: bool
    passes: float | None
    skipped: int
    rollbacks: int
    train: Curve
    dev: Curve
    gradients: Sequence[float] = ()


def read_history(run: Path, *, planned: int, tokens_in_corpus: int | None = None) -> History:
    """Read the history from the folder of a run."""
    records = read_records(run / METRICS)
    checkpoints = Checkpoints(run / "checkpoints", keep=1)
    if not (steps := checkpoints.steps()):
        raise ValueError(f"{run} has no checkpoint: the run was stopped before its first step; start it again")
    progress = Progress(**storage.read_json(checkpoints.path(steps[-1]) / PROGRESS))
    return History(
        steps=progress.step,
        planned=planned,
        finished=(run / "model").exists(),
        passes=None if tokens_in_corpus is None else progress.count / max(1, tokens_in_corpus),
        skipped=progress.skipped,
        rollbacks=progress.rollbacks,
        train=[(record["step"], record["loss"]) for record in records if record["kind"] == "train"],
        dev=[(record["step"], record["loss"]) for record in records if record["kind"] == "validation"],
        gradients=[record.get("gradient_norm", 0.0) for record in records if record["kind"] == "train"],
    )


def judge_history(history: History) -> list[Symptom]:
    """The findings, the first cause first."""
    found = [_rate_too_high(history), _spikes(history), _too_few_steps(history), _memorised(history)]
    return [finding for finding in found if finding is not None]


def _rate_too_high(history: History) -> Symptom | None:
    quarters = _quarters([loss for _, loss in history.train])
    rise = quarters[-1] / min(quarters[:-1]) - 1 if len(quarters) == 4 else 0.0
    skipped = history.skipped / max(1, history.steps)
    if rise <= ROSE_IN_TRAINING and skipped <= SKIPPED and not history.rollbacks:
        return None
    return Symptom(
        name="rate-too-high",
        says="training is unstable: the loss rises, or updates had to be skipped",
        remedy="Halve training.schedule.peak, lengthen training.schedule.warmup, or set training.optimiser.clip = 1.",
        evidence={
            "loss_rise": round(rise, 4),
            "updates_skipped": history.skipped,
            "rollbacks": history.rollbacks,
            "steps": history.steps,
        },
    )


def _spikes(history: History) -> Symptom | None:
    """Single batches that pull far more than the others; the first quarter of a run is allowed to be wild.

    What is learned by heart hardly pulls any more, and then every new batch stands out: so a spike must also be one
    beside the first quarter.
    """
    quarter = len(history.gradients) // 4
    sizes = history.gradients[quarter:]
    if len(sizes) < 8:
        return None
    usual = max(median(sizes), median(history.gradients[:quarter]))
    spikes = [size for size in sizes if not size <= SPIKE * usual]  # also what is no number
    if not spikes or usual <= 0:
        return None
    return Symptom(
        name="gradient-spikes",
        says="some batches pulled the weights many times as hard as the others",
        remedy="Look for broken examples with `clearformer doctor`, and set training.optimiser.clip = 1.",
        evidence={"spikes": len(spikes), "largest": float(f"{max(spikes):.4g}"), "usual": float(f"{usual:.4g}")},
    )


def _too_few_steps(history: History) -> Symptom | None:
    """Stopped early, the text not even read once, or a loss that was still falling."""
    curve = history.dev if len(history.dev) >= 3 else history.train
    fall = _fall_at_the_end(curve, history.steps)
    unread = history.passes is not None and history.passes < 1
    if history.finished and not unread and fall <= STILL_FALLING:
        return None
    reason = (
        f"the run was stopped at step {history.steps:,} of {history.planned:,}"
        if not history.finished
        else "not all of the text was read even once"
        if unread
        else "the loss was still falling when the run ended"
    )
    return Symptom(
        name="too-few-steps",
        says=f"training was too short: {reason}",
        remedy="Continue with --resume if it was stopped; otherwise raise training.steps, first to twice as many.",
        evidence={
            "steps": history.steps,
            "planned": history.planned,
            **({} if history.passes is None else {"passes": round(history.passes, 2)}),
            "fall_in_last_tenth": round(fall, 4),
        },
    )


def _memorised(history: History) -> Symptom | None:
    if len(history.dev) < 3:
        return None
    best_step, best = min(history.dev, key=lambda point: point[1])
    last_step, last = history.dev[-1]
    at_best = [loss for step, loss in history.train if step <= best_step]
    learned_since = not at_best or history.train[-1][1] < at_best[-1]  # or it is not learning that went wrong
    if last <= (1 + ROSE) * best or not learned_since:
        return None
    return Symptom(
        name="overfits",
        says="the development loss rose while the training loss fell: the model memorised its examples",
        remedy="More data helps most; then more dropout, a smaller model, or fewer steps (training.patience).",
        evidence={
            "lowest_dev_loss": round(best, 4),
            "at_step": best_step,
            "last_dev_loss": round(last, 4),
            "last_step": last_step,
        },
    )


def _fall_at_the_end(curve: Curve, steps: int) -> float:
    """The share by which the loss fell over the last tenth of the run; 0 if there are too few points to tell."""
    if len(curve) < 3:
        return 0.0
    last_step, last = curve[-1]
    before = [(step, loss) for step, loss in curve[:-1] if last_step - step >= steps / 10] or [curve[-2]]
    step, loss = before[-1]
    if loss < SETTLED:
        return 0.0
    return (1 - last / loss) * (steps / 10) / (last_step - step)  # curves are close to straight over so short a piece


def _quarters(losses: Sequence[float]) -> list[float]:
    if len(losses) < 8:
        return []
    size = len(losses) // 4
    return [fmean(losses[start : start + size]) for start in range(len(losses) - 4 * size, len(losses), size)]

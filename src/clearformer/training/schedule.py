"""The learning rate as a function of the step: warm up, then go down in one of four ways."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Schedule = Callable[[int], float]


@dataclass(frozen=True, kw_only=True)
class ScheduleConfig:
    """How the learning rate changes with the step. A warm-up given as a share follows when `steps` is changed."""

    # how the rate goes down after the warm-up
    kind: Literal["inverse-sqrt", "cosine", "linear", "constant"] = "inverse-sqrt"
    peak: float | None = None  # highest learning rate; left out: the 2017 formula, (dim · warmup)^-½
    warmup: int | float = 4000  # steps in which the rate rises to the peak; below 1, a share of all steps
    floor: float = 0.0  # where cosine and linear end

    def __post_init__(self) -> None:
        if self.warmup <= 0 or (self.warmup > 1 and self.warmup != int(self.warmup)):
            raise ValueError(
                f"schedule.warmup must be a number of steps, or a share of them below 1, not {self.warmup}"
            )
        if self.peak is not None and self.peak <= 0:
            raise ValueError(f"schedule.peak must be above 0, not {self.peak}")
        if self.floor < 0:
            raise ValueError(f"schedule.floor must not be negative, but is {self.floor}")

    def warmup_steps(self, steps: int) -> int:
        """The warm-up of a run of so many steps."""
        return max(1, round(self.warmup * steps)) if self.warmup < 1 else int(self.warmup)


def make_schedule(config: ScheduleConfig, *, dim: int, steps: int) -> Schedule:
    """The rate at each step, counted from 1."""
    warmup = config.warmup_steps(steps)
    peak = config.peak if config.peak is not None else (dim * warmup) ** -0.5
    after: dict[str, Schedule] = {
        # with the default peak this is d^-0.5 · min(step^-0.5, step · warmup^-1.5) (Vaswani et al., 2017, eq. 3)
        "inverse-sqrt": lambda step: peak * math.sqrt(warmup / step),
        "cosine": lambda step: config.floor + (peak - config.floor) * (1 + math.cos(math.pi * _done(step))) / 2,
        "linear": lambda step: config.floor + (peak - config.floor) * (1 - _done(step)),
        "constant": lambda step: peak,
    }

    def _done(step: int) -> float:
        return min(1.0, (step - warmup) / max(1, steps - warmup))

    return lambda step: peak * step / warmup if step < warmup else after[config.kind](step)

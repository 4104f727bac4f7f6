"""From numbers to a verdict, by one rule for all experiments.

A claim is cut into checks: a measured number per seed and the bounds in which it would have to lie. A check that
passes for every seed is met, one that passes for none is not met, and one that passes for some is open. Then

    does not hold                     if any check of the claim is not met
    cannot be settled at this scale   if none is, but a check is open
    holds with a condition            if the claim's checks are met, and so is one of the conditions
    holds                             otherwise

A condition is a check of what limits the claim: where it is met, the claim is true only with an addition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clearformer.lab.bilingual import Bilingual

Verdict = Literal["holds", "holds with a condition", "does not hold", "cannot be settled at this scale"]
State = Literal["met", "not met", "open"]

VERDICTS: dict[Verdict, Bilingual] = {
    "holds": Bilingual("holds", "成立"),
    "holds with a condition": Bilingual("holds with a condition", "有条件地成立"),
    "does not hold": Bilingual("does not hold", "不成立"),
    "cannot be settled at this scale": Bilingual("cannot be settled at this scale", "在这个规模下无法判定"),
}
STATES: dict[State, Bilingual] = {
    "met": Bilingual("met", "满足"),
    "not met": Bilingual("not met", "不满足"),
    "open": Bilingual("open: within the spread", "未定：在离散范围之内"),
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number per seed, and the bounds in which it lies if what is said is true."""

    says: Bilingual
    values: Sequence[float]
    low: float | None = None
    high: float | None = None
    enough: bool = True  # False: too few seeds to tell an effect from chance, so it stays open

    def __post_init__(self) -> None:
        if not self.values or (self.low is None and self.high is None):
            raise ValueError(f"a check needs a number and a bound, or it could not fail: {self.says.en}")

    @property
    def state(self) -> State:
        """Whether the numbers of all seeds, of none, or of some lie within the bounds."""
        if not self.enough:
            return "open"
        passed = [self._within(value) for value in self.values]
        return "met" if all(passed) else "open" if any(passed) else "not met"

    @property
    def bounds(self) -> str:
        """As a formula: ≥ 0.5, ≤ 2, or 0.9 … 1.1."""
        if self.low is not None and self.high is not None:
            return f"{number(self.low)} … {number(self.high)}"
        return f"≥ {number(self.low)}" if self.low is not None else f"≤ {number(self.high or 0.0)}"

    def _within(self, value: float) -> bool:
        """A value that is not a number lies nowhere."""
        above = self.low is None or value >= self.low
        below = self.high is None or value <= self.high
        return value == value and above and below


def judge(claims: Sequence[Check], conditions: Sequence[Check] = ()) -> Verdict:
    """The rule above."""
    if not claims:
        raise ValueError("a verdict needs at least one check of the claim")
    states = [check.state for check in claims]
    if "not met" in states:
        return "does not hold"
    limits = [check.state for check in conditions]
    if "open" in states + limits:
        return "cannot be settled at this scale"
    return "holds with a condition" if "met" in limits else "holds"


def margin(larger: Sequence[float], smaller: Sequence[float]) -> float:
    """How far the worst seed of one group lies above the best of the other.

    Above zero, the two groups do not overlap; below, their difference is smaller than the spread over seeds.
    """
    return min(larger) - max(smaller)


def number(value: float) -> str:
    """Four digits, without an exponent where one can do without."""
    if value == 0:
        return "0"
    if value != value:
        return "–"
    if abs(value) >= 1e9 or abs(value) < 1e-4:
        digits, _, power = f"{value:.3g}".partition("e")
        return (f"{digits}e{int(power)}" if power else digits).replace("-", "−")
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return digits.replace("-", "−")


def spread(values: Sequence[float]) -> str:
    """The mean, and behind it the smallest and largest where they differ."""
    mean = sum(values) / len(values)
    low, high = min(values), max(values)
    if len(values) == 1 or high - low <= 1e-9 * max(abs(low), abs(high)):
        return number(mean)
    return f"{number(mean)} ({number(low)} … {number(high)})"


RULE = Bilingual(
    "A check is met if it passes for every seed, not met if it passes for none, and open if seeds disagree. A claim "
    "does not hold if one of its checks is not met; it cannot be settled if one is open; it holds with a condition if "
    "all are met and a limitation was measured, too; otherwise it holds.",
    "一项检验若对所有种子都通过，即为“满足”；若对任何种子都不通过，即为“不满足”；若各种子结果不一，即为“未定”。"
    "论断的检验中只要有一项不满足，论断就不成立；有一项未定，就无法判定；全部满足但同时测到了某个限制，则有条件地成立；"
    "其余情况成立。",
)

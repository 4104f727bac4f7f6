"""What an experiment is: texts in two languages, a function that measures, and one that concludes.

`measure` runs for one seed and one case and returns plain numbers, which are kept on disk; so a run that was killed
resumes where it was. `conclude` turns them into tables, figures and checks, from which the verdict follows
(`verdicts.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from clearformer.lab.bilingual import Bilingual, Sayable
from clearformer.lab.verdicts import Check, Verdict, judge

Scale = Literal["quick", "full"]
Measured = dict[str, Any]  # plain data, as JSON has it


class DataNeededError(ValueError):
    """An experiment needs files that are not here; the message says how to get them."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run of `measure`. case: one of the experiment's, where it has several."""

    scale: Scale
    seed: int
    case: str = ""

    @property
    def quick(self) -> bool:
        """Whether seconds have to suffice."""
        return self.scale == "quick"


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a trial gave. seconds: how long it took."""

    trial: Trial
    values: Measured
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MeasuredTable:
    """Numbers under names."""

    title: Bilingual
    columns: Sequence[Sayable]
    rows: Sequence[Sequence[Sayable | float | int]]


@dataclass(frozen=True, kw_only=True)
class MeasuredFigure:
    """A drawing in each language. lines: what it draws, where it is lines, for a terminal."""

    name: str
    caption: Bilingual
    svg: Bilingual
    lines: Sequence[tuple[Bilingual, Sequence[float]]] = ()


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What came out, and the verdict that follows from it."""

    claims: Sequence[Check]
    conditions: Sequence[Check] = ()
    tables: Sequence[MeasuredTable] = ()
    figures: Sequence[MeasuredFigure] = ()

    @property
    def verdict(self) -> Verdict:
        """Never written down: it follows from the checks."""
        return judge(self.claims, self.conditions)


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """How many seeds each scale takes."""

    quick: int = 2
    full: int = 5

    def at(self, scale: Scale) -> range:
        """The seeds themselves."""
        return range(self.quick if scale == "quick" else self.full)


ONCE = Seeds(quick=1, full=1)  # for what draws nothing at random


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question, what the notes say, what is expected and why, and the code that finds out."""

    name: str
    number: str  # of the question among the notes' twenty; a dash for the others
    question: Bilingual
    claim: Bilingual  # what the notes say; judged as it stands
    expected: Bilingual  # the numbers that one should see
    answer: Bilingual  # three or four sentences that would pass an interview
    code: Sequence[str]  # where in the package the thing is
    measure: Callable[[Trial], Measured]
    conclude: Callable[[Sequence[Measurement]], Findings]
    seeds: Seeds = field(default_factory=Seeds)
    cases: Sequence[str] = ("",)
    minutes: float = 0.1  # a full run, about
    timed: bool = False  # measures time: the numbers differ from machine to machine, and from run to run

    def trials(self, scale: Scale) -> list[Trial]:
        """Everything that a run consists of."""
        return [Trial(scale=scale, seed=seed, case=case) for case in self.cases for seed in self.seeds.at(scale)]


def column(measurements: Sequence[Measurement], key: str, case: str | None = None) -> list[float]:
    """One number per seed. case: only of this case."""
    return [float(one.values[key]) for one in measurements if case is None or one.trial.case == case]


def mean_lists(measurements: Sequence[Measurement], key: str, case: str | None = None) -> list[float]:
    """Lists of the same length, averaged over seeds place by place."""
    lists = [one.values[key] for one in measurements if case is None or one.trial.case == case]
    return [sum(place) / len(lists) for place in zip(*lists, strict=True)]

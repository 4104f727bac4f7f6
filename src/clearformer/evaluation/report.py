"""What a model gets wrong: scores by class, which class is taken for which, and its most confident mistakes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

WORST = 10  # mistakes that are kept
SHOWN = 12  # classes in a table or picture; the others are counted


@dataclass(frozen=True, kw_only=True)
class ClassScore:
    """One class. count: how many examples are of it; found: how many the model took for it."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int
    found: int


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Which class is taken for which. Row: the true class; column: what the model said; the most frequent first."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    def first(self, most: int) -> "Confusion":
        """The most frequent classes only."""
        return Confusion(labels=self.labels[:most], counts=[row[:most] for row in self.counts[:most]])


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """An example that the model got wrong. place: file and line where it stands, as far as known."""

    text: str
    wanted: str
    found: str
    probability: float
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class ErrorReport:
    """mistaken: how many mistakes there are, of which `mistakes` are those that the model was surest of."""

    scores: Mapping[str, float | str]
    classes: Sequence[ClassScore] = ()
    confusion: Confusion | None = None
    mistakes: Sequence[Mistake] = ()
    mistaken: int = 0
    notes: Sequence[str] = field(default_factory=tuple)

    def plain(self) -> dict[str, Any]:
        """As report.json has it. A model without a mistake has an empty list of them."""
        told = {name: value for name, value in asdict(self).items() if value not in (None, (), [])}
        return {"mistakes": [], **told}


def worst(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Those that the model was surest of; the order of the examples decides among equals."""
    return sorted(mistakes, key=lambda one: -one.probability)[:WORST]


def score_by_class(found: Sequence[str], wanted: Sequence[str]) -> list[ClassScore]:
    """Every class that occurs, the most frequent first."""
    right = Counter(true for said, true in zip(found, wanted, strict=True) if said == true)
    return class_scores(right, Counter(found), Counter(wanted))


def class_scores(right: Counter[str], found: Counter[str], wanted: Counter[str]) -> list[ClassScore]:
    """Precision, recall and F1 from counts. What is divided by nothing is 0."""
    names = sorted(found.keys() | wanted.keys(), key=lambda name: (-wanted[name], -found[name], name))
    return [
        ClassScore(
            name=name,
            precision=right[name] / found[name] if found[name] else 0.0,
            recall=right[name] / wanted[name] if wanted[name] else 0.0,
            f1=2 * right[name] / (found[name] + wanted[name]),
            count=wanted[name],
            found=found[name],
        )
        for name in names
    ]


def confuse(pairs: Iterable[tuple[str, str]]) -> Confusion:
    """Count pairs of true class and what the model said."""
    counts = Counter(pairs)
    often: Counter[str] = Counter()
    for (true, said), count in counts.items():
        often[true] += count
        often[said] += 0  # a class that is only said has its place as well
    labels = sorted(often, key=lambda name: (-often[name], name))
    return Confusion(labels=labels, counts=[[counts[(true, said)] for said in labels] for true in labels])

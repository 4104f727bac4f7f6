"""What the labels of training texts are, as a network is to give them: places of labels, or a number."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.data.readers.label_cells import LabelKind
from clearformer.data.readers.labelled import LabelledText
from clearformer.data.readers.pictures import label_order
from clearformer.data.readers.soft_labels import SoftText
from clearformer.data.readers.tables import LabelledError
from clearformer.folder.preprocessing import Outcome
from clearformer.tasks.label_objectives import CountedObjective, LabelObjective


@dataclass(frozen=True, kw_only=True)
class Goals:
    """What the labels of the training texts are: their names and counts, or how the numbers are spread."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    texts: int
    outcome: Outcome

    @classmethod
    def of(cls, rows: Sequence[LabelledText], kind: LabelKind, names: Sequence[str] | None = None) -> "Goals":
        """Look at the training texts. names: the labels in an order that somebody gave."""
        if kind == "number":
            values = np.array([float(row.label) for row in rows])
            spread = float(values.std()) or 1.0
            outcome = Outcome(kind=kind, mean=float(values.mean()), deviation=spread)
            return cls(labels=(), counts=(), texts=len(rows), outcome=outcome)
        inside = Counter(label for row in rows for label in labels_of(row, kind))
        labels = label_order(list(inside)) if names is None else tuple(names)
        counts = tuple(inside[label] for label in labels)
        return cls(labels=labels, counts=counts, texts=len(rows), outcome=Outcome(kind=kind))

    def numbers(self, row: LabelledText) -> list[float]:
        """The places of a text's labels, or its number as the network gives it."""
        if self.outcome.kind == "number":
            return [(float(row.label) - self.outcome.mean) / self.outcome.deviation]
        return [self.labels.index(label) for label in labels_of(row, self.outcome.kind)]

    def soft(self, lesson: SoftText) -> list[float]:
        """What a teacher says of a text, as the network gives it."""
        if self.outcome.kind == "number":
            return [(float(lesson.soft[0]) - self.outcome.mean) / self.outcome.deviation]
        shares: list[float] = lesson.soft.tolist()
        return shares

    def numbers_of(self, lesson: SoftText) -> list[float]:
        """The places of the labels that people gave to a text or else of those that its teacher finds probable."""
        if lesson.label is not None:
            return self.numbers(LabelledText(lesson.text, lesson.second, lesson.label, 0))
        if self.outcome.kind == "number":
            return self.soft(lesson)
        if self.outcome.kind == "several":
            return [place for place, share in enumerate(lesson.soft) if share >= 0.5]
        return [int(lesson.soft.argmax())]

    def counted(self, objective: LabelObjective) -> CountedObjective:
        """[objective] with the counts of the whole training set."""
        return CountedObjective(**vars(objective), kind=self.outcome.kind, counts=self.counts, texts=self.texts)

    def said(self) -> str:
        """For people."""
        if self.outcome.kind == "number":
            return f"{self.texts:,} numbers around {self.outcome.mean:.2f}, give or take {self.outcome.deviation:.2f}"
        named = sorted(zip(self.counts, self.labels, strict=True), reverse=True)
        return ", ".join(f"{label}: {count:,}" for count, label in named)


def labels_of(row: LabelledText, kind: LabelKind) -> list[str]:
    """The labels of a text, one or several."""
    return list(json.loads(row.label)) if kind == "several" else [row.label]


def refuse_unknown(rows: Iterable[LabelledText], known: Sequence[str], kind: LabelKind, why: str) -> None:
    """Refuse a label that is none of the known ones, by file and line; numbers are all welcome."""
    if kind == "number":
        return
    for row in rows:
        for label in labels_of(row, kind):
            if label not in known:
                listed = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
                raise LabelledError(
                    f"{row.place}: the label {label!r} {why}, which has {listed}; rename it or remove the row"
                )

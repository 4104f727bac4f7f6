"""Which classes a model finds, by the report of its run: does it say one thing to everything, or nothing at all?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.diagnosis.finding import Number, Symptom
from clearformer.foundation import storage
from clearformer.run.ending import REPORT

COLLAPSED = 0.9  # of all examples are taken for one class …
BEYOND = 0.2  # … and that is so much more than are of it
SHOWN = 5  # classes that are named


@dataclass(frozen=True, kw_only=True)
class FoundClass:
    """count: how many examples are of this class; found: how many the model took for it."""

    name: str
    count: int
    found: int


def read_classes(run: Path) -> list[FoundClass]:
    """The classes of a run's report; none where its task has no such report, or the run is not finished."""
    if not (run / REPORT).is_file():
        return []
    told = storage.read_json(run / REPORT)
    rows = told.get("classes", []) if isinstance(told, Mapping) else []
    return [FoundClass(name=str(one["name"]), count=int(one["count"]), found=int(one["found"])) for one in rows]


def measure_classes(classes: Sequence[FoundClass]) -> dict[str, Any]:
    """How many there are, and how many are never found."""
    missed = _missed(classes)
    return {"classes": len(classes), "classes_never_found": len(missed)} if classes else {}


def judge_classes(classes: Sequence[FoundClass]) -> list[Symptom]:
    """A model that says one thing to everything; classes that are there and never found."""
    examples, found = sum(one.count for one in classes), sum(one.found for one in classes)
    missed = _missed(classes)
    if len(classes) < 2 or not missed:
        return []
    evidence: dict[str, Number] = {
        "classes_never_found": len(missed),
        "such_as": ", ".join(one.name for one in missed[:SHOWN]),
    }
    most = max(classes, key=lambda one: one.found)
    share, due = most.found / max(1, found), most.count / max(1, examples)
    if found and (share < COLLAPSED or share - due < BEYOND):
        return [
            Symptom(
                name="classes-never-found",
                says="some classes have examples, and the model finds none of them",
                remedy="Add examples of these classes, or join classes that people would not tell apart either.",
                evidence=evidence,
            )
        ]
    says = "everything is taken for one class" if found else "the model finds nothing at all"
    return [
        Symptom(
            name="one-class",
            says=f"{says}: it learned how frequent classes are, and nothing of the examples",
            remedy="Check that labels and examples belong together (`clearformer doctor`), halve "
            "training.schedule.peak, or train longer.",
            evidence={"class": most.name if found else "none", "share_found": round(share, 4), **evidence},
        )
    ]


def _missed(classes: Sequence[FoundClass]) -> list[FoundClass]:
    return [one for one in classes if one.count and not one.found]

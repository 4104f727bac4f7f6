"""What is wrong with pictures that have boxes, by file and object."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import numpy as np

from clearformer.data.picture_copies import Print, exact_copies, near_picture_copies, take_print
from clearformer.data.readers.archives import ArchiveError
from clearformer.data.readers.boxes import BoxedPicture, BoxError, load, problems
from clearformer.data.readers.pictures import PictureError, Pixels

FEW = 10  # objects of a class, below which nothing much is learned of it
TINY = 0.02  # of a picture's side, below which an object is a dot
SHOWN = 50  # findings of a kind that are listed one by one
COMPARED = 20_000  # pictures at most that are compared with one another; of more, only equal ones are found


@dataclass(frozen=True, kw_only=True)
class BoxFinding:
    """kind: one word for what is wrong; fatal: training cannot begin before it is mended."""

    place: str
    what: str
    kind: str
    fatal: bool = False


class WrongAnnotation(NamedTuple):
    """An annotation that cannot be read, and why."""

    place: str
    error: ValueError


class SeenBoxes(NamedTuple):
    """What is remembered of a picture to know it again."""

    part: str
    path: str
    print: Print


@dataclass(frozen=True, kw_only=True)
class BoxReport:
    """pictures: how many each part has; objects: how many there are of each class."""

    pictures: Mapping[str, int]
    objects: Mapping[str, int]
    findings: Sequence[BoxFinding] = field(default_factory=tuple)

    @property
    def fatal(self) -> bool:
        return any(one.fatal for one in self.findings)

    def to_text(self) -> str:
        parts = ", ".join(f"{count:,} in {name}" for name, count in self.pictures.items())
        total = sum(self.pictures.values())
        lines = [f"{total:,} pictures" + (f" ({parts})" if len(self.pictures) > 1 else "")]
        lines += [f"   {name}  {count:,} boxes" for name, count in self.objects.items()]
        shown: Counter[str] = Counter()
        for one in self.findings:
            shown[one.kind] += 1
            if shown[one.kind] <= SHOWN:
                lines.append(f"{one.place}: {one.what}")
        lines += [f"… and {count - SHOWN:,} more of the kind {kind}" for kind, count in shown.items() if count > SHOWN]
        return "\n".join([*lines, *([] if self.findings else ["nothing found"])])

    def to_json(self) -> str:
        told = {"fatal": self.fatal, "pictures": dict(self.pictures), "objects": dict(self.objects)}
        return json.dumps({**told, "findings": [asdict(one) for one in self.findings]}, ensure_ascii=False, indent=2)


def examine_boxes(parts: Mapping[str, Sequence[BoxedPicture]], refused: Sequence[WrongAnnotation] = ()) -> BoxReport:
    """Read every picture of every part once. parts: train, and perhaps dev and test. refused: beside them, unread."""
    objects: Counter[str] = Counter()
    findings = [
        BoxFinding(place=place, what=str(error).removeprefix(place).lstrip(",: "), kind="annotation", fatal=True)
        for place, error in refused
    ]
    seen: list[SeenBoxes] = []
    for part, some in parts.items():
        for one in some:
            objects.update(one.names)
            try:
                pixels, here = load(one)
            except (PictureError, BoxError, ArchiveError) as error:
                findings.append(_unreadable(one, str(error)))
                continue
            seen.append(SeenBoxes(part, one.path, take_print(pixels)))
            findings += _examine_picture(one, here, pixels)
    findings += [*_examine_copies(seen), *_examine_classes(parts, objects)]
    return BoxReport(
        pictures={name: len(some) for name, some in parts.items()},
        objects=dict(objects.most_common()),
        findings=tuple(findings),
    )


def _unreadable(one: BoxedPicture, error: str) -> BoxFinding:
    what = error.removeprefix(f"{one.path} ").removeprefix(f"{one.place} ").removeprefix(f"{one.place}: ")
    place = one.path if error.startswith(f"{one.path} ") else one.place
    return BoxFinding(place=place, what=what, kind="picture", fatal=True)


def _examine_picture(one: BoxedPicture, here: BoxedPicture, pixels: Pixels) -> list[BoxFinding]:
    """one: as it is annotated; here: with its boxes in pixels of the picture as it is shown."""
    height, width = pixels.shape[:2]
    found = [
        BoxFinding(place=problem.place, what=problem.what + "; it is left out or refused", kind="box")
        for problem in problems(here, width, height)
    ]
    if min(height, width) < 8:
        what = f"the picture has {width} × {height} pixels, too few to show anything; remove it"
        found.append(BoxFinding(place=one.path, what=what, kind="small picture"))
    if not one.names:
        found.append(BoxFinding(place=one.place, what=f"{one.picture} has no box; is nothing in it?", kind="no box"))
    sides = (here.boxes[:, 2:] - here.boxes[:, :2]) / np.array([width, height])
    for number in np.flatnonzero((sides > 0).all(axis=1) & (sides < TINY).all(axis=1)).tolist():
        wide, high = (here.boxes[number, 2:] - here.boxes[number, :2]).tolist()
        what = f"the box has {wide:g} × {high:g} pixels of a picture of {width} × {height}: cut the picture into parts"
        found.append(BoxFinding(place=here.object(number), what=what, kind="tiny"))
    return found


def _examine_copies(seen: Sequence[SeenBoxes]) -> list[BoxFinding]:
    """The same picture in two parts makes a test of memory, also if it was saved again."""
    prints = [one.print for one in seen]
    found = []
    copies = near_picture_copies(prints) if len(prints) <= COMPARED else exact_copies(prints)
    for one, before in zip(seen, copies, strict=True):
        other = seen[before]
        if other is one:
            continue
        how = "the same picture as" if one.print.exact == other.print.exact else "nearly the same picture as"
        across = f", which is in the part {other.part} and not in {one.part}" if other.part != one.part else ""
        found.append(BoxFinding(place=one.path, what=f"{how} {other.path}{across}; remove one", kind="copy"))
    return found


def _examine_classes(parts: Mapping[str, Sequence[BoxedPicture]], objects: Counter[str]) -> list[BoxFinding]:
    found: list[BoxFinding] = []
    learned = {name for one in parts.get("train", ()) for name in one.names}
    for name, count in objects.items():
        place = f"class {name}"
        if count < FEW:
            what = f"only {count} {'box' if count == 1 else 'boxes'} of this class; add more, or leave it out"
            found.append(BoxFinding(place=place, what=what, kind="rare class"))
        if name not in learned and "train" in parts:
            found.append(BoxFinding(place=place, what="no training picture has it", kind="class", fatal=True))
        twins = [other for other in objects if other < name and other.casefold() == name.casefold()]
        if twins:
            what = f"differs from {twins[0]} in capitals alone; is it the same class?"
            found.append(BoxFinding(place=place, what=what, kind="class"))
    if not objects:
        found.append(BoxFinding(place="boxes", what="there is none; mark some", kind="class", fatal=True))
    return found

"""What is wrong with pictures beside masks, by file: sizes, colours, missing partners, empty masks, repeats, specks."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.mask_classes import Kind, MaskClasses, guess_kind
from clearformer.data.readers.mask_files import Mask, MaskedPicture
from clearformer.data.readers.mask_sets import MaskPair, MaskPairs, named, opened_pairs, read_arrays
from clearformer.data.readers.pictures import PictureError
from clearformer.foundation import storage

FEW = 5  # pictures with a class, below which little is learned of it
SPECK = 3  # pixels: an instance that is no larger is probably a slip
SHOWN = 5  # examples of each kind
LOOKED_AT = 200  # masks by which numbers are taken for things or classes


@dataclass(frozen=True, kw_only=True)
class MaskFinding:
    """One thing that is wrong, and where."""

    kind: str
    place: str
    detail: str
    fatal: bool = False


@dataclass(frozen=True, kw_only=True)
class MaskReport:
    """What there is, and what is wrong. counts: pictures, or pictures with each class."""

    pictures: int
    kind: Kind
    why: str
    things: int
    counts: Mapping[str, int]
    findings: list[MaskFinding]
    areas: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    shortest: int = 0  # side of any picture
    channels: int = 1

    @property
    def fatal(self) -> bool:
        return any(finding.fatal for finding in self.findings)

    @property
    def totals(self) -> dict[str, int]:
        """kind -> how often."""
        return dict(Counter(finding.kind for finding in self.findings))

    def to_text(self) -> str:
        what = f"{self.things:,} instances" if self.kind == "instances" else f"{len(self.counts)} classes"
        lines = [f"{self.pictures:,} pictures beside masks, {what} ({self.why})"]
        lines += [f"   {name}  in {count:,} pictures" for name, count in self.counts.items()]
        for kind, total in self.totals.items():
            lines.append(f"{kind}: {total:,}")
            some = [one for one in self.findings if one.kind == kind][:SHOWN]
            lines += [f"   {one.place}: {one.detail}" for one in some]
        return "\n".join([*lines, *([] if self.findings else ["nothing wrong was found"])])

    def to_json(self) -> str:
        told = {
            "fatal": self.fatal,
            "pictures": self.pictures,
            "kind": self.kind,
            "instances": self.things,
            "classes": dict(self.counts),
            "counts": self.totals,
            "findings": [vars(finding) for finding in self.findings],
        }
        return json.dumps(told, ensure_ascii=False, indent=2)


def examine_masks(parts: Mapping[str, Path]) -> MaskReport:
    """Read every picture and every mask once. parts: the folders or archives, by their names."""
    findings: list[MaskFinding] = []
    read: list[MaskedPicture] = []
    layouts: list[MaskPairs] = []
    seen: dict[str, tuple[str, str, bytes]] = {}
    for part, path in parts.items():
        if path.suffix.lower() == ".npz":
            read += read_arrays(path)
            continue
        with opened_pairs(path) as found:
            layouts.append(found)
            findings += _lonely(found)
            for pair in found.pairs:
                place = named(pair, path)
                try:
                    one = pair.read(found.classes)
                except PictureError as error:
                    findings.append(
                        MaskFinding(kind=_sort(error), place=place, detail=_reason(error, place), fatal=True)
                    )
                    continue
                read.append(MaskedPicture(pixels=one.pixels, mask=one.mask, path=place))
                findings += _repeat(pair, one, place, part, seen)
    return _report(read, layouts, findings)


def _report(read: Sequence[MaskedPicture], layouts: Sequence[MaskPairs], findings: list[MaskFinding]) -> MaskReport:
    each = any(one.one_each for one in layouts)
    classes = next((one.classes for one in layouts if one.classes.names), MaskClasses())
    guess = guess_kind([one.mask for one in read[:LOOKED_AT]])
    kind: Kind = "instances" if each else "classes" if classes.names else guess.kind
    why = "one file for each" if each else "classes.txt names them" if classes.names else guess.why
    if not read and not findings:
        findings = [MaskFinding(kind="nothing", place="", detail="there are no pictures beside masks", fatal=True)]
    areas = [np.bincount(one.mask.ravel())[1:] for one in read] if kind == "instances" else []
    flat = np.concatenate([one[one > 0] for one in areas]) if areas else np.zeros(0, dtype=np.int64)
    findings = [*findings, *_empty(read), *(_specks(read, areas) if kind == "instances" else ())]
    counts = {} if kind == "instances" else _class_counts(read, classes)
    findings += [
        MaskFinding(kind="few pictures", place=name, detail=f"only {count} pictures have this class; add more")
        for name, count in counts.items()
        if count < FEW
    ]
    return MaskReport(
        pictures=len(read),
        kind=kind,
        why=why,
        things=len(flat),
        counts=counts,
        findings=findings,
        areas=flat,
        shortest=min((min(one.mask.shape) for one in read), default=0),
        channels=max((one.pixels.shape[2] for one in read), default=1),
    )


def _lonely(found: MaskPairs) -> Iterator[MaskFinding]:
    for path in found.without_mask:
        detail = "has no mask; draw one, empty if it shows nothing, or remove it"
        yield MaskFinding(kind="picture without mask", place=str(path), detail=detail, fatal=True)
    for path in found.without_picture:
        detail = "is the mask of no picture; add that, or remove the mask"
        yield MaskFinding(kind="mask without picture", place=str(path), detail=detail, fatal=True)


def _sort(error: PictureError) -> str:
    text = str(error)
    return (
        "size"
        if "different sizes" in text or "another size" in text
        else "colours"
        if "colour" in text
        else "unreadable"
    )


def _reason(error: PictureError, place: str) -> str:
    return str(error).removeprefix(place).removeprefix(":").strip()


def _repeat(
    pair: MaskPair, one: MaskedPicture, place: str, part: str, seen: dict[str, tuple[str, str, bytes]]
) -> Iterator[MaskFinding]:
    """The same bytes a second time: worse with another mask, and worst in another part."""
    mark, drawn = storage.sha256(pair.picture), one.mask.tobytes()
    if mark not in seen:
        seen[mark] = (place, part, drawn)
        return
    other, where, before = seen[mark]
    doubt = " with another mask" if drawn != before else ""
    across = f" in another part ({where} and {part}), which makes the score too good" if where != part else ""
    yield MaskFinding(kind="repeated", place=place, detail=f"the same picture as {other}{doubt}{across}; remove one")


def _empty(read: Iterable[MaskedPicture]) -> Iterator[MaskFinding]:
    for one in read:
        if not one.mask.any():
            yield MaskFinding(
                kind="empty mask", place=one.path, detail="nothing is marked; right only if nothing is there"
            )
        elif (one.mask == one.mask.flat[0]).all():
            detail = f"every pixel has the number {int(one.mask.flat[0])}; is it the right file?"
            yield MaskFinding(kind="full mask", place=one.path, detail=detail)


def _specks(read: Sequence[MaskedPicture], areas: Sequence[NDArray[np.int64]]) -> Iterator[MaskFinding]:
    for one, sizes in zip(read, areas, strict=True):
        small = np.flatnonzero((sizes > 0) & (sizes <= SPECK)) + 1
        if len(small):
            shown = ", ".join(map(str, small[:8].tolist()))
            detail = f"{len(small)} instances of {SPECK} pixels or fewer (number {shown}); slips of the brush?"
            yield MaskFinding(kind="specks", place=one.path, detail=detail)
        if scattered := list(_scattered(one.mask, sizes)):
            shown = ", ".join(map(str, scattered[:8]))
            detail = f"{len(scattered)} instances are in several pieces (number {shown}); two things of one number?"
            yield MaskFinding(kind="pieces", place=one.path, detail=detail)


def _scattered(mask: Mask, sizes: NDArray[np.int64]) -> Iterator[int]:
    """Instances of which a second piece is more than a speck."""
    from scipy.ndimage import find_objects, label

    for number, place in enumerate(find_objects(mask.astype(np.int32)), start=1):
        if place is None:
            continue
        pieces, count = label(mask[place] == number, np.ones((3, 3)))
        if count > 1 and sorted(np.bincount(pieces.ravel())[1:])[-2] > max(SPECK, sizes[number - 1] // 10):
            yield number


def _class_counts(read: Iterable[MaskedPicture], classes: MaskClasses) -> dict[str, int]:
    """In how many pictures each class occurs."""
    counts: dict[int, int] = defaultdict(int, dict.fromkeys(classes.names, 0))
    for one in read:
        for number in np.unique(one.mask).tolist():
            counts[number] += 1
    return {classes.names.get(number, str(number)): counts[number] for number in sorted(counts)}

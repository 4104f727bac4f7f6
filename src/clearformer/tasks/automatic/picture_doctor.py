"""What is wrong with a folder of pictures, by file: copies in two classes or parts, tiny classes, odd sizes, damage."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.data.picture_copies import Print, exact_copies, near_picture_copies, take_print
from clearformer.data.readers.picture_sets import class_folders, picture_files
from clearformer.data.readers.pictures import PictureError, read_picture

FEW = 10  # pictures of a class, below which little is learned of it
SHOWN = 5  # examples of each kind
COMPARED = 20_000  # pictures; with more, only equal ones are found
LONG = 2.5  # times as long as wide, or wide as long: most of it is not in its middle square
TINY = 8  # times as large is the usual picture
PARTS = {  # names that people give to the parts of a data set
    "train": ("train", "training"),
    "dev": ("dev", "val", "valid", "validation"),
    "test": ("test", "testing"),
}


@dataclass(frozen=True, kw_only=True)
class PictureFinding:
    """One thing that is wrong, and where."""

    kind: str
    place: str
    detail: str
    fatal: bool = False


@dataclass(frozen=True, kw_only=True)
class SeenPicture:
    """What is remembered of a picture that could be read."""

    path: Path
    part: str
    label: str
    height: int
    width: int
    print: Print


@dataclass(frozen=True, kw_only=True)
class PictureReport:
    """How many pictures each class has, and what is wrong. copies: the pictures that could be read, and for each one
    the number of the first that is the same, or nearly."""

    counts: dict[str, int]
    findings: list[PictureFinding]
    totals: dict[str, int]  # kind -> how often
    seen: list[SeenPicture] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)

    @property
    def fatal(self) -> bool:
        return any(finding.fatal for finding in self.findings)

    def to_text(self) -> str:
        lines = [f"{sum(self.counts.values()):,} pictures in {len(self.counts)} classes"]
        lines += [f"   {name}  {count:,}" for name, count in self.counts.items()]
        for kind, total in self.totals.items():
            lines.append(f"{kind}: {total:,}")
            lines += [f"   {one.place}: {one.detail}" for one in self.findings if one.kind == kind]
        return "\n".join([*lines, *([] if self.totals else ["nothing found"])])

    def to_json(self) -> str:
        found = [vars(finding) for finding in self.findings]
        told = {"fatal": self.fatal, "classes": self.counts, "counts": self.totals, "findings": found}
        return json.dumps(told, ensure_ascii=False, indent=2)


def parts_of(folder: Path) -> dict[str, Path]:
    """The parts that somebody made, each a folder of classes; or the folder as its only part, "train"."""
    by_name = {path.name.lower(): path for path in folder.iterdir() if path.is_dir()}
    found = {
        part: next(by_name[name] for name in names if name in by_name)
        for part, names in PARTS.items()
        if any(name in by_name and class_folders(by_name[name]) for name in names)
    }
    return found if "train" in found else {"train": folder}


def examine_pictures(folder: Path) -> PictureReport:
    """Read every picture once."""
    parts = parts_of(folder)
    found: list[PictureFinding] = []
    counts: Counter[str] = Counter()
    seen: list[SeenPicture] = []
    for part, inside in parts.items():
        for label_folder in class_folders(inside):
            found += _others(label_folder)
            for path in picture_files(label_folder):
                counts[label_folder.name] += 1
                try:
                    pixels = read_picture(path)
                except PictureError as error:
                    detail = str(error).removeprefix(f"{path} ")
                    found.append(PictureFinding(kind="cannot be read", place=str(path), detail=detail, fatal=True))
                    continue
                height, width = pixels.shape[:2]
                seen.append(
                    SeenPicture(
                        path=path, part=part, label=label_folder.name, height=height, width=width,
                        print=take_print(pixels),
                    )
                )  # fmt: skip
    copies = (near_picture_copies if len(seen) <= COMPARED else exact_copies)([one.print for one in seen])
    found += [*_copied(seen, copies), *_small(folder, seen, counts, parts), *_odd(seen)]
    totals = Counter(finding.kind for finding in found)
    shown: list[PictureFinding] = []
    for kind in totals:
        shown += [finding for finding in found if finding.kind == kind][:SHOWN]
    return PictureReport(counts=dict(counts), findings=shown, totals=dict(totals), seen=seen, copies=copies)


def _copied(seen: Sequence[SeenPicture], copies: Sequence[int]) -> Iterator[PictureFinding]:
    """The same picture again: in another class, in another part, or simply again."""
    for one, before in zip(seen, copies, strict=True):
        other = seen[before]
        if other is one:
            continue
        how = "the same pixels as" if one.print.exact == other.print.exact else "nearly the same as"
        if one.label != other.label:
            kind, remedy = "the same picture in two classes", f"of class {other.label}; decide for one"
        elif one.part != other.part:
            kind, remedy = "the same picture in two parts", f"of the part {other.part}; remove one"
        else:
            kind, remedy = "a picture that stands more than once", "; remove one"
        detail = f"{how} {other.path} {remedy}".replace(" ;", ";")
        yield PictureFinding(kind=kind, place=str(one.path), detail=detail)


def _small(
    folder: Path, seen: Sequence[SeenPicture], counts: Counter[str], parts: dict[str, Path]
) -> Iterator[PictureFinding]:
    """Classes with few pictures, and classes that only the test has."""
    learned = Counter(one.label for one in seen if one.part == "train")
    for label in counts:
        count = learned[label]
        if count < FEW:
            what = f"{count} {'picture' if count == 1 else 'pictures'} to learn from; add some"
            yield PictureFinding(kind="a class with few pictures", place=str(parts["train"] / label), detail=what)
    if len(learned) < 2:
        detail = "fewer than two classes with pictures that can be read; make one subfolder per class"
        yield PictureFinding(kind="nothing to tell apart", place=str(folder), detail=detail, fatal=True)


def _odd(seen: Sequence[SeenPicture]) -> Iterator[PictureFinding]:
    """Sizes, ratios and colours unlike those of a usual picture."""
    if not seen:
        return
    sides = sorted(min(one.height, one.width) for one in seen)
    usual = sides[len(sides) // 2]
    for one in seen:
        short, long = sorted((one.height, one.width))
        place, size = str(one.path), f"{one.width} × {one.height}"
        if short * TINY < usual:
            detail = f"{size} pixels, where half of all have a side of {usual} or more; replace or remove it"
            yield PictureFinding(kind="far smaller than the others", place=place, detail=detail)
        if long > LONG * short:
            detail = f"{size} pixels; only its middle square is used, so crop it to what matters"
            yield PictureFinding(kind="long and narrow", place=place, detail=detail)
        if one.print.plain:
            yield PictureFinding(kind="of one colour", place=place, detail="it shows nothing; replace or remove it")


def _others(folder: Path) -> Iterator[PictureFinding]:
    """Files beside the pictures that are none, such as those of a telephone's own format."""
    pictures = set(picture_files(folder))
    for path in sorted(folder.iterdir()):
        if path.is_file() and path not in pictures and not path.name.startswith("."):
            detail = "its ending is none of a picture that can be read; convert it to PNG or JPEG, or ignore this"
            yield PictureFinding(kind="left out", place=str(path), detail=detail)

"""clearformer detect: the objects in each picture, with a box around each."""

import argparse
import json
import sys
from collections import Counter
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.left_out import add_leave_out, readable
from clearformer.cli.options import add_options, read_options
from clearformer.cli.shipped import files_help, note_of_knowledge
from clearformer.cli.use import (
    add_answers,
    add_model,
    check_folder,
    given_files,
    open_model,
    open_output,
    portions,
    refuse_missing_files,
    utf8_word,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.detector import Detection, Detector

HINT = 0.5  # of the best score: a threshold that would give something


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "text",
        nargs="*",
        type=utf8_word,
        metavar="FILE",
        help=files_help("pictures"),
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help="a file with the names of pictures, one per line")
    verb = VERBS["detect"]
    add_model(parser, "a model that finds objects, as `clearformer train bccd` makes one", default=verb.default)
    add_options(parser, verb.options)
    parser.add_argument("--draw", type=Path, metavar="DIR", help="also write pictures with their boxes to this folder")
    parser.add_argument("--svg", action="store_true", help="with --draw: as SVG, whose lines stay sharp (PNG)")
    add_leave_out(parser, "pictures")
    add_answers(parser, "print one JSON object per picture, with its size, its objects and how many there are of each")
    parser.epilog = (
        "One line per object: class, score, left, top, right and bottom edge in pixels, and the file. A picture that a "
        "camera stored lying on its side is turned upright first, and the edges are those of the upright picture."
    )


def run(arguments: argparse.Namespace) -> None:
    """Look at picture by picture."""
    from clearformer.cli.usage import UsageError

    check_folder(arguments.draw, "--draw")
    if arguments.svg and arguments.draw is None:
        raise UsageError("--svg says how --draw writes pictures; name a folder with --draw")
    config = read_options(arguments, VERBS["detect"].options)
    refuse_missing_files(arguments)
    note = note_of_knowledge(arguments, VERBS["detect"])

    from clearformer.data.readers.picture_sets import picture_files
    from clearformer.data.readers.pictures import ENDINGS, read_picture
    from clearformer.inference.detector import Detector

    detector = Detector(open_model(arguments))
    counts: Counter[str] = Counter()
    drawn: set[Path] = set()
    seen = 0
    files = given_files(arguments, "pictures", picture_files, ENDINGS, examples=VERBS["detect"].examples)
    files = readable(files, read_picture, leave_out=arguments.leave_out)
    with open_output(arguments.output) as output:
        for some in portions(files, config.batch):
            for file, found in zip(some, detector.detect(some, config), strict=True):
                note()
                seen += 1
                counts.update(found.counts)
                for line in _lines(file, found, as_json=arguments.json):
                    print(line, file=output, flush=output.isatty())
                if not found.objects:
                    print(nothing_found(file, found, detector), file=sys.stderr)
                if arguments.draw is not None:
                    _draw(_free(arguments, file, drawn), file, found, detector)
    told = ", ".join(f"{count:,} {label}" for label, count in counts.most_common()) or "no objects"
    print(f"{seen:,} {'picture' if seen == 1 else 'pictures'}: {told}", file=sys.stderr)


def _lines(file: Path, found: "Detection", *, as_json: bool) -> list[str]:
    if not as_json:
        return [f"{line}\t{file}" for line in VERBS["detect"].line(found).splitlines()]
    objects = [
        {"label": one.label, "score": round(one.score, 6), "box": [round(edge, 2) for edge in one.box]}
        for one in found.objects
    ]
    told = {"file": str(file), "width": found.width, "height": found.height, "counts": found.counts}
    return [json.dumps({**told, "objects": objects}, ensure_ascii=False)]


def nothing_found(file: Path, found: "Detection", detector: "Detector") -> str:
    """Why, as far as numbers tell: the threshold, the best score, and how small the picture became."""
    size = detector.facts.size
    lower = f"try --threshold {HINT * found.nearest:.2g}" if found.nearest > 0.001 else "is it a picture of the kind?"
    return (
        f"{file}: nothing was found: the best score is {found.nearest:.3f} and the threshold {found.needed:g}; {lower} "
        f"(of {found.width} × {found.height} pixels the model sees {size} × {size})"
    )


def _draw(place: Path, file: Path, found: "Detection", detector: "Detector") -> None:
    from clearformer.data.readers.pictures import read_picture
    from clearformer.figures.box_drawing import DrawnBox, draw_png, draw_svg

    boxes = [
        DrawnBox(one.box, f"{one.label} {one.score:.2f}", detector.labels.index(one.label)) for one in found.objects
    ]
    pixels = read_picture(file)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix == ".svg":
        place.write_text(draw_svg(pixels, boxes, f"{file.name}: {len(boxes)} objects"), encoding="utf-8")
    else:
        place.write_bytes(draw_png(pixels, boxes))


def _free(arguments: argparse.Namespace, file: Path, drawn: set[Path]) -> Path:
    """Where to draw a picture: over no other one, and never over itself."""
    ending = ".svg" if arguments.svg else ".png"
    names = chain([f"{file.stem}-boxes"], (f"{file.stem}-boxes-{number}" for number in count(2)))
    folder: Path = arguments.draw
    place = next(one for name in names if (one := folder / f"{name}{ending}") not in drawn)
    drawn.add(place)
    return place

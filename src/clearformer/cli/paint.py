"""clearformer paint: pictures of a class, one by one and together on a sheet."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.options import add_options, read_options
from clearformer.cli.use import add_model, check_folder, open_model, utf8_word
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.evaluation.painted import Nearest
    from clearformer.inference.painter import Painting
    from clearformer.tasks.picture_parts import PicturePart

SCALE = 2  # on the sheet
SHEET, NEAREST_SHEET = "sheet.png", "nearest.png"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "text",
        nargs="*",
        type=utf8_word,
        metavar="CLASS",
        help="what to paint; every class that the model knows if none",
    )
    verb = VERBS["paint"]
    add_model(parser, "a model that paints, as `clearformer train paint-mnist` makes one", default=verb.default)
    add_options(parser, verb.options, default="{}, or as the model's recipe says")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("painted"),
        metavar="DIR",
        help=f"where to write the pictures, and {SHEET}: a row for each class (painted)",
    )
    parser.add_argument(
        "--nearest",
        type=Path,
        metavar="PATH",
        help=f"training pictures, a folder or an idx file: {NEAREST_SHEET} shows the nearest one below each painting",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per picture")
    parser.epilog = (
        "The same seed, class and number give the same picture, alone or among others. Distances are the root of the "
        "mean squared difference of a pixel, from 0 to 1."
    )


def run(arguments: argparse.Namespace) -> None:
    """Paint, and write."""
    check_folder(arguments.output, "--output")
    options = VERBS["paint"].options
    read_options(arguments, options)  # what is out of bounds is said before the model is opened

    from clearformer.cli.progress import progress_bar
    from clearformer.data.png_files import refuse_without_pillow, sheet, write_png
    from clearformer.inference.painter import Painter
    from clearformer.inference.painting_settings import usual_painting

    refuse_without_pillow()
    painter = Painter(open_model(arguments))
    config = read_options(arguments, options, usual_painting(painter.provenance))
    known = None if arguments.nearest is None else _training_pictures(arguments.nearest, painter)
    began = time.monotonic()
    with progress_bar("painting") as show:
        painted = painter.paint(arguments.text, config, on_progress=show)
    seconds = time.monotonic() - began
    arguments.output.mkdir(parents=True, exist_ok=True)
    columns = config.count if config.count <= 32 else 32
    write_png(arguments.output / SHEET, sheet([one.pixels for one in painted], columns, scale=SCALE))
    found = None if known is None else _compare(arguments.output, painted, known)
    for place, one in enumerate(painted):
        path = arguments.output / f"{_safe(VERBS['paint'].line(one))}-seed{one.seed}.png"
        write_png(path, one.pixels)
        print(_line(arguments.json, path, one, None if found is None else float(found.distances[place])))
    print(f"{len(painted)} pictures in {seconds:.1f} seconds; together: {arguments.output / SHEET}", file=sys.stderr)


def _training_pictures(path: Path, painter: Any) -> "PicturePart":
    from clearformer.data.readers.pictures import fit_square
    from clearformer.tasks.picture_parts import PicturePart, read_part

    if not path.exists():
        raise ValueError(f"{path} does not exist; check what --nearest names")
    facts = painter.facts
    pixels = [fit_square(one.pixels, facts.size, facts.channels) for one in read_part(path)]
    if not pixels:
        raise ValueError(f"{path} holds no pictures; give --nearest a folder of them, or an idx file")
    return PicturePart(pixels=pixels, labels=[""] * len(pixels))


def _compare(folder: Path, painted: "list[Painting]", known: "PicturePart") -> "Nearest":
    """Look for the nearest training picture of each painting, and show them in pairs."""
    from clearformer.data.png_files import sheet, write_png
    from clearformer.evaluation.painted import nearest
    from clearformer.tasks.picture_parts import PicturePart, pixel_table

    ours = PicturePart(pixels=[one.pixels for one in painted], labels=[one.label for one in painted])
    found = nearest(pixel_table(ours), pixel_table(known))
    columns = min(20, len(painted))
    blank = painted[0].pixels * 0
    drawn = []
    for start in range(0, len(painted), columns):
        row = ours.pixels[start : start + columns]
        below = [known.pixels[place] for place in found.places[start : start + columns]]
        rest = [blank] * (columns - len(row))
        drawn += [*row, *rest, *below, *rest]
    write_png(folder / NEAREST_SHEET, sheet(drawn, columns, scale=SCALE))
    return found


def _safe(name: str) -> str:
    """A class's name as part of a file's name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)


def _line(as_json: bool, path: Path, one: "Painting", distance: float | None) -> str:
    if not as_json:
        return f"{path}" + ("" if distance is None else f"\t{distance:.4f}")
    told = {"file": str(path), "label": one.label, "number": one.number, "seed": one.seed}
    return json.dumps(told | ({} if distance is None else {"nearest": distance}), ensure_ascii=False)

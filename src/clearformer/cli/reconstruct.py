"""clearformer reconstruct: pictures through a code of a few numbers and back."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.left_out import add_leave_out, readable
from clearformer.cli.options import add_options, read_options
from clearformer.cli.shipped import files_help, note_of_knowledge
from clearformer.cli.use import (
    add_model,
    check_folder,
    given_files,
    open_model,
    portions,
    refuse_missing_files,
    utf8_word,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.reconstructor import Reconstruction

SCALE = 4  # on the sheet, so that small pictures can be seen
SHEET, MOST = "sheet.png", 100  # of them on one sheet


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
    verb = VERBS["reconstruct"]
    add_model(parser, "an autoencoder of pictures, as `clearformer train mnist-code` makes one", default=verb.default)
    add_options(parser, verb.options)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"where to write the reconstructions, and {SHEET}: pairs side by side",
    )
    add_leave_out(parser, "pictures")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per picture, with its code and error"
    )
    parser.epilog = (
        "Prints the squared error per pixel (numbers from 0 to 1) of each picture, as the network reads it: the middle "
        "square, in the model's size."
    )


def run(arguments: argparse.Namespace) -> None:
    """Reconstruct picture by picture."""
    config = read_options(arguments, VERBS["reconstruct"].options)
    check_folder(arguments.output, "--output")
    verb = VERBS["reconstruct"]
    refuse_missing_files(arguments)
    note = note_of_knowledge(arguments, verb)

    from clearformer.data.readers.picture_sets import pictures_below
    from clearformer.data.readers.pictures import ENDINGS, read_picture
    from clearformer.inference.reconstructor import Reconstructor

    reconstructor = Reconstructor(open_model(arguments))
    shown: list[Reconstruction] = []
    number = 0
    given = given_files(arguments, "pictures", pictures_below, ENDINGS, examples=verb.examples)
    given = readable(given, read_picture, leave_out=arguments.leave_out)
    for files in portions(given, 8 * config.batch):
        for file, found in zip(files, reconstructor.reconstruct(files, config), strict=True):
            note()
            number += 1
            written = _write(arguments.output, number, file, found)
            shown += [found] if arguments.output is not None and len(shown) < MOST else []
            print(_line(arguments.json, file, found, written), flush=True)
    _write_sheet(arguments.output, shown)


def _write(folder: Path | None, number: int, file: Path, found: "Reconstruction") -> Path | None:
    """The reconstruction under the picture's own name; the number keeps two of one name apart."""
    if folder is None:
        return None
    from clearformer.data.png_files import write_png

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:05}-{file.stem}.png"
    write_png(path, found.pixels)
    return path


def _write_sheet(folder: Path | None, shown: "list[Reconstruction]") -> None:
    """Each picture above its reconstruction, ten pairs in a row."""
    if folder is None or not shown:
        return
    from clearformer.data.png_files import sheet, write_png

    columns = min(10, len(shown))
    rows = [shown[start : start + columns] for start in range(0, len(shown), columns)]
    blank = shown[0].original * 0
    drawn = []
    for row in rows:
        rest = [blank] * (columns - len(row))
        drawn += [one.original for one in row] + rest + [one.pixels for one in row] + rest
    write_png(folder / SHEET, sheet(drawn, columns, scale=SCALE))


def _line(as_json: bool, file: Path, found: "Reconstruction", written: Path | None) -> str:
    if not as_json:
        return f"{VERBS['reconstruct'].line(found)}\t{file}"
    told = {"file": str(file), "error": found.error, "code": [round(number, 6) for number in found.code]}
    return json.dumps(told | ({"output": str(written)} if written is not None else {}), ensure_ascii=False)

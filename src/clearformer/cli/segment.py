"""clearformer segment: the outline of each thing in pictures, or the class of every pixel."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.left_out import add_leave_out, readable
from clearformer.cli.options import add_options, read_options
from clearformer.cli.shipped import files_help, note_of_knowledge
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    check_folder,
    given_files,
    open_model,
    open_output,
    refuse_missing_files,
    utf8_word,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.segment_settings import SegmentConfig
    from clearformer.inference.segmenter import Segmentation


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
    verb = VERBS["segment"]
    add_model(parser, "a model that segments, as `clearformer train nuclei` makes one", default=verb.default)
    add_options(parser, verb.options)
    parser.add_argument(
        "--draw",
        type=Path,
        metavar="DIR",
        help="write for each picture NAME.mask.png, the numbers in 16 bits, and NAME.drawn.png, its outlines in colour",
    )
    add_leave_out(parser, "pictures")
    add_answers(parser, "print one JSON object per picture, with the area and the box of each thing")
    parser.epilog = (
        "A picture may have any size: it is read in overlapping tiles. A line has the picture's name, how many things "
        "were found and how large they are in pixels; of a model for classes, how much of the picture each class has."
    )


def run(arguments: argparse.Namespace) -> None:
    """Segment picture by picture."""
    config = read_options(arguments, VERBS["segment"].options)
    check_folder(arguments.draw, "--draw")
    refuse_missing_files(arguments)
    note = note_of_knowledge(arguments, VERBS["segment"])

    from clearformer.data.readers.pictures import ENDINGS, read_picture
    from clearformer.inference.segmenter import Segmenter

    def inside(folder: Path) -> Iterator[Path]:
        return (path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS and path.is_file())

    segmenter = Segmenter(open_model(arguments))
    written: dict[str, Path] = {}
    count = empty = 0
    files = given_files(arguments, "pictures", inside, ENDINGS, examples=VERBS["segment"].examples)
    with open_output(arguments.output) as output:
        for file in readable(files, read_picture, leave_out=arguments.leave_out):
            [found] = segmenter.segment(file, config)
            note()
            if arguments.draw is not None:
                _draw(file, found, arguments.draw, written)
            print(_line(arguments, file, found), file=output, flush=True)
            count += 1
            empty += found.instances and not found.found
    if empty:
        _say_empty(empty, count, config)


def _line(arguments: argparse.Namespace, file: Path, found: "Segmentation") -> str:
    if arguments.json:
        return json.dumps({"file": str(file), **found.to_plain()}, ensure_ascii=False)
    return f"{VERBS['segment'].line(found)}\t{file}"


def _draw(file: Path, found: "Segmentation", folder: Path, written: dict[str, Path]) -> None:
    """Both pictures; two files of one name from different folders would be one."""
    from PIL import Image

    from clearformer.data.readers.pictures import read_picture
    from clearformer.figures.mask_overlay import overlay

    if file.stem in written:
        raise UsageError(f"{file} and {written[file.stem]} have one name, so they cannot both be drawn into {folder}")
    written[file.stem] = file
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(found.mask).save(folder / f"{file.stem}.mask.png")
    Image.fromarray(overlay(read_picture(file), found.mask)).save(folder / f"{file.stem}.drawn.png")


def _say_empty(empty: int, count: int, config: "SegmentConfig") -> None:
    """What to do where nothing was found."""
    where = "the picture" if count == 1 else f"{empty} of {count} pictures"
    print(
        f"nothing was found in {where}: a --threshold below {config.threshold:g} finds what is less sure, --smallest 1 "
        "keeps what is tiny; things much larger or smaller than in training are not found, so scale the picture",
        file=sys.stderr,
    )

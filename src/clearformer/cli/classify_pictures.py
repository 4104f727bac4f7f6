"""clearformer classify with a model of pictures: files and folders in; lines, CSV or JSON out; where it looked."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from clearformer.cli.options import read_options
from clearformer.cli.picture_labels import given_labels
from clearformer.cli.shipped import note_of_knowledge
from clearformer.cli.usage import UsageError
from clearformer.cli.use import complete_file, given_files, open_model, open_output, portions, refuse_missing_files
from clearformer.cli.why import read_why
from clearformer.inference.reading_settings import WhyClassConfig
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from PIL import Image

    from clearformer.data.readers.picture_sets import Tolerance
    from clearformer.data.readers.pictures import Pixels
    from clearformer.inference.picture_attention import PatchShares
    from clearformer.inference.picture_classifier import PictureClassifier
    from clearformer.inference.picture_matcher import PictureLabeller
    from clearformer.inference.text_readers import Classification

SHADES = " ░▒▓█"
SAID = "attention rollout: where the model looked, for whatever it said"


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    """What concerns pictures alone."""
    parser.add_argument("--csv", action="store_true", help="pictures: print a table with a column for every class")
    parser.add_argument(
        "--leave-out",
        action="store_true",
        help="pictures: leave out those that cannot be read, and name them on standard error, instead of stopping",
    )


def refuse_picture_arguments(arguments: argparse.Namespace) -> None:
    """A model of texts has no use for them."""
    for name in ("csv", "leave_out"):
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} is for models of pictures, and this one reads texts")


def classify_pictures(arguments: argparse.Namespace, *, matching: bool = False, named: bool = True) -> None:
    """Print the class of every picture, in order. matching, named: the labels, and the model, were given."""
    from clearformer.data.readers.picture_sets import Tolerance, pictures_below
    from clearformer.data.readers.pictures import ENDINGS
    from clearformer.inference.picture_classifier import PictureClassifier
    from clearformer.inference.picture_matcher import PictureMatcher

    if arguments.csv and arguments.json:
        raise UsageError("--csv and --json are two forms of one answer; give one of them")
    why = read_why(arguments, WhyClassConfig)
    if why is not None and matching:
        raise UsageError("--why is for models with classes of their own, and this one is told its labels; leave it out")
    if why is not None and (why.why == "gradient" or arguments.csv):
        raise UsageError("a picture is explained by --why rollout, in lines, --json or --svg FILE")
    if arguments.svg is not None and len(arguments.text) != 1:
        raise UsageError("--svg draws one picture; give it as the only one")
    labels = given_labels(arguments.labels) if matching else ()
    refuse_missing_files(arguments)
    config, bundle = read_options(arguments, VERBS["classify"].options), open_model(arguments)
    classifier = PictureMatcher(bundle).among(labels) if matching else PictureClassifier(bundle)
    files = given_files(arguments, "pictures", pictures_below, ENDINGS, examples=VERBS["classify"].examples)
    note = note_of_knowledge(arguments, VERBS["classify"], "" if named else arguments.model)
    tolerance = Tolerance(unreadable="leave-out" if arguments.leave_out else "stop")
    with open_output(arguments.output) as output:
        if arguments.csv:
            print(_row(["file", "class", "probability", *classifier.labels]), file=output)
        for some in portions(_read(files, classifier, tolerance), 1 if why is not None else 8 * config.batch):
            found = classifier.classify([pixels for _, pixels in some], config)
            note()
            for (file, pixels), one in zip(some, found, strict=True):
                looked = classifier.why(pixels) if isinstance(classifier, PictureClassifier) and why else None
                for line in _lines(arguments, file, one, looked):
                    print(line, file=output, flush=output.isatty())
                if looked is not None and arguments.svg is not None:
                    _draw(arguments.svg, pixels, looked, f"{one.label} {one.probability:.4f}")
    if said := tolerance.said():
        print(said, file=sys.stderr)


def _read(
    files: Iterable[Path], classifier: "PictureClassifier | PictureLabeller", tolerance: "Tolerance"
) -> "Iterator[tuple[Path, Pixels]]":
    """Each picture in the model's size: a folder of photographs need not fit into memory."""
    for file in files:
        if (pixels := tolerance.read(file)) is not None:
            yield file, classifier.read(pixels)


def _lines(
    arguments: argparse.Namespace, file: Path, found: "Classification", looked: "PatchShares | None"
) -> Iterator[str]:
    if arguments.csv:
        yield _row([file, found.label, f"{found.probability:.6f}", *(f"{one:.6f}" for one in found.scores.values())])
        return
    if arguments.json:
        told = {name: value for name, value in asdict(found).items() if value is not None}
        why = {} if looked is None else {"why": {"method": "rollout", "patches": looked.rows(), "token": looked.token}}
        yield json.dumps({"file": str(file), **told, **why}, ensure_ascii=False)
        return
    yield f"{VERBS['classify'].line(found)}\t{file}"
    if looked is not None:
        yield from ("", SAID, *_shaded(looked.rows()), "")


def _shaded(rows: Sequence[Sequence[float]]) -> Iterator[str]:
    """Each patch as two characters, darker for more, and what the lightest and the darkest stand for."""
    values = [value for row in rows for value in row]
    least, most = min(values), max(values)
    steps = len(SHADES) / ((most - least) or 1.0)
    for row in rows:
        yield "".join(2 * SHADES[min(len(SHADES) - 1, int((value - least) * steps))] for value in row)
    yield f"light {least:.4f}, dark {most:.4f} of what was looked at; evenly, each would have {1 / len(values):.4f}"


def _row(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def _draw(path: Path, pixels: "Pixels", looked: "PatchShares", title: str) -> None:
    """The picture and where the model looked, side by side; as PNG where the file's name says so."""
    from PIL import Image

    from clearformer.figures.patch_shades import PatchShades

    packed = io.BytesIO()
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    image.save(packed, "png")
    with complete_file(path) as aside:
        if path.suffix.lower() == ".png":
            with aside.open("wb") as file:
                _paint(image, looked, file)
        else:
            figure = PatchShades(picture=packed.getvalue(), rows=looked.rows(), note=SAID)
            aside.write_text(figure.svg(title), encoding="utf-8", newline="\n")


def _paint(image: "Image.Image", looked: "PatchShares", file: IO[bytes]) -> None:
    from PIL import Image

    from clearformer.figures.patch_shades import veils

    size = (320, 320)
    whole = image.convert("RGB").resize(size, Image.Resampling.NEAREST)
    kept = bytes(round(255 * (1 - hidden)) for row in veils(looked.rows()) for hidden in row)
    light = Image.frombytes("L", (looked.side, looked.side), kept).resize(size, Image.Resampling.NEAREST)
    sheet = Image.new("RGB", (660, 320), "white")
    sheet.paste(whole, (0, 0))
    sheet.paste(Image.composite(whole, Image.new("RGB", size), light), (340, 0))
    sheet.save(file, "png")

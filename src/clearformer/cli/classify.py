"""clearformer classify: the class of each text, or of each picture; the model's folder says which."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    add_texts,
    answer_texts,
    open_model,
    open_output,
    portions,
    read_places,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle
    from clearformer.inference.text_readers import Classification


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "a classifier")
    add_options(parser, VERBS["classify"].options)
    add_engine(parser)
    add_answers(parser, "print one JSON object per text, with the score of every class")
    parser.epilog = (
        "A model of pictures takes picture files, folders of them, or --input with a list of them, one per line."
    )


def run(arguments: argparse.Namespace) -> None:
    """Classify text by text, or picture by picture."""
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    described = open_folder(arguments.model).description
    pictures = name_task(described.task, described.model) == "picture-classification"
    (_classify_pictures if pictures else _classify_texts)(arguments, open_model(arguments))


def _classify_texts(arguments: argparse.Namespace, model: "Bundle") -> None:
    from clearformer.inference.text_readers import Classifier

    classifier, config = Classifier(model), read_options(arguments, VERBS["classify"].options)
    answer_texts(
        arguments,
        lambda texts: classifier.classify(texts, config),
        lambda text, found: [_line(arguments, "text", text, found)],
        portion=8 * config.batch,
    )


def _classify_pictures(arguments: argparse.Namespace, model: "Bundle") -> None:
    from clearformer.inference.picture_classifier import PictureClassifier

    classifier, config = PictureClassifier(model), read_options(arguments, VERBS["classify"].options)
    with open_output(arguments.output) as output:
        for files in portions(_picture_files(arguments), 8 * config.batch):
            for file, found in zip(files, classifier.classify(files, config), strict=True):
                print(_line(arguments, "file", str(file), found), file=output, flush=output.isatty())


def _line(arguments: argparse.Namespace, what: str, given: str, found: "Classification") -> str:
    if arguments.json:
        return json.dumps({what: given, **asdict(found)}, ensure_ascii=False)
    return f"{VERBS['classify'].line(found)}\t{given}"


def _picture_files(arguments: argparse.Namespace) -> Iterator[Path]:
    """The pictures that the arguments, or the lines of a list, name; a folder stands for its pictures by name."""
    from clearformer.data.readers.pictures import ENDINGS, picture_files

    if arguments.text and arguments.input:
        raise UsageError("give pictures or --input, not both")
    named = arguments.text or (given.text for given in read_places(arguments.input))
    for name in named:
        path = Path(name)
        if not path.is_dir():
            yield path
            continue
        inside = list(picture_files(path))
        if not inside:
            raise ValueError(f"{path} holds no pictures ({', '.join(ENDINGS)}); give a folder that does")
        yield from inside

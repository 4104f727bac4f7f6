"""clearformer classify: the class of each text, or of each picture; the model's folder says which."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine, add_others
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    add_texts,
    answer_texts,
    open_model,
    open_models,
    open_output,
    portions,
    read_places,
)
from clearformer.cli.why import add_why, read_why, why_lines, write_figure
from clearformer.inference.reading_settings import WhyClassConfig
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.attribution import Explanation
    from clearformer.inference.text_readers import Classification, Classifier, Estimate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "a classifier")
    add_others(parser, "of the same labels")
    add_options(parser, VERBS["classify"].options)
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    add_why(parser, WhyClassConfig)
    add_answers(parser, "print one JSON object per text, with the score of every class")
    parser.epilog = (
        "Where a text may have several labels, all that are probable enough are printed with | between them. "
        "A model of pictures takes picture files, folders of them, or --input with a list of them, one per line."
    )


def run(arguments: argparse.Namespace) -> None:
    """Classify text by text, or picture by picture."""
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    described = open_folder(arguments.model).description
    pictures = name_task(described.task, described.model) == "picture-classification"
    if pictures and arguments.others:
        raise UsageError("--with is for models of texts, and this one reads pictures; leave it out")
    (_classify_pictures if pictures else _classify_texts)(arguments)


def _classify_texts(arguments: argparse.Namespace) -> None:
    from clearformer.inference.reader_ensembles import classifier_of

    classifier, config = classifier_of(open_models(arguments)), read_options(arguments, VERBS["classify"].options)
    if (why := read_why(arguments, WhyClassConfig)) is not None:
        _explain_texts(arguments, classifier, why)
        return
    numbers = classifier.outcome.kind == "number"

    def answer(texts: list[str]) -> "Sequence[Classification | Estimate]":
        return classifier.estimate(texts, config) if numbers else classifier.classify(texts, config)

    answer_texts(
        arguments,
        answer,
        lambda text, found: [_line(arguments, "text", text, found)],
        portion=8 * config.batch,
    )


def _explain_texts(arguments: argparse.Namespace, classifier: "Classifier", why: WhyClassConfig) -> None:
    """One text after the other: its class, and how much each of its words counted."""
    if arguments.svg is not None and len(arguments.text) != 1:
        raise UsageError("--svg draws one text; give it as the only one")

    def show(text: str, both: "tuple[Classification, Explanation]") -> Iterator[str]:
        found, explained = both
        if arguments.svg is not None:
            write_figure(arguments.svg, explained, f"{found.label} {found.probability:.4f}")
        if arguments.json:
            yield json.dumps({"text": text, **asdict(found), "why": explained.to_plain()}, ensure_ascii=False)
            return
        yield _line(arguments, "text", text, found)
        yield from why_lines(explained, sys.stdout if arguments.output is None else None)
        yield ""

    answer_texts(
        arguments,
        lambda texts: zip(classifier.classify(texts), classifier.why(texts, why), strict=True),
        show,
        portion=1,
    )


def _classify_pictures(arguments: argparse.Namespace) -> None:
    from clearformer.inference.picture_classifier import PictureClassifier

    if read_why(arguments, WhyClassConfig) is not None:
        raise UsageError("--why explains the words of a text; this model reads pictures")
    classifier, config = PictureClassifier(open_model(arguments)), read_options(arguments, VERBS["classify"].options)
    with open_output(arguments.output) as output:
        for files in portions(_picture_files(arguments), 8 * config.batch):
            for file, found in zip(files, classifier.classify(files, config), strict=True):
                print(_line(arguments, "file", str(file), found), file=output, flush=output.isatty())


def _line(arguments: argparse.Namespace, what: str, given: str, found: "Classification | Estimate") -> str:
    if arguments.json:
        told = {name: value for name, value in asdict(found).items() if value is not None}
        return json.dumps({what: given, **told}, ensure_ascii=False)
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

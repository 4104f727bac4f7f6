"""clearformer classify: the class of each text, or of each picture; the model's folder says which."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.classify_pictures import add_picture_arguments, classify_pictures, refuse_picture_arguments
from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine, add_others
from clearformer.cli.shipped import is_example
from clearformer.cli.text_pairs import TYPED_MARK, as_pairs, compares_texts
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    add_texts,
    answer_texts,
    open_models,
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
    add_model(parser, "a classifier", needed=False)
    add_others(parser, "of the same labels")
    add_options(parser, VERBS["match"].options)
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="each text is two, with a tab or ||| between them (usual for a model that was trained on pairs here)",
    )
    add_why(parser, WhyClassConfig)
    add_picture_arguments(parser)
    add_answers(parser, "print one JSON object per text, with the score of every class")
    parser.epilog = (
        "Where a text may have several labels, all that are probable enough are printed with | between them. "
        "A model of pictures takes picture files, folders of them (with all folders inside), or --input with a list of "
        "them, one per line; the word example stands for ten digits that ship. A model that matches pictures with "
        "texts (CLIP, SigLIP) is told by --labels what to choose from."
    )


def run(arguments: argparse.Namespace) -> None:
    """Classify text by text, or picture by picture."""
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    named = arguments.model is not None
    if not named:
        arguments.model = _usual_model(arguments)
    described = open_folder(arguments.model).description
    task = name_task(described.task, described.model)
    pictures = task in ("picture-classification", "picture-matching")
    if arguments.labels and task != "picture-matching":
        raise UsageError("--labels is for models that match pictures with texts, and this one has classes of its own")
    if pictures and arguments.others:
        raise UsageError("--with is for models of texts, and this one reads pictures; leave it out")
    if pictures:
        classify_pictures(arguments, matching=task == "picture-matching", named=named)
        return
    refuse_picture_arguments(arguments)
    arguments.pairs = arguments.pairs or compares_texts(described.provenance)
    if not arguments.pairs and any(TYPED_MARK in text for text in arguments.text):
        print(f"note: {TYPED_MARK} is read as a part of the text; --pairs reads two texts", file=sys.stderr)
    _classify_texts(arguments)


def _usual_model(arguments: argparse.Namespace) -> str:
    """The model that ships for what is given: pictures have one, texts have none, because none suits all of them."""
    from clearformer.folder.description import shipped_names

    usual = VERBS["classify"].for_pictures
    if usual in shipped_names() and arguments.text and all(map(_is_picture, arguments.text)):
        return usual
    raise UsageError(
        "--model is needed: name a classifier (a model folder, the folder of a run, or a fetched model); "
        "`clearformer train --data reviews.csv` makes one of a table of labelled texts"
    )


def _is_picture(word: str) -> bool:
    from clearformer.data.readers.pictures import ENDINGS

    return is_example(word) or Path(word).suffix.lower() in ENDINGS or Path(word).is_dir()


def _classify_texts(arguments: argparse.Namespace) -> None:
    from clearformer.inference.reader_ensembles import classifier_of

    classifier, config = classifier_of(open_models(arguments)), read_options(arguments, VERBS["classify"].options)
    if (why := read_why(arguments, WhyClassConfig)) is not None:
        _explain_texts(arguments, classifier, why)
        return
    numbers = classifier.outcome.kind == "number"

    def answer(texts: list[str]) -> "Sequence[Classification | Estimate]":
        given = as_pairs(texts) if arguments.pairs else texts
        return classifier.estimate(given, config) if numbers else classifier.classify(given, config)

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

    def show(text: str, both: "tuple[Classification | Estimate, Explanation]") -> Iterator[str]:
        found, explained = both
        if arguments.svg is not None:
            write_figure(arguments.svg, explained, VERBS["classify"].line(found).replace("\t", " "))
        if arguments.json:
            yield json.dumps({"text": text, **asdict(found), "why": explained.to_plain()}, ensure_ascii=False)
            return
        yield _line(arguments, "text", text, found)
        yield from why_lines(explained, sys.stdout if arguments.output is None else None)
        yield ""

    def answer(texts: list[str]) -> "Iterator[tuple[Classification | Estimate, Explanation]]":
        given = as_pairs(texts) if arguments.pairs else texts
        said: Sequence[Classification | Estimate] = (
            classifier.estimate(given) if classifier.outcome.kind == "number" else classifier.classify(given)
        )
        return zip(said, classifier.why(given, why), strict=True)

    answer_texts(arguments, answer, show, portion=1)


def _line(arguments: argparse.Namespace, what: str, given: str, found: "Classification | Estimate") -> str:
    if arguments.json:
        told = {name: value for name, value in asdict(found).items() if value is not None}
        return json.dumps({what: given, **told}, ensure_ascii=False)
    return f"{VERBS['classify'].line(found)}\t{given}"

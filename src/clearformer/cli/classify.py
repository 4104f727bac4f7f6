"""clearformer classify: the class of each text."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from clearformer.cli.use import add_answers, add_batch, add_model, add_texts, answer_texts, open_model

if TYPE_CHECKING:
    from clearformer.inference.text_readers import Classification


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "a classifier")
    add_batch(parser)
    add_answers(parser, "print one JSON object per text, with the score of every class")


def run(arguments: argparse.Namespace) -> None:
    """Classify text by text."""
    from clearformer.inference.text_readers import Classifier

    classifier = Classifier(open_model(arguments))

    def show(text: str, found: "Classification") -> Iterator[str]:
        if arguments.json:
            yield json.dumps({"text": text, **asdict(found)}, ensure_ascii=False)
        else:
            yield f"{found.label}\t{found.probability:.4f}\t{text}"

    answer_texts(
        arguments,
        lambda texts: classifier.classify(texts, batch=arguments.batch),
        show,
        portion=8 * arguments.batch,
    )

"""clearformer tag: a tag for each word."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING

from clearformer.cli.search_options import add_engine
from clearformer.cli.use import add_answers, add_model, add_texts, answer_texts, open_model

if TYPE_CHECKING:
    from clearformer.inference.text_readers import Tag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "a tagger")
    add_engine(parser)
    add_answers(parser, "print one JSON object per text, with positions and probabilities")


def run(arguments: argparse.Namespace) -> None:
    """Tag text by text; a blank line stands between texts."""
    from clearformer.inference.text_readers import Tagger

    tagger = Tagger(open_model(arguments))
    shown = count()

    def show(text: str, tags: "list[Tag]") -> Iterator[str]:
        if arguments.json:
            yield json.dumps({"text": text, "tags": [asdict(tag) for tag in tags]}, ensure_ascii=False)
            return
        if next(shown):
            yield ""
        yield from (f"{tag.word}\t{tag.label}" for tag in tags)

    answer_texts(arguments, lambda texts: [tagger.tag(text) for text in texts], show, portion=1)

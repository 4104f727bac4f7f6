"""clearformer tokenize: the pieces and ids that a text becomes."""

import argparse
import json
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from clearformer.cli.use import add_answers, add_model, add_texts, answer_texts

if TYPE_CHECKING:
    from clearformer.text.tokenizer import Encoding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "the model whose vocabulary is used", default="en-de")
    parser.add_argument("--target", action="store_true", help="use the target side's vocabulary, where it has its own")
    parser.add_argument("--ids", action="store_true", help="print the ids alone")
    add_answers(parser, "print one JSON object per text, with pieces, ids and character positions")


def run(arguments: argparse.Namespace) -> None:
    """Encode text by text; a blank line stands between texts."""
    from clearformer.folder.description import open_folder

    source, target = open_folder(arguments.model).preprocessing.sides
    tokenizer = target if arguments.target else source
    shown = count()

    def show(text: str, found: "Encoding") -> Iterator[str]:
        if arguments.json:
            entry = {"pieces": found.pieces, "ids": found.ids, "offsets": found.offsets}
            yield json.dumps(entry, ensure_ascii=False)
        elif arguments.ids:
            yield " ".join(map(str, found.ids))
        else:
            if next(shown):
                yield ""
            yield from _table(found)

    answer_texts(arguments, tokenizer.encode_batch, show, portion=1024, keep_blank=arguments.ids)


def _table(found: "Encoding") -> Iterator[str]:
    """One line per piece; quotation marks where blanks belong to it."""
    width = max((len(str(number)) for number in found.ids), default=0)
    for piece, number in zip(found.pieces, found.ids, strict=True):
        yield f"{number:>{width}}  {piece if piece == piece.strip() else repr(piece)}"

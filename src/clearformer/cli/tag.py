"""clearformer tag: the entities of a text, or a tag for each word."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING

from clearformer.cli.search_options import add_engine, add_others
from clearformer.cli.usage import UsageError
from clearformer.cli.use import add_answers, add_model, add_texts, answer_texts, open_models

if TYPE_CHECKING:
    from clearformer.inference.word_tagger import Entity, Tag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "a tagger, as `clearformer train wnut-17` makes one")
    add_others(parser, "of the same tags")
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    parser.add_argument(
        "--entities",
        action="store_true",
        help="one line per entity: text, type, start, end, probability (usual where the tags mark entities)",
    )
    parser.add_argument("--words", action="store_true", help="one line per word with its tag (usual elsewhere)")
    add_answers(parser, "print one JSON object per text, with words and entities, positions and probabilities")
    parser.epilog = "Positions count characters from 0; text[start:end] is the entity."


def run(arguments: argparse.Namespace) -> None:
    """Tag text by text; a blank line stands between texts."""
    from clearformer.inference.reader_ensembles import tagger_of

    if arguments.entities and arguments.words:
        raise UsageError("give --entities or --words, not both; --json has both")
    if (blank := next((n for n, text in enumerate(arguments.text, start=1) if not text.strip()), None)) is not None:
        raise ValueError(f"text {blank} is empty; give some words")
    tagger = tagger_of(open_models(arguments))
    if arguments.entities and not tagger.marks_entities:
        raise UsageError(f"this model's tags ({', '.join(tagger.labels[:4])}) mark no entities; leave --entities out")
    named = tagger.marks_entities and not arguments.words
    shown = count()

    def answer(text: str) -> "tuple[list[Tag], list[Entity]]":
        tags = tagger.tag(text) if arguments.json or not named else []
        return tags, tagger.entities(text) if tagger.marks_entities and (arguments.json or named) else []

    def show(text: str, found: "tuple[list[Tag], list[Entity]]") -> Iterator[str]:
        tags, entities = found
        if arguments.json:
            told = {"text": text, "tags": [asdict(tag) for tag in tags]}
            more = {"entities": [asdict(one) for one in entities]} if tagger.marks_entities else {}
            yield json.dumps({**told, **more}, ensure_ascii=False)
            return
        if next(shown):
            yield ""
        if named:
            yield from (f"{one.text}\t{one.kind}\t{one.start}\t{one.end}\t{one.probability:.4f}" for one in entities)
        else:
            yield from (f"{tag.word}\t{tag.label}" for tag in tags)

    answer_texts(arguments, lambda texts: [answer(text) for text in texts], show, portion=1)

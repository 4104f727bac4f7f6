"""clearformer answer: where in a context the answer stands."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from clearformer.cli.search_options import add_engine
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    hint_at_file,
    open_model,
    open_output,
    read_places,
    utf8_word,
)


class Question(NamedTuple):
    """What is asked, the text that has the answer, and where both came from."""

    question: str
    context: str
    place: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("question", nargs="?", type=utf8_word, metavar="QUESTION", help="what is asked")
    parser.add_argument("context", nargs="?", type=utf8_word, metavar="CONTEXT", help="the text that has the answer")
    add_model(parser, "a model that answers questions")
    add_engine(parser)
    parser.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="with a question: a file with the context; without: JSON lines, each with question and context",
    )
    add_answers(parser, "print one JSON object per question: question, text, score, start, end")
    parser.epilog = (
        "Without a question and without --input, JSON lines are read from standard input. A model that was trained "
        "here says nothing (an empty line) where the context has no answer."
    )


def run(arguments: argparse.Namespace) -> None:
    """Answer one question after the other."""
    from clearformer.inference.text_readers import Answerer

    questions = _questions(arguments)
    answerer = Answerer(open_model(arguments))
    with open_output(arguments.output) as output:
        for asked in questions:
            try:
                found = answerer.answer(asked.question, asked.context)
            except ValueError as error:
                raise ValueError(f"{asked.place}: {error}" if asked.place else str(error)) from error
            shown = {"question": asked.question, **asdict(found)}
            print(json.dumps(shown, ensure_ascii=False) if arguments.json else found.text, file=output)


def _questions(arguments: argparse.Namespace) -> Iterator[Question]:
    if arguments.question is None:
        return _listed(arguments.input)
    if (arguments.context is None) == (arguments.input is None):
        raise UsageError("give a context, or a file with it as --input")
    if arguments.context is None:
        context = "\n".join(given.text for given in read_places(arguments.input, keep_blank=True))
    else:
        hint_at_file([arguments.context])
        context = arguments.context
    return iter([Question(arguments.question, context, "")])


def _listed(file: Path | None) -> Iterator[Question]:
    """One JSON object per line, with a question and a context."""
    for line, place in read_places(file):
        try:
            entry = json.loads(line)
            asked, context = entry["question"], entry["context"]
        except (ValueError, TypeError, KeyError):
            raise ValueError(f'{place} should be a JSON object {{"question": …, "context": …}}') from None
        if not isinstance(asked, str) or not isinstance(context, str):
            raise ValueError(f"{place}: question and context should be texts")
        yield Question(asked, context, place)

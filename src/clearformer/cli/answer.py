"""clearformer answer: where in a context, or in several, the answer stands."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine, add_others
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    hint_at_file,
    open_models,
    open_output,
    read_places,
    utf8_word,
)
from clearformer.cli.why import add_why, read_why, why_lines, write_figure
from clearformer.inference.reading_settings import WhyConfig
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.attribution import Explanation


class Question(NamedTuple):
    """What is asked, the texts that may have the answer and what they are called, and where the question came from."""

    question: str
    contexts: list[str]
    names: list[str]
    place: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("question", nargs="?", type=utf8_word, metavar="QUESTION", help="what is asked")
    parser.add_argument(
        "context",
        nargs="*",
        type=utf8_word,
        metavar="CONTEXT",
        help="the text that has the answer; of several, the best passage of all is given",
    )
    add_model(parser, "a model that answers questions, as `clearformer train squad` makes one")
    add_others(parser)
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    parser.add_argument(
        "--input",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="with a question: files with the context; without: JSON lines, each with question and context",
    )
    add_options(parser, VERBS["answer"].options, only=("longest", "batch"))
    parser.add_argument(
        "--no-answer",
        dest="no_answer",
        action="store_true",
        default=None,
        help="say nothing where a text has no answer, if the model has learned to (usual)",
    )
    parser.add_argument(
        "--always", dest="no_answer", action="store_false", default=None, help="always give the best passage there is"
    )
    add_why(parser, WhyConfig)
    add_answers(parser, "print one JSON object per question: question, text, probability, score, start, end, context")
    parser.epilog = (
        "Without a question and without --input, JSON lines are read from standard input; a context may be a list of "
        "texts there. A model that was trained here says nothing (an empty line) where the context has no answer. Of "
        "several contexts, the one that has the answer is named behind it."
    )


def run(arguments: argparse.Namespace) -> None:
    """Answer one question after the other."""
    from clearformer.inference.explained_reading import NO_ANSWER
    from clearformer.inference.reader_ensembles import answerer_of

    config = read_options(arguments, VERBS["answer"].options)
    questions = _questions(arguments)
    why = read_why(arguments, WhyConfig)
    if arguments.svg is not None and arguments.question is None:
        raise UsageError("--svg draws one question; give it with its context")
    answerer = answerer_of(open_models(arguments))
    with open_output(arguments.output) as output:
        for asked in questions:
            try:
                found = answerer.answer(asked.question, asked.contexts, config)
                given = asked.contexts[found.context]
                explained = None if why is None else answerer.why(asked.question, given, found, why)
            except ValueError as error:
                raise ValueError(f"{asked.place}: {error}" if asked.place else str(error)) from error
            if explained is not None and arguments.svg is not None:
                write_figure(arguments.svg, explained, f"{asked.question} {found.text or NO_ANSWER}")
            print(_shown(arguments, asked, found, explained), file=output)
            if explained is not None and not arguments.json:
                for line in [*why_lines(explained, sys.stdout if arguments.output is None else None), ""]:
                    print(line, file=output)


def _shown(arguments: argparse.Namespace, asked: Question, found: Any, explained: "Explanation | None") -> str:
    several = len(asked.contexts) > 1
    name = asked.names[found.context] if several and found.text else None
    if not arguments.json:
        return f"{found.text}\t{name}" if name is not None else str(found.text)
    told = {
        "question": asked.question,
        "text": found.text,
        "probability": found.probability,
        "score": found.score,
        "start": found.start,
        "end": found.end,
    }
    more = {"context": name} if several else {}
    more |= {} if explained is None else {"why": explained.to_plain()}
    return json.dumps({**told, **more}, ensure_ascii=False)


def _questions(arguments: argparse.Namespace) -> Iterator[Question]:
    if arguments.question is None:
        files = arguments.input or [None]
        return (one for file in files for one in _listed(file))
    if bool(arguments.context) == bool(arguments.input):
        raise UsageError("give a context, or a file with it as --input")
    if arguments.input:
        contexts = ["\n".join(one.text for one in read_places(file, keep_blank=True)) for file in arguments.input]
        return iter([Question(arguments.question, contexts, list(map(str, arguments.input)), "")])
    hint_at_file(arguments.context)
    names = [f"context {number}" for number in range(1, len(arguments.context) + 1)]
    return iter([Question(arguments.question, list(arguments.context), names, "")])


def _listed(file: Path | None) -> Iterator[Question]:
    """One JSON object per line, with a question and a context, or a list of contexts."""
    for line, place in read_places(file):
        try:
            entry = json.loads(line)
            asked, context = entry["question"], entry["context"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(f'{place} should be a JSON object {{"question": …, "context": …}}') from None
        contexts = context if isinstance(context, list) else [context]
        if not isinstance(asked, str) or not contexts or not all(isinstance(one, str) for one in contexts):
            raise ValueError(f"{place}: question and context should be texts")
        if any("\ud800" <= letter <= "\udfff" for text in (asked, *contexts) for letter in text):
            raise ValueError(f"{place} has half a character (a lone surrogate \\udXXX); mend that line")
        yield Question(asked, contexts, [f"context {n}" for n in range(1, len(contexts) + 1)], place)

"""clearformer answer: where in a context the answer stands."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from clearformer.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("question", help="what is asked")
    parser.add_argument("context", nargs="?", help="the text that has the answer; without it, --input is read")
    parser.add_argument("--model", required=True, help="the folder of a model with an answer-span head")
    parser.add_argument("--input", type=Path, help="a file with the context")
    parser.add_argument("--json", action="store_true", help="print JSON: text, score, start, end")


def run(arguments: argparse.Namespace) -> None:
    """Answer one question."""
    from clearformer.folder import bundle
    from clearformer.folder.description import find_model
    from clearformer.inference.text_readers import Answerer

    if (arguments.context is None) == (arguments.input is None):
        raise UsageError("give a context, or a file with it as --input")
    context = arguments.context if arguments.input is None else arguments.input.read_text(encoding="utf-8")
    found = Answerer(bundle.load(find_model(arguments.model))).answer(arguments.question, context)
    print(json.dumps(asdict(found), ensure_ascii=False) if arguments.json else found.text)

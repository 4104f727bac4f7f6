"""clearformer generate: continue a text."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.options import add_options, read_options
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    GivenText,
    add_answers,
    add_model,
    add_texts,
    given_texts,
    naming_places,
    open_model,
    open_output,
    read_whole,
)
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from typing import IO

    from clearformer.inference.text_generator import TextGenerator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts to continue")
    parser.add_argument(
        "--prompt-file", type=Path, metavar="FILE", help="a file that is one text, without its last line end"
    )
    add_model(parser, "a language model", default=VERBS["generate"].default)
    add_options(parser, GenerationConfig, only=[name for name in _names() if name not in ("choices", "schema")])
    parser.add_argument(
        "--choices",
        action="append",
        metavar="A,B,…",
        help="write one of these texts and nothing else; may be given again",
    )
    parser.add_argument("--schema", type=Path, metavar="FILE", help="write JSON that fits the JSON schema in this file")
    add_answers(parser, "print one JSON object per text: prompt, text, ended, tokens, log-probabilities")
    parser.epilog = 'An empty text ("") begins a new one. A blank line stands between several texts.'


def run(arguments: argparse.Namespace) -> None:
    """Continue each text, and show each piece as soon as it is chosen."""
    if arguments.choices is not None:
        arguments.choices = [one for given in arguments.choices for one in given.split(",")]
    if arguments.schema is not None:
        arguments.schema = read_whole(arguments.schema).text
    from clearformer.folder.description import open_folder

    usual = VERBS["generate"].options_for(open_folder(arguments.model).provenance)
    config = read_options(arguments, GenerationConfig, usual)
    prompts = _prompts(arguments)
    from clearformer.inference.text_generator import TextGenerator

    generator = TextGenerator(open_model(arguments))
    with open_output(arguments.output) as output:
        for number, given in enumerate(prompts):
            with naming_places([given]):
                if arguments.json:
                    for entry in _entries(generator, given.text, config):
                        print(json.dumps(entry, ensure_ascii=False), file=output, flush=True)
                else:
                    _show(generator, given.text, config, output, first=number == 0)


def _names() -> list[str]:
    return [field.name for field in fields(GenerationConfig)]


def _prompts(arguments: argparse.Namespace) -> Iterator[GivenText]:
    if arguments.prompt_file is None:
        return given_texts(arguments)
    if arguments.text or arguments.input:
        raise UsageError("give texts, --input or --prompt-file, not several of them")
    return iter([read_whole(arguments.prompt_file)])


def _show(generator: "TextGenerator", prompt: str, config: GenerationConfig, output: "IO[str]", *, first: bool) -> None:
    """The prompt and what follows: one text as it is written, several when all are."""
    if config.samples > 1:
        for found in generator.continuations(prompt, config):
            print("" if first else "\n", prompt, found.text, sep="", file=output, flush=True)
            first = False
        return
    pieces = generator.stream(prompt, config)
    begun = next(pieces, "")  # before anything is printed: a prompt or a form that is refused leaves no half a result
    print("" if first else "\n", prompt, begun, sep="", end="", file=output, flush=True)
    for piece in pieces:
        print(piece, end="", file=output, flush=True)
    print(file=output, flush=True)


def _entries(generator: "TextGenerator", prompt: str, config: GenerationConfig) -> Iterator[dict[str, Any]]:
    for found in generator.continuations(prompt, config):
        yield {
            "prompt": prompt,
            "text": found.text,
            "ended": found.ended,
            **({"seed": found.seed} if config.temperature else {}),
            "tokens": [generator.tokenizer.piece(token) for token in found.tokens],
            "log_probs": list(found.log_probs),
        }

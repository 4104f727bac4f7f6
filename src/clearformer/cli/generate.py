"""clearformer generate: continue a text."""

import argparse
import json
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.use import (
    GivenText,
    add_answers,
    add_model,
    add_texts,
    given_texts,
    naming_places,
    open_model,
    open_output,
)
from clearformer.inference.generation_settings import GenerationConfig

if TYPE_CHECKING:
    from typing import IO

    from clearformer.inference.text_generator import TextGenerator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts to continue")
    add_model(parser, "a language model")
    add_options(parser, GenerationConfig)
    add_answers(parser, "print one JSON object per text: prompt, text, tokens, log-probabilities")
    parser.epilog = 'An empty text ("") begins a new one. A blank line stands between several texts.'


def run(arguments: argparse.Namespace) -> None:
    """Continue each text, and show each piece as soon as it is chosen."""
    config = read_options(arguments, GenerationConfig)
    from clearformer.inference.text_generator import TextGenerator

    generator = TextGenerator(open_model(arguments))
    with open_output(arguments.output) as output:
        for number, given in enumerate(given_texts(arguments)):
            with naming_places([given]):
                if arguments.json:
                    print(_as_json(generator, given.text, config), file=output, flush=True)
                else:
                    _stream(generator, given, config, output, first=number == 0)


def _stream(
    generator: "TextGenerator", given: GivenText, config: GenerationConfig, output: "IO[str]", *, first: bool
) -> None:
    print("" if first else "\n", given.text, sep="", end="", file=output, flush=True)
    for piece in generator.stream(given.text, config):
        print(piece, end="", file=output, flush=True)
    print(file=output, flush=True)


def _as_json(generator: "TextGenerator", prompt: str, config: GenerationConfig) -> str:
    """Generated once: the text is put together from the tokens that were chosen."""
    given = generator.encode(prompt)
    choices = list(generator.choices(given, config))
    entry = {
        "prompt": prompt,
        "text": generator.text_of(given, [choice.token for choice in choices]),
        "tokens": [generator.tokenizer.piece(choice.token) for choice in choices],
        "log_probs": [choice.log_prob for choice in choices],
    }
    return json.dumps(entry, ensure_ascii=False)

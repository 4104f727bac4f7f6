"""clearformer fill: the words that fit at a gap."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.use import add_answers, add_model, add_texts, answer_texts, open_model
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.text_repairer import Repair, TextRepairer
    from clearformer.inference.word_filler import FilledWord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts with a gap")
    add_model(
        parser,
        "a masked language model, as `clearformer train wikitext-2-masked` makes one, or one trained by denoising",
    )
    add_options(parser, VERBS["fill"].options)
    add_answers(parser, "print one JSON object per text, with the gap's place and the guesses")
    parser.epilog = (
        "A gap is written as the model's vocabulary has it, mostly [MASK]; the first of a text is filled. A model that "
        "was trained by denoising writes the whole text; one without a gap is damaged as in training, and both are "
        "shown."
    )


def run(arguments: argparse.Namespace) -> None:
    """The best guesses for each text, in a line."""
    from clearformer.inference.text_repairer import TextRepairer
    from clearformer.inference.word_filler import WordFiller

    bundle, config = open_model(arguments), read_options(arguments, VERBS["fill"].options)
    if bundle.task == "denoising":
        _repair(arguments, TextRepairer(bundle))
        return
    filler = WordFiller(bundle)

    def show(text: str, found: "list[FilledWord]") -> Iterator[str]:
        if arguments.json:
            yield json.dumps({"text": text, "guesses": [asdict(guess) for guess in found]}, ensure_ascii=False)
        else:
            yield VERBS["fill"].line(found)

    answer_texts(arguments, lambda texts: filler.fill(texts, config), show, portion=8 * config.batch)


def _repair(arguments: argparse.Namespace, repairer: "TextRepairer") -> None:
    """Each text as the model saw it, and as it made it whole."""
    config = read_options(arguments, VERBS["fill"].options)

    def show(text: str, found: "Repair") -> Iterator[str]:
        if arguments.json:
            yield json.dumps({"text": text, "shown": found.shown, "repaired": found.text}, ensure_ascii=False)
        else:
            yield from (f"shown     {found.shown}", f"repaired  {found.text}")

    answer_texts(arguments, lambda texts: repairer.fill(texts, config), show, portion=8 * config.batch)

"""clearformer embed: each text as a vector; the product of two says how similar their texts are."""

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine
from clearformer.cli.use import (
    add_answers,
    add_model,
    add_texts,
    answer_texts,
    complete_file,
    given_texts,
    naming_places,
    open_model,
    portions,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from torch import Tensor

    from clearformer.inference.reading_settings import VectorConfig
    from clearformer.inference.text_readers import Embedder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "an encoder, such as minilm, which `clearformer models get minilm` fetches")
    add_options(parser, VERBS["embed"].options)
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    add_answers(parser, "print one JSON object per text, with the text and its vector")
    parser.epilog = (
        "Prints one JSON array per text, a vector of norm 1; --output FILE.npy writes one float32 matrix instead. "
        "A text that is longer than the model reads is read in overlapping windows."
    )


def run(arguments: argparse.Namespace) -> None:
    """Embed text by text; a blank line is refused by its number, so that row n belongs to line n."""
    from clearformer.inference.text_readers import Embedder

    embedder, config = Embedder(open_model(arguments)), read_options(arguments, VERBS["embed"].options)
    if arguments.output is not None and arguments.output.suffix == ".npy":
        _write_matrix(arguments, embedder, config)
        return

    def show(text: str, vector: "Tensor") -> Iterator[str]:
        # nine digits give every float32 back
        numbers = [float(f"{value:.9g}") for value in vector.tolist()]
        yield json.dumps({"text": text, "vector": numbers} if arguments.json else numbers, ensure_ascii=False)

    answer_texts(
        arguments,
        lambda texts: embedder.embed(texts, config),
        show,
        portion=8 * config.batch,
        keep_blank=True,
    )


def _write_matrix(arguments: argparse.Namespace, embedder: "Embedder", config: "VectorConfig") -> None:
    import numpy as np

    parts = []
    for texts in portions(given_texts(arguments, keep_blank=True), 8 * config.batch):
        with naming_places(texts):
            parts.append(embedder.embed([given.text for given in texts], config).numpy())
    if not parts:
        raise ValueError("there is no text to embed")
    with complete_file(arguments.output) as aside, aside.open("wb") as file:
        np.save(file, np.concatenate(parts))

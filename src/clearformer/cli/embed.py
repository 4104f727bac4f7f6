"""clearformer embed: each text, or picture, as a vector; the product of two says how similar they are."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clearformer.cli.embed_pictures import embed_pictures, refuse_picture_names, vector_line, write_rows
from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    add_texts,
    answer_texts,
    given_texts,
    naming_places,
    open_model,
    portions,
)
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from torch import Tensor

    from clearformer.inference.picture_matcher import PictureMatcher
    from clearformer.inference.reading_settings import VectorConfig
    from clearformer.inference.text_readers import Embedder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    add_model(parser, "an encoder, such as minilm, which `clearformer models get minilm` fetches")
    add_options(parser, VERBS["embed"].options)
    add_engine(parser, auto="ctranslate2 for a quantised folder, and otherwise torch")
    parser.add_argument(
        "--pictures",
        action="store_true",
        help="what is given are picture files or folders of them, for a model that matches pictures with texts",
    )
    add_answers(parser, "print one JSON object per text or picture, with the text or file and its vector")
    parser.epilog = (
        "Prints one JSON array per text, a vector of norm 1; --output FILE.npy writes one float32 matrix instead. "
        "A text that is longer than the model reads is read in overlapping windows; a model that matches pictures with "
        "texts (CLIP, SigLIP) reads captions, and refuses it."
    )


def run(arguments: argparse.Namespace) -> None:
    """Embed text by text; a blank line is refused by its number, so that row n belongs to line n."""
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    described = open_folder(arguments.model).description
    matching = name_task(described.task, described.model) == "picture-matching"
    if arguments.pictures and not matching:
        raise UsageError("--pictures is for models that match pictures with texts, and this one does not; leave it out")
    config = read_options(arguments, VERBS["embed"].options)
    if arguments.pictures:
        embed_pictures(arguments, config)
        return
    if matching:
        refuse_picture_names(arguments.text)
    embedder = _opened(arguments, matching=matching)
    if arguments.output is not None and arguments.output.suffix == ".npy":
        _write_matrix(arguments, embedder, config)
        return

    def show(text: str, vector: "Tensor") -> Iterator[str]:
        yield vector_line("text", text, vector, as_json=arguments.json)

    answer_texts(
        arguments,
        lambda texts: embedder.embed(texts, config),
        show,
        portion=8 * config.batch,
        keep_blank=True,
    )


def _opened(arguments: argparse.Namespace, *, matching: bool) -> "Embedder | PictureMatcher":
    from clearformer.inference.picture_matcher import PictureMatcher
    from clearformer.inference.text_readers import Embedder

    return PictureMatcher(open_model(arguments)) if matching else Embedder(open_model(arguments))


def _write_matrix(arguments: argparse.Namespace, embedder: "Embedder | PictureMatcher", config: "VectorConfig") -> None:
    parts = []
    for texts in portions(given_texts(arguments, keep_blank=True), 8 * config.batch):
        with naming_places(texts):
            parts.append(embedder.embed([given.text for given in texts], config).numpy())
    if not parts:
        raise ValueError("there is no text to embed")
    write_rows(arguments.output, parts)

"""clearformer embed --pictures: files and folders in, one vector per picture out; and the form of every vector."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.usage import UsageError
from clearformer.cli.use import complete_file, given_files, open_model, open_output, portions, refuse_missing_files

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from clearformer.inference.reading_settings import VectorConfig


def embed_pictures(arguments: argparse.Namespace, config: "VectorConfig") -> None:
    """Embed picture by picture, in order."""
    from clearformer.data.readers.picture_sets import pictures_below
    from clearformer.data.readers.pictures import ENDINGS
    from clearformer.inference.picture_matcher import PictureMatcher

    refuse_missing_files(arguments)
    matcher = PictureMatcher(open_model(arguments))
    files = given_files(arguments, "pictures", pictures_below, ENDINGS)
    found = ((some, matcher.embed_pictures(some, config)) for some in portions(files, config.batch))
    if arguments.output is not None and arguments.output.suffix == ".npy":
        parts = [vectors.numpy() for _, vectors in found]
        if not parts:
            raise ValueError("there is no picture to embed")
        write_rows(arguments.output, parts)
        return
    with open_output(arguments.output) as output:
        for some, vectors in found:
            for file, vector in zip(some, vectors, strict=True):
                line = vector_line("file", str(file), vector, as_json=arguments.json)
                print(line, file=output, flush=output.isatty())


def refuse_picture_names(texts: Sequence[str]) -> None:
    """Whoever gives the name of a picture means what it shows, not the name."""
    from clearformer.data.readers.pictures import ENDINGS

    for text in texts:
        if Path(text).suffix.lower() in ENDINGS and _is_file(text):
            raise UsageError(f"{text} is a picture; to embed what it shows, give --pictures")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # no possible name of a file
        return False


def vector_line(what: str, given: str, vector: "Tensor", *, as_json: bool) -> str:
    """A vector as a line. what: the name of what was given, in JSON."""
    numbers = [float(f"{value:.9g}") for value in vector.tolist()]  # nine digits give every float32 back
    return json.dumps({what: given, "vector": numbers} if as_json else numbers, ensure_ascii=False)


def write_rows(path: Path, parts: "Sequence[NDArray[Any]]") -> None:
    """One float32 matrix, whole or not at all."""
    import numpy as np

    with complete_file(path) as aside, aside.open("wb") as file:
        np.save(file, np.concatenate(parts))

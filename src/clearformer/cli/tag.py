"""clearformer tag: a tag for each word."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from clearformer.cli.texts import read_texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("text", nargs="*", help="texts; without them and without --input, standard input is read")
    parser.add_argument("--model", required=True, help="the folder of a tagger")
    parser.add_argument("--input", type=Path, help="a file with a text a line")
    parser.add_argument("--json", action="store_true", help="print a JSON object a text, with places and probabilities")


def run(arguments: argparse.Namespace) -> None:
    """Tag text by text; a blank line stands between texts."""
    from clearformer.folder import bundle
    from clearformer.folder.description import find_model
    from clearformer.inference.text_readers import Tagger

    tagger = Tagger(bundle.load(find_model(arguments.model)))
    for number, text in enumerate(read_texts(arguments)):
        tags = tagger.tag(text)
        if arguments.json:
            print(json.dumps({"text": text, "tags": [asdict(tag) for tag in tags]}, ensure_ascii=False))
            continue
        if number:
            print()
        for tag in tags:
            print(f"{tag.word}\t{tag.label}")

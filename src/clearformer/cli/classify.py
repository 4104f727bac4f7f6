"""clearformer classify: the class of each text."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from clearformer.cli.texts import read_texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("text", nargs="*", help="texts; without them and without --input, standard input is read")
    parser.add_argument("--model", required=True, help="the folder of a classifier")
    parser.add_argument("--input", type=Path, help="a file with a text a line")
    parser.add_argument("--batch", type=int, default=32, help="texts at a time (32)")
    parser.add_argument("--json", action="store_true", help="print a JSON object a text, with the score of every class")


def run(arguments: argparse.Namespace) -> None:
    """Classify line by line."""
    from clearformer.folder import bundle
    from clearformer.folder.description import find_model
    from clearformer.inference.text_readers import Classifier

    classifier = Classifier(bundle.load(find_model(arguments.model)))
    texts = read_texts(arguments)
    for text, found in zip(texts, classifier.classify(texts, batch=arguments.batch), strict=True):
        if arguments.json:
            print(json.dumps({"text": text, **asdict(found)}, ensure_ascii=False))
        else:
            print(f"{found.label}\t{found.probability:.4f}\t{text}")

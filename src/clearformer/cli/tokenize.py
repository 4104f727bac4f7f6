"""clearformer tokenize: the pieces and ids that a text becomes."""

import argparse
import json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("text", help="the text to cut")
    parser.add_argument("--model", default="en-de", help="a model folder or the name of one that ships (en-de)")
    parser.add_argument("--target", action="store_true", help="use the target side's vocabulary, where it has its own")
    parser.add_argument("--ids", action="store_true", help="print the ids alone")
    parser.add_argument("--json", action="store_true", help="print JSON with pieces, ids and character positions")


def run(arguments: argparse.Namespace) -> None:
    """Encode and print."""
    from clearformer.folder.description import open_folder

    source, target = open_folder(arguments.model).preprocessing.sides
    found = (target if arguments.target else source).encode(arguments.text)
    if arguments.json:
        print(json.dumps({"pieces": found.pieces, "ids": found.ids, "offsets": found.offsets}, ensure_ascii=False))
    elif arguments.ids:
        print(*found.ids)
    else:
        width = max(len(str(number)) for number in found.ids)
        for piece, number in zip(found.pieces, found.ids, strict=True):
            print(f"{number:>{width}}  {piece!r}" if piece != piece.strip() else f"{number:>{width}}  {piece}")

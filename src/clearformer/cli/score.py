"""clearformer score: the log-probability of given translations."""

import argparse
import json
from pathlib import Path

from clearformer.cli.use import add_model, open_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("--source", type=Path, required=True, metavar="FILE", help="sentences, one per line")
    parser.add_argument("--target", type=Path, required=True, metavar="FILE", help="their translations, line by line")
    add_model(parser, "a translator", default="en-de")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, with every token")


def run(arguments: argparse.Namespace) -> None:
    """Score line by line."""
    from clearformer.data.file_facts import scan
    from clearformer.data.readers.parallel import ParallelFiles
    from clearformer.inference.translator import Translator

    lines = [scan(path).lines for path in (arguments.source, arguments.target)]
    if lines[0] != lines[1]:
        raise ValueError(
            f"{arguments.source} has {lines[0]} lines but {arguments.target} has {lines[1]}; nothing scored"
        )
    translator = Translator(open_model(arguments))
    for pair in ParallelFiles(source=arguments.source, target=arguments.target).pairs():
        scores = translator.score(pair.source, pair.target)
        if arguments.json:
            pieces = [*translator.target_tokenizer.encode(pair.target, add_special=False).pieces, "<eos>"]
            print(
                json.dumps({"log_prob": sum(scores), "tokens": pieces, "token_log_probs": scores}, ensure_ascii=False)
            )
        else:
            print(f"{sum(scores):.4f}\t{pair.target}")

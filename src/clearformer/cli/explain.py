"""clearformer explain: a walk through the model for one sentence as one page, or a single figure."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.usage import UsageError
from clearformer.cli.use import add_model, hint_at_file, utf8_word

if TYPE_CHECKING:
    from clearformer.studio.app import Handlers

FIGURES = ("heads", "attention", "alignment", "tree", "positions", "architecture", "curves")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "text",
        nargs="?",
        type=utf8_word,
        metavar="TEXT",
        help="the sentence; token numbers for a model without a tokenizer (not for positions, architecture, curves)",
    )
    add_model(parser, "the model to show", default="en-de")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="F.html; with --figure F.svg, F.csv or F.json"
    )
    parser.add_argument(
        "--language", choices=("en", "zh"), default="en", help="language of the page, which can be switched there (en)"
    )
    parser.add_argument("--figure", choices=FIGURES, help="write one figure instead of the page")
    parser.add_argument(
        "--site", metavar="LAYER", help="an attention layer, such as decoder.layers.0.cross_attn (all, or the last)"
    )
    parser.add_argument("--head", type=int, metavar="N", help="one of its heads, counted from 1 (the mean of all)")
    parser.add_argument(
        "--runs", type=Path, action="append", metavar="FOLDER", help="for curves: a training run, or a folder of runs"
    )


def run(arguments: argparse.Namespace) -> None:
    """Compute once, write one file."""
    wanted = {".svg", ".csv", ".json"} if arguments.figure else {".html", ".htm"}
    if arguments.out.suffix not in wanted:
        kind = "a figure" if arguments.figure else "the walk-through"
        raise UsageError(f"--out {arguments.out} should end in {' or '.join(sorted(wanted))} for {kind}")

    if arguments.text is None and arguments.figure not in {"positions", "architecture", "curves"}:
        raise UsageError("give the sentence to explain, between quotation marks")
    hint_at_file([arguments.text] if arguments.text else [], '"$(cat {})"')
    if missing := [folder for folder in arguments.runs or [] if not folder.is_dir()]:
        raise UsageError(f"--runs {missing[0]} is not a folder")

    from clearformer.folder.description import find_model
    from clearformer.studio.app import Handlers
    from clearformer.studio.runs import Runs
    from clearformer.studio.shown_model import ShownModel

    handlers = Handlers(ShownModel.open(find_model(arguments.model)), Runs(arguments.runs or []))
    content = _figure(handlers, arguments) if arguments.figure else _page(handlers, arguments)
    try:
        arguments.out.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ValueError(f"{arguments.out} cannot be written ({error.strerror}); choose another --out") from None
    print(arguments.out)


def _page(handlers: "Handlers", arguments: argparse.Namespace) -> str:
    from clearformer.studio.explain import explain

    return explain(handlers, arguments.text, language=arguments.language)


def _figure(handlers: "Handlers", arguments: argparse.Namespace) -> str:
    from clearformer.studio import named_figures

    head = None if arguments.head is None else arguments.head - 1
    wish = named_figures.Wish(text=arguments.text or "", layer=arguments.site, head=head)
    figure = named_figures.FIGURES[arguments.figure](handlers, wish)
    if arguments.out.suffix == ".csv":
        return figure.csv()
    if arguments.out.suffix == ".json":
        return figure.json()
    named = [] if arguments.figure == "curves" else [handlers.shown_model.name]  # runs are named in the legend
    return figure.svg(" · ".join([*named, arguments.figure, *([arguments.text] if arguments.text else [])]))

"""The options of a search, shared by the verbs that translate."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.inference.translation_settings import DecodingConfig


def add_search(parser: argparse.ArgumentParser) -> None:
    """--beam, --penalty, --alpha, --batch."""
    parser.add_argument("--beam", type=int, help="hypotheses kept at each step; 1 is greedy (as in its recipe, or 4)")
    parser.add_argument(
        "--penalty",
        choices=("average", "gnmt"),
        help="divides scores by n^alpha, or by ((5 + n) / 6)^alpha as the 2017 paper does (its recipe's, or average)",
    )
    parser.add_argument(
        "--alpha", type=float, help="of the penalty; more favours longer translations (its recipe's, or 1)"
    )
    parser.add_argument("--batch", type=int, help="sentences translated at a time, fewer where they are long (128)")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """--engine."""
    parser.add_argument(
        "--engine",
        choices=["auto", "torch", "ctranslate2"],
        default="auto",
        help="what runs the model; auto takes the faster ctranslate2 where it can (auto)",
    )


def add_others(parser: argparse.ArgumentParser) -> None:
    """--with, for the verbs that several models can do together."""
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="MODEL",
        help="a further model over the same vocabulary that decides together with the first; may be given again",
    )


def search_config(arguments: argparse.Namespace, *, nbest: int = 1) -> "DecodingConfig":
    """The same as settings: what the command line leaves open is as the model's recipe had it."""
    from clearformer.folder.description import find_model, read_description
    from clearformer.inference.translation_settings import usual_search

    usual = usual_search(read_description(find_model(arguments.model)).provenance)
    options = ("beam", "penalty", "alpha", "batch")
    given = {name: value for name in options if (value := getattr(arguments, name)) is not None}
    return replace(usual, nbest=nbest, **given)

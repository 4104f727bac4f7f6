"""The options of a search, shared by the verbs that translate."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.translation import DecodingConfig


def add_search(parser: argparse.ArgumentParser, *, batch: int) -> None:
    """--beam, --penalty, --alpha, --batch."""
    parser.add_argument("--beam", type=int, default=4, help="hypotheses kept at each step; 1 is greedy (4)")
    parser.add_argument(
        "--penalty",
        choices=("average", "gnmt"),
        default="average",
        help="what scores are divided by: n^alpha, or ((5 + n) / 6)^alpha as in the 2017 paper (average)",
    )
    parser.add_argument("--alpha", type=float, default=1.0, help="of the penalty; more favours longer translations (1)")
    parser.add_argument("--batch", type=int, default=batch, help=f"sentences translated at a time ({batch})")


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
    """The same as settings."""
    from clearformer.translation import DecodingConfig

    return DecodingConfig(
        beam=arguments.beam, nbest=nbest, penalty=arguments.penalty, alpha=arguments.alpha, batch=arguments.batch
    )

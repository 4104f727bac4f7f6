"""The options of a search, shared by the verbs that translate."""

import argparse
from typing import TYPE_CHECKING

from clearformer.cli.named_models import ModelName
from clearformer.cli.options import add_options, read_options
from clearformer.cli.usage import UsageError, asked_wrongly
from clearformer.inference.translation_settings import DecodingConfig

if TYPE_CHECKING:
    from pathlib import Path


def add_search(parser: argparse.ArgumentParser, *, nbest: bool = False) -> None:
    """One flag per field of DecodingConfig. nbest: whether several translations of a text can be shown."""
    names = [name for name in DecodingConfig.__dataclass_fields__ if nbest or name != "nbest"]
    remembered = ("beam", "penalty", "alpha", "stop")  # the model's folder may say otherwise
    for name in names:
        shown = "as in the model's recipe, or {}" if name in remembered else "{}"
        add_options(parser, DecodingConfig, only=[name], default=shown)


def add_engine(parser: argparse.ArgumentParser, auto: str = "the faster ctranslate2 where it can") -> None:
    """--engine. auto: what that takes."""
    parser.add_argument(
        "--engine",
        choices=["auto", "torch", "ctranslate2"],
        default="auto",
        help=f"what runs the model; auto takes {auto} (auto)",
    )


def add_others(parser: argparse.ArgumentParser, share: str = "over the same vocabulary") -> None:
    """--with, for the verbs that several models can do together. share: what they must have in common."""
    parser.add_argument(
        "--with",
        type=ModelName,
        dest="others",
        action="append",
        default=[],
        metavar="MODEL",
        help=f"a further model {share} that decides together with the first; may be given again",
    )


def check_engine(arguments: argparse.Namespace, config: DecodingConfig) -> None:
    """Refuse what --engine ctranslate2 cannot do as wrong usage, before anything is opened."""
    from clearformer.inference.ctranslate2 import check

    if arguments.engine != "ctranslate2":
        return
    if arguments.others:
        raise UsageError("--engine ctranslate2 runs one model alone; leave --engine or --with out")
    with asked_wrongly():
        check(config)


def search_config(arguments: argparse.Namespace, model: "str | Path | None" = None) -> DecodingConfig:
    """The flags as settings: what the command line leaves open is as the model's recipe had it."""
    from clearformer.folder.description import find_model, read_description
    from clearformer.inference.translation_settings import usual_search

    described = read_description(find_model(arguments.model if model is None else model))
    return read_options(arguments, DecodingConfig, usual_search(described.provenance))

"""clearformer summarize: a short text for each long one."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_others
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    GivenText,
    add_answers,
    add_model,
    add_texts,
    given_texts,
    is_typed,
    naming_places,
    open_models,
    open_output,
    portions,
    read_whole,
)
from clearformer.inference.summary_settings import KEPT, SummaryConfig

if TYPE_CHECKING:
    from clearformer.inference.summary_settings import Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "texts")
    parser.add_argument(
        "--file",
        type=Path,
        action="append",
        metavar="FILE",
        help="a whole file as one text, line ends included; - is standard input; may be given again",
    )
    add_model(parser, "a model that summarises, as `clearformer train aeslc` makes one")
    add_others(parser)
    for name in SummaryConfig.__dataclass_fields__:
        add_options(
            parser, SummaryConfig, only=[name], default="as in the model's recipe, or {}" if name in KEPT else "{}"
        )
    add_answers(parser, "print one JSON object per text: summary, score, in how many parts it was read")
    parser.epilog = "What was cut, joined or broken off is said on standard error, and in --json."


def run(arguments: argparse.Namespace) -> None:
    """Summarise text by text; a blank line keeps its place."""
    from clearformer.inference.summarizer import Summarizer

    if arguments.file and (arguments.text or arguments.input):
        raise UsageError("give texts, --input or --file, only one of these")
    summarizer = Summarizer(*open_models(arguments))
    config = read_options(arguments, SummaryConfig, summarizer.usual)
    texts = map(read_whole, arguments.file) if arguments.file else given_texts(arguments, keep_blank=True)
    typed = not arguments.file and is_typed(arguments)
    with open_output(arguments.output) as output:
        for portion in portions(texts, 1 if typed else 8 * config.batch):
            with naming_places(portion):
                found = summarizer.summarize([given.text for given in portion], config)
            for given, one in zip(portion, found, strict=True):
                for line in _shown(given, one, as_json=arguments.json):
                    print(line, file=output, flush=typed or output.isatty())


def _shown(given: GivenText, found: "Summary", *, as_json: bool) -> Iterator[str]:
    if found.remark:
        print(f"{given.place} {found.remark}", file=sys.stderr)
    if as_json:
        told = asdict(found)
        yield json.dumps({"text": given.text, "summary": told.pop("text"), **told}, ensure_ascii=False)
    else:
        yield " ".join(found.text.split())

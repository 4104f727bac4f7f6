"""clearformer quantize: a model in eight bits, if it stays good enough."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from clearformer.cli.evaluate import add_test_set
from clearformer.cli.parser import number_between
from clearformer.cli.search_options import add_search, search_config
from clearformer.cli.use import check_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("model", metavar="MODEL", help="a model folder or the name of one that ships")
    parser.add_argument("out", type=Path, metavar="FOLDER", help="where to write the smaller model")
    add_test_set(parser)
    kind = number_between(0.0, 100.0)
    parser.add_argument("--limit", type=kind, default=0.5, metavar="X", help="most BLEU that may be lost (0.5)")
    add_search(parser)
    parser.add_argument(
        "--shortlist",
        type=Path,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="training files, to learn the likely target tokens of each source token: fewer choices are faster",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Convert, measure both, keep the small one or refuse, print."""
    from clearformer.cli.evaluate import read_test_set
    from clearformer.cli.progress import progress_bar
    from clearformer.folder.description import find_model, read_description
    from clearformer.inference.quantize import quantize

    check_folder(arguments.out, "FOLDER", new=True)
    folder = find_model(arguments.model)
    provenance = read_description(folder).provenance
    config = search_config(arguments)
    arguments.data = arguments.data or (None if arguments.source else provenance.get("data"))
    given = read_test_set(arguments, provenance)
    with progress_bar("translating twice") as show, given.naming_places():
        found = quantize(
            folder,
            arguments.out,
            given.sources,
            given.references,
            limit=arguments.limit,
            pairs=_pairs(arguments.shortlist),
            config=config,
            on_progress=show,
        )
    if arguments.json:
        print(json.dumps({**asdict(found), "lost": found.lost}, indent=2))
        return
    before, after = found.before, found.after
    print(f"             {'float32':>10} {'int8':>10}")
    print(f"size         {before.bytes / 1e6:>7.1f} MB {after.bytes / 1e6:>7.1f} MB")
    print(f"sentences/s  {before.sentences_per_second:>10.1f} {after.sentences_per_second:>10.1f}")
    print(f"BLEU         {before.bleu:>10.2f} {after.bleu:>10.2f}   over {found.sentences} sentences")
    print(f"clearformer translate --model {arguments.out} uses it")


def _pairs(files: list[Path] | None) -> tuple[list[str], list[str]] | None:
    from clearformer.text.doctor.parallel import read_lines

    return None if files is None else (list(read_lines(files[0])), list(read_lines(files[1])))

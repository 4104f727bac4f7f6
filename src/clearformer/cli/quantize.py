"""clearformer quantize: a model in eight bits or four, if it stays good enough."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from clearformer.cli.evaluate import add_test_set
from clearformer.cli.named_models import ModelName
from clearformer.cli.options import read_options
from clearformer.cli.parser import number_between
from clearformer.cli.search_options import add_search, search_config
from clearformer.cli.task_scores import find_test_files, refuse_search
from clearformer.cli.usage import UsageError
from clearformer.cli.use import check_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "model", type=ModelName, metavar="MODEL", help="a model folder, the name of one that ships, or hub:OWNER/NAME"
    )
    parser.add_argument("out", type=Path, metavar="FOLDER", help="where to write the smaller model")
    add_test_set(parser, several=True)
    kind = number_between(0.0, 100.0)
    parser.add_argument(
        "--limit",
        type=kind,
        metavar="X",
        help="most that may be lost: points of BLEU, accuracy, F1 (0.5), per cent of perplexity (1)",
    )
    parser.add_argument(
        "--bits",
        type=int,
        choices=(8, 4),
        default=8,
        help="of the layers' weights; 4: models that continue texts (8)",
    )
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
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    check_folder(arguments.out, "FOLDER", new=True)
    described = open_folder(arguments.model).description
    name = name_task(described.task, described.model)
    (_quantize_translator if name == "translation" else _quantize_reader)(arguments, name)


def _quantize_reader(arguments: argparse.Namespace, name: str) -> None:
    from clearformer.cli.progress import progress_bar
    from clearformer.run.quantization import quantize_scored
    from clearformer.tasks import find_task

    task = find_task(name)
    if task.training is None:
        raise ValueError(
            f"{arguments.model} is a model for {name}, and there is no score for those; without one it is converted "
            f"by `clearformer export {arguments.model} {arguments.out} --to ctranslate2 --quantization int8`"
        )
    refuse_search(arguments, task.verb.options, name)
    files = find_test_files(arguments.data or [])
    options = read_options(arguments, task.verb.options)
    with progress_bar("scoring twice") as show:
        found = quantize_scored(
            arguments.model,
            arguments.out,
            files,
            limit=arguments.limit,
            bits=arguments.bits,
            options=options,
            on_progress=show,
        )
    if arguments.json:
        print(json.dumps({**asdict(found), "lost": found.lost}, indent=2))
        return
    before, after = found.before, found.after
    print(f"{'':<12} {'before':>10} {f'int{arguments.bits}':>10}")
    print(f"{'size':<12} {before.bytes / 1e6:>7.1f} MB {after.bytes / 1e6:>7.1f} MB")
    print(f"{'seconds':<12} {before.seconds:>10.1f} {after.seconds:>10.1f}")
    style = ">10.3f" if found.name == "perplexity" else ">10.2%"
    print(f"{found.name:<12} {before.score:{style}} {after.score:{style}}")
    print(f"clearformer {task.verb.name} --model {arguments.out} uses it")


def _quantize_translator(arguments: argparse.Namespace, name: str) -> None:
    from clearformer.cli.evaluate import read_test_set
    from clearformer.cli.progress import progress_bar
    from clearformer.folder.description import find_model, read_description
    from clearformer.inference.quantize import LIMIT, quantize

    if arguments.bits == 4:
        raise UsageError(f"{arguments.model} is for {name}, and --bits 4 is for models that continue texts; take 8")
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
            limit=LIMIT if arguments.limit is None else arguments.limit,
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

"""clearformer doctor: what is wrong with data that somebody wants to train on."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.tasks.task import Examined


# Files that are not running text: what they hold is for the tasks to say.
LABELLED = (".csv", ".tsv", ".jsonl", ".ndjson", ".conll", ".bio", ".iob", ".iob2", ".bmes", ".iobes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "source",
        type=Path,
        metavar="PATH",
        help="text, one sentence per line, plain or .gz; a table of texts with labels or summaries; a CoNLL file; or a "
        "folder with one subfolder of pictures per class",
    )
    parser.add_argument("target", type=Path, nargs="?", metavar="FILE", help="its translation, line by line")
    parser.add_argument(
        "--test", type=Path, nargs=2, metavar="FILE", help="a test set whose pairs must not be in the corpus"
    )
    parser.add_argument("--task", metavar="NAME", help="what to take the data for, where that is not clear")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Examine and print; data that cannot be trained on ends with exit code 1."""
    if arguments.test and arguments.target is None:
        raise UsageError("--test compares pairs: give the corpus as two files")
    reports = [_examine(arguments)]
    if arguments.test:
        from clearformer.text.doctor.overlap import examine_overlap

        reports.append(examine_overlap((arguments.source, arguments.target), tuple(arguments.test)))
    if arguments.json:
        print(json.dumps([json.loads(report.to_json()) for report in reports], ensure_ascii=False, indent=2))
    else:
        for report in reports:
            print(report.to_text())
    if any(report.fatal for report in reports):
        raise ValueError("this data cannot be trained on as it is; the findings above say what to fix")


def _examine(arguments: argparse.Namespace) -> "Examined":
    """Text is looked at without PyTorch, so that the answer comes at once; other data is the tasks' to recognise."""
    labelled = arguments.target is None and arguments.source.name.lower().removesuffix(".gz").endswith(LABELLED)
    if arguments.source.is_dir() or labelled or arguments.task is not None:
        from clearformer.run.automatic import examine

        files = [path for path in (arguments.source, arguments.target) if path is not None]
        return examine(files, arguments.task)
    from clearformer.text.doctor.parallel import examine as examine_text

    return examine_text(arguments.source, arguments.target)

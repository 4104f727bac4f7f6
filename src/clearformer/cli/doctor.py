"""clearformer doctor: what is wrong with data that somebody wants to train on."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.tasks.task import Examined


# Files that are not running text: what they hold is for the tasks to say.
LABELLED = (
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".conll", ".bio", ".iob", ".iob2", ".bmes", ".iobes"),
    *(".zip", ".tar", ".tgz", ".npz"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "source",
        type=Path,
        metavar="PATH",
        help="text, one sentence per line, plain or .gz; a table of texts with labels or summaries; a CoNLL file; "
        "recordings beside their transcripts; pictures with boxes (COCO JSON or VOC XML) or beside masks; or a folder "
        "with one subfolder of pictures per class",
    )
    parser.add_argument("target", type=Path, nargs="?", metavar="FILE", help="its translation, line by line")
    parser.add_argument(
        "--test",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="a test set that must not be in the data: two files for pairs, else one of the same kind",
    )
    parser.add_argument("--task", metavar="NAME", help="what to take the data for, where that is not clear")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Examine and print; data that cannot be trained on ends with exit code 1."""
    if arguments.test and len(arguments.test) != (1 if arguments.target is None else 2):
        raise UsageError("--test takes two files where the data are two files, and otherwise one")
    for path in (arguments.source, arguments.target, *(arguments.test or ())):
        if path is not None and not path.exists():
            raise ValueError(f"{path} does not exist; check the name")
    reports = [_examine(arguments)]
    if arguments.test:
        reports.append(_overlap(arguments))
    if arguments.json:
        print(json.dumps([json.loads(report.to_json()) for report in reports], ensure_ascii=False, indent=2))
    else:
        for report in reports:
            print(report.to_text())
    if any(report.fatal for report in reports):
        raise ValueError("this data cannot be trained on as it is; the findings above say what to fix")


def _examine(arguments: argparse.Namespace) -> "Examined":
    """Text is looked at without PyTorch, so that the answer comes at once; other data is the tasks' to recognise."""
    if arguments.task is not None or (arguments.target is None and not _is_running_text(arguments.source)):
        from clearformer.run.automatic import examine

        files = [path for path in (arguments.source, arguments.target) if path is not None]
        return examine(files, arguments.task)
    from clearformer.text.doctor.parallel import examine as examine_text

    return examine_text(arguments.source, arguments.target)


def _overlap(arguments: argparse.Namespace) -> "Examined":
    """What the test set shares with the data."""
    if arguments.target is not None:
        from clearformer.text.doctor.overlap import examine_overlap

        return examine_overlap((arguments.source, arguments.target), tuple(arguments.test))
    if arguments.source.is_dir() or arguments.test[0].is_dir():
        raise UsageError("--test compares texts; folders of pictures or recordings it cannot compare")
    from clearformer.tasks.automatic.file_overlap import file_overlap

    return file_overlap(arguments.source, arguments.test[0])


def _is_running_text(path: Path) -> bool:
    """Neither a folder nor a table, and not words with tags under whatever name."""
    if path.is_dir() or path.name.lower().removesuffix(".gz").endswith(LABELLED):
        return False
    from clearformer.data.readers.conll import looks_like_conll

    return not looks_like_conll(path)

"""clearformer doctor: what is wrong with a corpus."""

import argparse
import json
from pathlib import Path

from clearformer.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("source", type=Path, metavar="FILE", help="text, one sentence per line, plain or .gz")
    parser.add_argument("target", type=Path, nargs="?", metavar="FILE", help="its translation, line by line")
    parser.add_argument(
        "--test", type=Path, nargs=2, metavar="FILE", help="a test set whose pairs must not be in the corpus"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Examine and print; a corpus that cannot be trained on ends with exit code 1."""
    from clearformer.text.doctor.overlap import examine_overlap
    from clearformer.text.doctor.parallel import examine

    if arguments.test and arguments.target is None:
        raise UsageError("--test compares pairs: give the corpus as two files")
    reports = [examine(arguments.source, arguments.target)]
    if arguments.test:
        reports.append(examine_overlap((arguments.source, arguments.target), tuple(arguments.test)))
    if arguments.json:
        print(json.dumps([json.loads(report.to_json()) for report in reports], ensure_ascii=False, indent=2))
    else:
        for report in reports:
            print(report.to_text())
    if any(report.fatal for report in reports):
        raise ValueError("this corpus cannot be trained on as it is; the findings above say what to fix")

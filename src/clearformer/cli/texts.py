"""Where a verb's texts come from: its words, a file, or standard input."""

import argparse
import sys

from clearformer.cli.usage import UsageError


def read_texts(arguments: argparse.Namespace) -> list[str]:
    """The texts, one a line where they come from a file; only a line feed ends a line, and blank lines are no texts."""
    if arguments.text and arguments.input:
        raise UsageError("give texts or --input, not both")
    if arguments.text:
        return list(arguments.text)
    if arguments.input is not None:
        from clearformer.text.doctor.parallel import read_lines

        return [line for line in read_lines(arguments.input) if line.strip()]
    return [line for line in sys.stdin.read().split("\n") if line.strip()]

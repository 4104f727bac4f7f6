"""--leave-out: files that cannot be read are named and passed over, instead of stopping everything."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


def add_leave_out(parser: argparse.ArgumentParser, what: str) -> None:
    """what: pictures, or recordings."""
    parser.add_argument(
        "--leave-out",
        action="store_true",
        help=f"leave out {what} that cannot be read, and name them on standard error, instead of stopping",
    )


def readable(files: Iterable[Path], read: Callable[[Path], object], *, leave_out: bool) -> Iterator[Path]:
    """The files, or those that `read` does not refuse; the others are named one by one, and counted in the end."""
    if not leave_out:
        yield from files
        return
    kept, refused = 0, 0
    for file in files:
        try:
            read(file)
        except ValueError as error:
            refused += 1
            print(f"left out: {error}", file=sys.stderr)
        else:
            kept += 1
            yield file
    if refused and not kept:
        raise ValueError(f"none of the {refused:,} files can be read; the lines above say why")
    if refused:
        print(f"{refused:,} of {kept + refused:,} files were left out", file=sys.stderr)

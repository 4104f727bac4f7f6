"""Is the test set in the training set? Then the score measures memorisation."""

from collections.abc import Iterator
from pathlib import Path

from clearformer.text.doctor.findings import Kind
from clearformer.text.doctor.findings_report import DoctorReport, Notebook
from clearformer.text.doctor.pair_checks import is_blank
from clearformer.text.lines import read_lines

Files = tuple[Path | str, Path | str]


def examine_overlap(train: Files, test: Files, *, examples: int = 5) -> DoctorReport:
    """Look up every training pair in the test set; findings name the line of the training source.

    Only the test set is held in memory, as hashes. Bad lines are left to `examine` on either pair of files; a file
    that cannot be read is reported here too.
    """
    notebook = Notebook(examples)
    test_pairs: dict[int, int] = {}
    test_sources: dict[int, int] = {}
    test_lines = 0
    for test_lines, (source, target) in enumerate(_pairs(test, notebook), start=1):
        test_pairs.setdefault(hash((source, target)), test_lines)
        test_sources.setdefault(hash(source), test_lines)
    train_lines = 0
    for train_lines, (source, target) in enumerate(_pairs(train, notebook), start=1):
        there = test_sources.get(hash(source))
        if there is None or is_blank(source):
            continue
        pair_there = test_pairs.get(hash((source, target)))
        kind = Kind.OVERLAP_SOURCE if pair_there is None else Kind.OVERLAP
        notebook.note(kind, Path(train[0]), train_lines, f"line {pair_there or there:,} of {test[0]}", source)
    return notebook.report({str(train[0]): train_lines, str(test[0]): test_lines}, train_lines, {})


def _pairs(files: Files, notebook: Notebook) -> Iterator[tuple[str, str]]:
    def told(path: Path) -> Iterator[str]:
        def notice(kind: Kind, line: int | None, detail: str, text: str, count: int) -> None:
            if kind in (Kind.UNREADABLE, Kind.DAMAGED_GZIP, Kind.INVALID_UTF8):
                notebook.note(kind, path, line, detail, text)

        return read_lines(path, notice)

    return zip(told(Path(files[0])), told(Path(files[1])), strict=False)

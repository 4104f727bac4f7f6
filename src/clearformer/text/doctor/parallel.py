"""What is wrong with this corpus? Reads one file or two parallel files and reports by file and line.

Memory does not grow with the text: two hashes and a length per line, and a few examples per kind. What the
report calls left out is what training leaves out, because both use `classify_pair`.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from clearformer.text.doctor.characters import suspects
from clearformer.text.doctor.findings import Finding, Kind, Severity
from clearformer.text.doctor.findings_report import DoctorReport, Notebook
from clearformer.text.doctor.misalignment import first_suspicious_line
from clearformer.text.doctor.pair_checks import PairLimits, Reason, classify_line, classify_pair
from clearformer.text.doctor.repeats import find_many_targets, find_repeats
from clearformer.text.lines import TextFileError, read_lines, read_quietly
from clearformer.text.scripts import ScriptTally, SwapTally, scripts_of

# What readers of corpora import from here.
__all__ = [
    "DoctorReport",
    "Finding",
    "Kind",
    "PairLimits",
    "Reason",
    "Severity",
    "TextFileError",
    "classify_pair",
    "examine",
    "read_lines",
]

EXAMPLES = 5  # of each kind; the rest is counted

_USUAL = PairLimits()


def examine(
    source: Path | str, target: Path | str | None = None, *, limits: PairLimits = _USUAL, examples: int = EXAMPLES
) -> DoctorReport:
    """Examine one file, or two that should be translations of each other line by line. Never raises for bad text."""
    notebook = Notebook(examples)
    if target is None:
        return _examine_one(_Side(Path(source), notebook), limits, notebook)
    return _examine_two(_Side(Path(source), notebook), _Side(Path(target), notebook), limits, notebook)


class _Side:
    """One file while it is read: what is found line by line, and what is known only at its end."""

    def __init__(self, path: Path, notebook: Notebook) -> None:
        self.path = path
        self.lengths = array("I")
        self.complete = True  # read to its end; False when the file is damaged or cannot be opened
        self.scripts_here: frozenset[str] = frozenset()
        self._scripts = ScriptTally(notebook.examples)
        self._notebook = notebook

    @property
    def count(self) -> int:
        return len(self.lengths)

    @property
    def own_script(self) -> str | None:
        return self._scripts.own()

    def lines(self) -> Iterator[str]:
        for number, line in enumerate(read_lines(self.path, self._notice), start=1):
            self.lengths.append(len(line))
            for suspect in suspects(line):
                self._notebook.note(suspect.kind, self.path, number, suspect.detail, line, suspect.position)
            self.scripts_here = scripts_of(line)
            self._scripts.see(number, self.scripts_here, line)
            yield line

    def conclude(self) -> None:
        if self.complete and not self.count:
            self._notebook.note(Kind.EMPTY_FILE, self.path, None)
        own = self.own_script
        if own is not None:
            count, examples = self._scripts.foreign_to(own)
            for number, scripts, text in examples:
                detail = f"{' and '.join(sorted(scripts))} in a {own} file"
                self._notebook.note(Kind.WRONG_SCRIPT, self.path, number, detail, text)
            self._notebook.add_uncited(Kind.WRONG_SCRIPT, count - len(examples))

    def _notice(self, kind: Kind, line: int | None, detail: str, text: str, count: int) -> None:
        if kind in (Kind.UNREADABLE, Kind.DAMAGED_GZIP):
            self.complete = False
        self._notebook.note(kind, self.path, line, detail, text)
        self._notebook.add_uncited(kind, count - 1)


def _examine_one(side: _Side, limits: PairLimits, notebook: Notebook) -> DoctorReport:
    left_out: Counter[Reason] = Counter()
    hashes = array("q")
    for number, line in enumerate(side.lines(), start=1):
        reason = classify_pair(line, None, limits)
        if reason is not None:
            left_out[reason] += 1
            notebook.note(Kind(reason), side.path, number, _lengths(reason, line), line)
        hashes.append(_hash_if_fit(line, reason, number))
    side.conclude()
    _note_duplicates(side.path, hashes, notebook)
    return _finish([side], left_out, notebook)


def _examine_two(source: _Side, target: _Side, limits: PairLimits, notebook: Notebook) -> DoctorReport:
    left_out: Counter[Reason] = Counter()
    pairs, sources = array("q"), array("q")
    swaps = SwapTally(notebook.examples)
    differ = False
    for number, (left, right) in enumerate(zip_longest(source.lines(), target.lines()), start=1):
        if left is None or right is None:
            differ = True
            continue  # the longer file is read to its end, for its count and its own findings
        reason = classify_pair(left, right, limits)
        if reason is not None:
            left_out[reason] += 1
            _note_left_out(reason, number, (source, left), (target, right), limits, notebook)
        pairs.append(_hash_if_fit((left, right), reason, number))
        sources.append(_hash_if_fit(left, reason, number))
        swaps.see(number, source.scripts_here, target.scripts_here, left)
        differ = differ or left != right
    source.conclude()
    target.conclude()
    _note_counts(source, target, notebook)
    _note_swaps(source, target, swaps, notebook)
    if not differ and source.count:
        notebook.note(Kind.IDENTICAL_FILES, target.path, None, f"the same as {source.path}")
    _note_duplicates(source.path, pairs, notebook)
    _note_many_targets(source.path, sources, pairs, notebook)
    return _finish([source, target], left_out, notebook)


def _finish(sides: list[_Side], left_out: Counter[Reason], notebook: Notebook) -> DoctorReport:
    paired = min(side.count for side in sides)
    kept = paired - left_out.total()
    if paired and not kept:
        notebook.note(Kind.NOTHING_LEFT, sides[0].path, None, f"all {paired:,} are left out")
    return notebook.report({str(side.path): side.count for side in sides}, kept, dict(left_out.most_common()))


def _hash_if_fit(what: str | tuple[str, str], reason: Reason | None, number: int) -> int:
    """What is left out counts as no repeat: it gets a unique hash."""
    return hash(what) if reason is None else hash((number, "left out"))


def _note_left_out(
    reason: Reason,
    number: int,
    source: tuple[_Side, str],
    target: tuple[_Side, str],
    limits: PairLimits,
    notebook: Notebook,
) -> None:
    """Name the side at fault: the unusable line, the blank one, or the target."""
    if reason in (Reason.BLANK, Reason.BLANK_SOURCE, classify_line(source[1], limits)):
        (side, text), other = source, target[1]
    else:
        (side, text), other = target, source[1]
    if reason in (Reason.BLANK_SOURCE, Reason.BLANK_TARGET):
        text = other  # a blank line shows nothing; its partner shows which sentence is meant
    notebook.note(Kind(reason), side.path, number, _lengths(reason, source[1], target[1]), text)


def _lengths(reason: Reason, *lines: str) -> str:
    if reason not in (Reason.TOO_LONG, Reason.LENGTH_RATIO):
        return ""
    return " against ".join(f"{len(line):,}" for line in lines) + " characters"


def _note_counts(source: _Side, target: _Side, notebook: Notebook) -> None:
    if source.count == target.count or not (source.complete and target.complete):
        return  # a file that could not be read to its end is reported already
    longer = source if source.count > target.count else target
    line = first_suspicious_line(source.lengths, target.lengths)
    [text] = _texts_at(longer.path, [line])
    detail = f"{source.count:,} lines against {target.count:,}; they seem to diverge at line {line:,}"
    notebook.note(Kind.UNEQUAL_COUNTS, longer.path, line, detail, text)


def _note_swaps(source: _Side, target: _Side, swaps: SwapTally, notebook: Notebook) -> None:
    count, examples = swaps.between(source.own_script, target.own_script)
    for number, text in examples:
        notebook.note(Kind.SWAPPED_SIDES, source.path, number, "", text)
    notebook.add_uncited(Kind.SWAPPED_SIDES, count - len(examples))


def _note_duplicates(path: Path, hashes: "array[int]", notebook: Notebook) -> None:
    repeats = find_repeats(hashes, notebook.examples)
    texts = _texts_at(path, [line for line, _ in repeats.examples])
    for (line, first), text in zip(repeats.examples, texts, strict=True):
        notebook.note(Kind.DUPLICATE, path, line, f"first on line {first:,}", text)
    notebook.add_uncited(Kind.DUPLICATE, repeats.count - len(repeats.examples))


def _note_many_targets(path: Path, sources: "array[int]", pairs: "array[int]", notebook: Notebook) -> None:
    repeats = find_many_targets(sources, pairs, notebook.examples)
    texts = _texts_at(path, [line for line, _ in repeats.examples])
    for (line, first), text in zip(repeats.examples, texts, strict=True):
        notebook.note(Kind.MANY_TARGETS, path, line, f"has another target on line {first:,}", text)
    notebook.add_uncited(Kind.MANY_TARGETS, repeats.count - len(repeats.examples))


def _texts_at(path: Path, numbers: Sequence[int]) -> list[str]:
    """Read a few lines again: cheaper than remembering all of them. A pipe cannot be read twice and shows nothing."""
    found = dict.fromkeys(numbers, "")
    last = max(numbers, default=0) if path.is_file() else 0
    for number, line in enumerate(islice(read_quietly(path), last), start=1):
        if number in found:
            found[number] = line
    return [found[number] for number in numbers]

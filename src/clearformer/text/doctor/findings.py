"""What can be wrong with a corpus: every kind of finding, how bad it is, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    FATAL = "stops training"
    LEFT_OUT = "left out of training"
    WARNING = "look at this"
    INFO = "for your information"


class Kind(StrEnum):
    """Names are stable: scripts and the JSON report use them."""

    UNREADABLE = "unreadable"
    DAMAGED_GZIP = "damaged_gzip"
    EMPTY_FILE = "empty_file"
    INVALID_UTF8 = "invalid_utf8"
    UNEQUAL_COUNTS = "unequal_counts"
    NOTHING_LEFT = "nothing_left"

    BLANK = "blank"
    BLANK_SOURCE = "blank_source"
    BLANK_TARGET = "blank_target"
    NUL = "nul"
    CONTROL_CHARACTER = "control_character"
    TOO_LONG = "too_long"
    LENGTH_RATIO = "length_ratio"
    COPY = "copy"

    BOM_AT_START = "bom_at_start"
    BOM_INSIDE = "bom_inside"
    CRLF = "crlf"
    MIXED_LINE_ENDS = "mixed_line_ends"
    LINE_SEPARATOR = "line_separator"
    REPLACEMENT_CHARACTER = "replacement_character"
    UNASSIGNED_CHARACTER = "unassigned_character"
    MOJIBAKE = "mojibake"
    WRONG_SCRIPT = "wrong_script"
    SWAPPED_SIDES = "swapped_sides"
    IDENTICAL_FILES = "identical_files"
    DUPLICATE = "duplicate"
    OVERLAP = "overlap"

    OVERLAP_SOURCE = "overlap_source"
    MANY_TARGETS = "many_targets"
    EDGE_SPACE = "edge_space"
    NO_FINAL_NEWLINE = "no_final_newline"

    @property
    def severity(self) -> Severity:
        return _ABOUT[self][0]

    @property
    def meaning(self) -> str:
        return _ABOUT[self][1]

    @property
    def remedy(self) -> str:
        return _ABOUT[self][2]


_FATAL, _LEFT_OUT, _WARNING, _INFO = Severity.FATAL, Severity.LEFT_OUT, Severity.WARNING, Severity.INFO

_ABOUT: dict[Kind, tuple[Severity, str, str]] = {
    Kind.UNREADABLE: (_FATAL, "the file cannot be read as text", "Check the path, the permissions and the encoding."),
    Kind.DAMAGED_GZIP: (_FATAL, "the compressed file is cut off or damaged", "Download or compress it again."),
    Kind.EMPTY_FILE: (_FATAL, "the file has no line", "Give the file that has the text."),
    Kind.INVALID_UTF8: (_FATAL, "bytes that are not UTF-8", "Convert the file, e.g. iconv -f latin1 -t utf-8."),
    Kind.UNEQUAL_COUNTS: (
        _FATAL,
        "the two files do not have the same number of lines, so lines are paired with the wrong lines",
        "Find the missing or extra line near the one named and fix it.",
    ),
    Kind.NOTHING_LEFT: (_FATAL, "no pair can be used for training", "Mend what is reported, or raise the limits."),
    Kind.BLANK: (_LEFT_OUT, "there is no text on this line", "Remove the line (from both files of a pair)."),
    Kind.BLANK_SOURCE: (_LEFT_OUT, "the source is blank but the target is not", "Add the source or remove the pair."),
    Kind.BLANK_TARGET: (_LEFT_OUT, "the target is blank but the source is not", "Add the target or remove the pair."),
    Kind.NUL: (_LEFT_OUT, "a NUL character, often from a binary or UTF-16 file", "Export the text again as UTF-8."),
    Kind.CONTROL_CHARACTER: (_LEFT_OUT, "a control character, which no text needs", "Delete the character."),
    Kind.TOO_LONG: (_LEFT_OUT, "the line is too long for one sentence", "Split it, or raise max_chars."),
    Kind.LENGTH_RATIO: (
        _LEFT_OUT,
        "one side is so much longer that they cannot be translations",
        "Check the pair, or raise max_ratio.",
    ),
    Kind.COPY: (_LEFT_OUT, "the target is the untranslated source", "Translate it or remove the pair."),
    Kind.BOM_AT_START: (
        _WARNING,
        "the file begins with a byte order mark; it is skipped",
        "Save as UTF-8 without BOM.",
    ),
    Kind.BOM_INSIDE: (
        _WARNING,
        "a byte order mark inside the file, left by joining files",
        "Delete the invisible U+FEFF.",
    ),
    Kind.CRLF: (_WARNING, "lines end in CR LF (Windows); the CR is removed", "Convert with dos2unix to be sure."),
    Kind.MIXED_LINE_ENDS: (
        _WARNING,
        "some lines end in CR LF and some in LF; the CR is removed",
        "Convert with dos2unix; check that the files were joined on purpose.",
    ),
    Kind.LINE_SEPARATOR: (
        _WARNING,
        "a character inside the line that some programs take for a line end; here lines end at LF only",
        "Replace it by a space, or other tools will count more lines than there are.",
    ),
    Kind.REPLACEMENT_CHARACTER: (
        _WARNING,
        "U+FFFD: a character was already lost when the file was made",
        "Go back to the original text.",
    ),
    Kind.UNASSIGNED_CHARACTER: (
        _WARNING,
        "a character without a public meaning (private use, or newer than this Python's tables)",
        "Check what it should be.",
    ),
    Kind.MOJIBAKE: (
        _WARNING,
        "UTF-8 that was read as Latin-1 and saved again, as in Ã¼ for ü",
        "Undo it: encode as cp1252, decode as UTF-8.",
    ),
    Kind.WRONG_SCRIPT: (
        _WARNING,
        "the line is not in the script of the rest of the file",
        "Check that it is in the right language.",
    ),
    Kind.SWAPPED_SIDES: (_WARNING, "source and target seem to be swapped on this line", "Swap them back."),
    Kind.IDENTICAL_FILES: (
        _WARNING,
        "source and target are the same text, line for line",
        "Give the translation as the second file.",
    ),
    Kind.DUPLICATE: (_WARNING, "the same line or pair again; it is kept", "Remove repeats that are not meant."),
    Kind.OVERLAP: (
        _WARNING,
        "this is also in the test set, so the test measures memory",
        "Remove it from the training files.",
    ),
    Kind.OVERLAP_SOURCE: (
        _INFO,
        "the source is also in the test set, with another target",
        "Remove it if the test should hold only unseen sentences.",
    ),
    Kind.MANY_TARGETS: (_INFO, "one source with several different targets", "Nothing, if they are all right."),
    Kind.EDGE_SPACE: (_INFO, "white space at the beginning or end of the line", "Strip it if it means nothing."),
    Kind.NO_FINAL_NEWLINE: (_INFO, "the last line has no line end", "Check that the file is complete."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing at one place. `line` counts from 1; None means the file as a whole."""

    kind: Kind
    file: str
    line: int | None
    detail: str = ""
    excerpt: str = ""

    @property
    def remedy(self) -> str:
        return self.kind.remedy

    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        """One sentence for an error message."""
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.place()}: {self.kind.meaning}{detail}. {self.remedy}"


def excerpt(line: str, around: int = 0, width: int = 60) -> str:
    """A short piece of a line; invisible characters are escaped, so that a terminal shows and does not obey them."""
    start = max(0, min(around - width // 2, len(line) - width))
    shown = "".join(
        character if character.isprintable() else _escaped(character) for character in line[start : start + width]
    )
    return ("…" if start else "") + shown + ("…" if start + width < len(line) else "")


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as read_lines passes it to the doctor
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

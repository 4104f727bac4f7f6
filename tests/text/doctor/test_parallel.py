"""Every kind of broken corpus is made here, and found at its file and line."""

import gzip
import json
import os
import random
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearformer.text.doctor.parallel import (
    DoctorReport,
    Kind,
    PairLimits,
    Reason,
    Severity,
    classify_pair,
    examine,
    read_lines,
)

ENGLISH = [
    "Two dogs play in the snow.",
    "A young man reads a newspaper on a bench in the park.",
    "She sings.",
    "The children are building a castle of sand by the sea.",
    "An old woman sells flowers at the corner of the street.",
    "He waits.",
    "Three cyclists ride along the river on a sunny afternoon.",
    "The train is late again.",
    "Nobody knows where the keys are.",
    "It has been raining since the day before yesterday.",
]
GERMAN = [
    "Zwei Hunde spielen im Schnee.",
    "Ein junger Mann liest auf einer Bank im Park eine Zeitung.",
    "Sie singt.",
    "Die Kinder bauen am Meer eine Burg aus Sand.",
    "Eine alte Frau verkauft an der Straßenecke Blumen.",
    "Er wartet.",
    "Drei Radfahrer fahren an einem sonnigen Nachmittag am Fluss entlang.",
    "Der Zug hat wieder Verspätung.",
    "Niemand weiß, wo die Schlüssel sind.",
    "Es regnet schon seit vorgestern.",
]
CHINESE = [
    "两只狗在雪地里玩。",
    "一个年轻人在公园里看报纸。",
    "孩子们在海边堆沙堡。",
    "火车又晚点了。",
    "没有人知道钥匙在哪里。",
] * 2


@dataclass
class Corpus:
    """Ten pairs, as bytes, to be broken."""

    source: list[bytes]
    target: list[bytes]
    source_tail: bytes = b"\n"

    def write(self, folder: Path) -> tuple[Path, Path]:
        source, target = folder / "a.en", folder / "a.de"
        source.write_bytes(b"\n".join(self.source) + (self.source_tail if self.source else b""))
        target.write_bytes(b"".join(line + b"\n" for line in self.target))
        return source, target


def healthy() -> Corpus:
    return Corpus([line.encode() for line in ENGLISH], [line.encode() for line in GERMAN])


def with_source(line: int, content: str | bytes) -> Corpus:
    corpus = healthy()
    corpus.source[line - 1] = content.encode() if isinstance(content, str) else content
    return corpus


def with_target(line: int, content: str | bytes) -> Corpus:
    corpus = healthy()
    corpus.target[line - 1] = content.encode() if isinstance(content, str) else content
    return corpus


def without_target(line: int) -> Corpus:
    corpus = healthy()
    del corpus.target[line - 1]
    return corpus


def repeated_pair(line: int, earlier: int) -> Corpus:
    corpus = healthy()
    corpus.source[line - 1] = corpus.source[earlier - 1]
    corpus.target[line - 1] = corpus.target[earlier - 1]
    return corpus


def crlf(lines: set[int]) -> Corpus:
    corpus = healthy()
    corpus.source = [text + b"\r" if number in lines else text for number, text in enumerate(corpus.source, start=1)]
    return corpus


# name: the corpus, the kind, the file, the line
BROKEN: dict[str, tuple[Corpus, Kind, str, int | None]] = {
    "a target line is missing": (without_target(3), Kind.UNEQUAL_COUNTS, "a.en", 3),
    "the target was cut off": (without_target(10), Kind.UNEQUAL_COUNTS, "a.en", 10),
    "blank source": (with_source(3, ""), Kind.BLANK_SOURCE, "a.en", 3),
    "blank target": (with_target(5, ""), Kind.BLANK_TARGET, "a.de", 5),
    "a target of spaces": (with_target(5, " \t \u00a0"), Kind.BLANK_TARGET, "a.de", 5),
    "a target of nothing visible": (with_target(5, "\u200b\ufeff"), Kind.BLANK_TARGET, "a.de", 5),
    "NUL": (with_source(7, "Three cyc\x00lists ride."), Kind.NUL, "a.en", 7),
    "NUL in the target": (with_target(7, "Drei Rad\x00fahrer"), Kind.NUL, "a.de", 7),
    "a control character": (with_target(2, "Ein junger\x07 Mann"), Kind.CONTROL_CHARACTER, "a.de", 2),
    "an escape sequence": (with_source(2, "A \x1b[31myoung man"), Kind.CONTROL_CHARACTER, "a.en", 2),
    "U+2028": (with_source(2, "A young man\u2028reads a newspaper."), Kind.LINE_SEPARATOR, "a.en", 2),
    "U+2029": (with_source(2, "A young man\u2029reads a newspaper."), Kind.LINE_SEPARATOR, "a.en", 2),
    "U+0085": (with_target(9, "Niemand weiß,\u0085wo die Schlüssel sind."), Kind.LINE_SEPARATOR, "a.de", 9),
    "vertical tab": (with_source(6, "He\x0bwaits."), Kind.LINE_SEPARATOR, "a.en", 6),
    "form feed": (with_source(6, "He\x0cwaits."), Kind.LINE_SEPARATOR, "a.en", 6),
    "a lone carriage return": (with_source(6, "He\rwaits."), Kind.LINE_SEPARATOR, "a.en", 6),
    "a byte order mark at the start": (with_source(1, "\ufeffTwo dogs play."), Kind.BOM_AT_START, "a.en", 1),
    "a byte order mark inside": (with_source(8, "\ufeffThe train is late."), Kind.BOM_INSIDE, "a.en", 8),
    "CR LF": (replace(crlf(set(range(1, 11)))), Kind.CRLF, "a.en", 1),
    "some CR LF": (crlf({7, 9}), Kind.MIXED_LINE_ENDS, "a.en", 7),
    "Latin-1 bytes": (with_target(9, "Niemand weiß es.".encode("latin-1")), Kind.INVALID_UTF8, "a.de", 9),
    "half a character": (with_target(4, "Sand ß".encode()[:-1]), Kind.INVALID_UTF8, "a.de", 4),
    "too long": (with_source(2, "a man reads " * 100), Kind.TOO_LONG, "a.en", 2),
    "extreme ratio": (with_target(4, "Die."), Kind.LENGTH_RATIO, "a.de", 4),
    "untranslated": (with_target(5, ENGLISH[4]), Kind.COPY, "a.de", 5),
    "untranslated but for a space": (with_target(5, ENGLISH[4] + " "), Kind.COPY, "a.de", 5),
    "the same pair twice": (repeated_pair(8, earlier=2), Kind.DUPLICATE, "a.en", 8),
    "one source, two targets": (with_source(8, ENGLISH[1]), Kind.MANY_TARGETS, "a.en", 8),
    "a Russian line": (with_source(4, "Дети строят замок из песка."), Kind.WRONG_SCRIPT, "a.en", 4),
    "a Chinese line": (with_target(4, "孩子们在海边堆沙堡。"), Kind.WRONG_SCRIPT, "a.de", 4),
    "a lost character": (with_target(9, "Niemand wei\ufffd, wo sie sind."), Kind.REPLACEMENT_CHARACTER, "a.de", 9),
    "a private character": (with_target(9, "Niemand\ue000 weiß es genau."), Kind.UNASSIGNED_CHARACTER, "a.de", 9),
    "mojibake": (with_target(8, "Der Zug hat wieder VerspÃ¤tung."), Kind.MOJIBAKE, "a.de", 8),
    "mojibake of quotes": (with_target(8, "â€žDer Zug ist spÃ¤t."), Kind.MOJIBAKE, "a.de", 8),
    "space at an edge": (with_source(3, " She sings."), Kind.EDGE_SPACE, "a.en", 3),
    "no final line end": (replace(healthy(), source_tail=b""), Kind.NO_FINAL_NEWLINE, "a.en", 10),
    "an empty file": (replace(healthy(), source=[]), Kind.EMPTY_FILE, "a.en", None),
    "the same file twice": (replace(healthy(), target=healthy().source), Kind.IDENTICAL_FILES, "a.de", None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_kind_of_damage_is_found_at_its_file_and_line(name, tmp_path):
    corpus, kind, file, line = BROKEN[name]
    report = examine(*corpus.write(tmp_path))
    found = report.of(kind)
    assert [(Path(finding.file).name, finding.line) for finding in found] == [(file, line)], report.to_text()
    assert report.counts[kind] >= 1
    assert report.fatal == any(each.severity is Severity.FATAL for each in report.counts)
    assert found[0].remedy


def test_the_list_of_damages_is_long_enough():
    assert len({kind for _, kind, _, _ in BROKEN.values()}) >= 20


def test_a_healthy_corpus_has_no_finding(tmp_path):
    report = examine(*healthy().write(tmp_path))
    assert report.findings == []
    assert (report.kept, report.left_out, report.fatal) == (10, {}, False)
    assert "10 of 10 kept" in report.to_text()


def test_both_counts_are_named_when_they_differ(tmp_path):
    said = examine(*without_target(3).write(tmp_path)).of(Kind.UNEQUAL_COUNTS)[0]
    assert "10 lines against 9" in said.detail
    assert said.excerpt == ENGLISH[2]


def test_invalid_utf8_is_placed_to_the_byte(tmp_path):
    source, target = with_target(9, b"wei\xdf").write(tmp_path)
    said = examine(source, target).of(Kind.INVALID_UTF8)[0]
    assert target.read_bytes().index(b"\xdf") == int(said.detail.split("offset ")[1].split(" ")[0])
    assert said.excerpt == "wei\\xdf"


def test_excerpts_never_carry_control_characters(tmp_path):
    report = examine(*with_source(2, "A \x1b[31m\x00\u2028\u202eman").write(tmp_path))
    assert report.findings
    assert all(character.isprintable() or character == "\n" for character in report.to_text())


def test_a_single_file_can_be_examined(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one line\n\nanother \x00 line\none line\n", encoding="utf-8")
    report = examine(path)
    assert report.left_out == {Reason.BLANK: 1, Reason.NUL: 1}
    assert report.kept == 2
    assert [(finding.kind, finding.line) for finding in report.findings] == [
        (Kind.BLANK, 2),
        (Kind.NUL, 3),
        (Kind.DUPLICATE, 4),
    ]


def test_blank_lines_on_both_sides_are_one_finding_and_no_duplicates(tmp_path):
    corpus = healthy()
    for line in (3, 6):
        corpus.source[line - 1] = corpus.target[line - 1] = b""
    report = examine(*corpus.write(tmp_path))
    assert report.left_out == {Reason.BLANK: 2}
    assert Kind.DUPLICATE not in report.counts


def test_swapped_sides_are_noticed_when_the_scripts_differ(tmp_path):
    source, target = list(CHINESE), list(ENGLISH)
    source[3], target[3] = target[3], source[3]
    corpus = Corpus([line.encode() for line in source], [line.encode() for line in target])
    report = examine(*corpus.write(tmp_path))
    assert [finding.line for finding in report.of(Kind.SWAPPED_SIDES)] == [4]


def test_gzip_is_read_whatever_the_name(tmp_path):
    source, target = with_target(5, "").write(tmp_path)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(target.read_bytes()))
    assert examine(source, packed).of(Kind.BLANK_TARGET)[0].line == 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_can_be_examined_though_it_cannot_be_read_twice(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = gzip.compress(b"the same line\nthe same line\n")
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    report = examine(pipe)
    writer.join()
    assert [(found.kind, found.line, found.excerpt) for found in report.findings] == [(Kind.DUPLICATE, 2, "")]


def test_a_truncated_gzip_is_fatal_and_not_an_unequal_count(tmp_path):
    source, target = healthy().write(tmp_path)
    packed = tmp_path / "a.de.gz"
    packed.write_bytes(gzip.compress(target.read_bytes())[:-12])
    report = examine(source, packed)
    assert report.fatal
    assert Kind.UNEQUAL_COUNTS not in report.counts
    assert Path(report.of(Kind.DAMAGED_GZIP)[0].file).name == "a.de.gz"


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()], ids=["missing", "a folder"])
def test_an_unreadable_file_is_a_finding_and_not_an_exception(make, tmp_path):
    source, _ = healthy().write(tmp_path)
    make(tmp_path / "b.de")
    report = examine(source, tmp_path / "b.de")
    assert report.fatal
    assert [Path(finding.file).name for finding in report.of(Kind.UNREADABLE)] == ["b.de"]


def test_utf16_is_recognised(tmp_path):
    source, _ = healthy().write(tmp_path)
    (tmp_path / "b.de").write_text("\n".join(GERMAN), encoding="utf-16")
    assert "UTF-16" in examine(source, tmp_path / "b.de").of(Kind.UNREADABLE)[0].detail


def test_when_everything_is_left_out_training_stops(tmp_path):
    report = examine(*healthy().write(tmp_path), limits=PairLimits(max_chars=3))
    assert report.kept == 0
    assert Kind.NOTHING_LEFT in report.counts
    assert report.fatal


def test_everything_is_counted_and_a_few_are_shown(tmp_path):
    corpus = Corpus([b"a b c"] * 100, [b""] * 100)
    report = examine(*corpus.write(tmp_path), examples=3)
    assert report.counts[Kind.BLANK_TARGET] == report.left_out[Reason.BLANK_TARGET] == 100
    assert [finding.line for finding in report.of(Kind.BLANK_TARGET)] == [1, 2, 3]
    assert "and 97 more" in report.to_text()


LINES = st.lists(
    st.one_of(
        st.sampled_from([*ENGLISH, *GERMAN, *CHINESE, "", " ", "\x00", "\x07", "\u2028", "\ufeff", "x" * 2000, "@@"]),
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=50),
    ),
    max_size=30,
)


@given(lines=LINES, other=LINES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_announced_is_what_a_reader_leaves_out(tmp_path, lines, other):
    """The reader's loop, written out: same lines, same function, so the same numbers by reason."""
    size = min(len(lines), len(other))
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_bytes(b"".join(line.encode() + b"\n" for line in lines[:size]))
    target.write_bytes(b"".join(line.encode() + b"\n" for line in other[:size]))
    reasons = [classify_pair(*pair, PairLimits()) for pair in zip(read_lines(source), read_lines(target), strict=True)]
    report = examine(source, target)
    assert report.kept == reasons.count(None)
    assert report.left_out == {reason: reasons.count(reason) for reason in set(reasons) - {None}}
    assert {kind: count for kind, count in report.counts.items() if kind.severity is Severity.LEFT_OUT} == {
        Kind(reason): count for reason, count in report.left_out.items()
    }


@given(source=st.binary(max_size=300), target=st.binary(max_size=300))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes_never_raise(tmp_path, source, target):
    (tmp_path / "a").write_bytes(source)
    (tmp_path / "b").write_bytes(target)
    _check_consistent(examine(tmp_path / "a", tmp_path / "b"))
    _check_consistent(examine(tmp_path / "a"))


def test_damaged_archives_never_raise(tmp_path):
    chance = random.Random(7)
    packed = gzip.compress("\n".join(GERMAN).encode())
    (tmp_path / "a").write_text("\n".join(ENGLISH))
    for _ in range(300):
        damaged = bytearray(packed[: chance.randrange(2, len(packed) + 1)])
        for _ in range(chance.randrange(4)):
            damaged[chance.randrange(2, max(3, len(damaged))) % len(damaged)] = chance.randrange(256)
        (tmp_path / "b").write_bytes(damaged)
        _check_consistent(examine(tmp_path / "a", tmp_path / "b"))


def _check_consistent(report: DoctorReport) -> None:
    assert report.total == min(report.lines.values())
    assert json.loads(report.to_json())["kept"] == report.kept
    assert report.to_text()
    for kind, count in report.counts.items():
        assert 1 <= len(report.of(kind)) <= count


def test_a_reader_can_see_that_nothing_was_skipped(tmp_path):
    """A thousand pairs with a known number of unfit ones: every one of them is accounted for."""
    chance = random.Random(1)
    corpus = Corpus([], [])
    for number in range(1000):
        blank = chance.random() < 0.1
        corpus.source.append(f"sentence number {number}".encode())
        corpus.target.append(b"" if blank else f"Satz Nummer {number}".encode())
    report = examine(*corpus.write(tmp_path))
    assert report.left_out[Reason.BLANK_TARGET] == corpus.target.count(b"")
    assert report.kept == 1000 - corpus.target.count(b"")


@pytest.mark.corpora
def test_multi30k_has_two_captions_without_a_translation():
    """Two German captions are "@@"; everything else of the published files is fit."""
    folder = Path(os.environ["CLEARFORMER_DATA"]) / "multi30k" / "raw"
    report = examine(folder / "train.en.gz", folder / "train.de.gz")
    assert report.lines == {str(folder / f"train.{side}.gz"): 29_000 for side in ("en", "de")}
    assert [(finding.line, finding.excerpt) for finding in report.of(Kind.LENGTH_RATIO)] == [
        (16510, "@@"),
        (16664, "@@"),
    ]
    assert (report.kept, report.left_out) == (28_998, {Reason.LENGTH_RATIO: 2})

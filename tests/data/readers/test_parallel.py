"""Reading parallel text: pairs never shift, nothing is dropped without being counted, errors name the line."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.catalogue.fetch import locate
from clearformer.data.readers.parallel import (
    CorpusError,
    JoinedFiles,
    JsonLines,
    Pair,
    ParallelFiles,
    TabSeparated,
    Tally,
    read_pairs,
)
from clearformer.text.doctor.parallel import PairLimits, TextFileError

LINES = [("Two dogs play.", "Zwei Hunde spielen."), ("It snows.", "Es schneit."), ("我爱你。", "Ich liebe dich. 🐕")]


def write(path, text):
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def in_two_files(folder, pairs, suffix=""):
    return ParallelFiles(
        source=write(folder / f"a.en{suffix}", "".join(f"{source}\n" for source, _ in pairs)),
        target=write(folder / f"a.de{suffix}", "".join(f"{target}\n" for _, target in pairs)),
    )


def in_columns(folder, pairs, suffix=""):
    return TabSeparated(path=write(folder / f"a.tsv{suffix}", "".join(f"{s}\t{t}\tmore\n" for s, t in pairs)))


def in_objects(folder, pairs, suffix=""):
    rows = (json.dumps({"translation": {"en": source, "de": target}}) for source, target in pairs)
    path = write(folder / f"a.jsonl{suffix}", "".join(f"{row}\n" for row in rows))
    return JsonLines(path=path, source_key="translation.en", target_key="translation.de")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("form", [in_two_files, in_columns, in_objects])
def test_every_form_gives_the_same_pairs(tmp_path, form, suffix):
    corpus = form(tmp_path, LINES, suffix)
    expected = [Pair(source, target, line) for line, (source, target) in enumerate(LINES, start=1)]
    assert list(corpus.pairs()) == expected
    assert all(path.is_file() for path in corpus.files)
    tally = Tally()
    assert list(read_pairs(corpus, PairLimits(), tally)) == expected
    assert (tally.kept, tally.total) == (3, 3)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=10))
def test_pairs_never_shift(tmp_path_factory, pairs):
    """Whatever stands in a line, line n stays with line n: also U+2028, carriage returns and empty lines."""
    clean = [tuple(side.replace("\n", "").encode("utf-8", "ignore").decode() for side in pair) for pair in pairs]
    corpus = in_two_files(tmp_path_factory.mktemp("pairs"), clean)
    assert [pair.line for pair in corpus.pairs()] == list(range(1, len(clean) + 1))


@pytest.mark.parametrize(("source_lines", "target_lines"), [(3, 5), (5, 3), (0, 1), (2, 1)])
def test_unequal_files_stop_with_both_numbers(tmp_path, source_lines, target_lines):
    corpus = ParallelFiles(
        source=write(tmp_path / "a.en", "x\n" * source_lines), target=write(tmp_path / "a.de", "y\n" * target_lines)
    )
    with pytest.raises(CorpusError, match=rf"a\.en has {source_lines} lines but .*a\.de has {target_lines}"):
        list(corpus.pairs())


def test_reading_is_streaming(tmp_path):
    """The first pair is there before the last lines are looked at, so the unequal end is not seen yet."""
    corpus = ParallelFiles(source=write(tmp_path / "a", "x\n" * 10), target=write(tmp_path / "b", "y\n" * 11))
    assert next(corpus.pairs()) == Pair("x", "y", 1)


def test_joined_files_read_as_if_they_were_one(tmp_path):
    for part in ("first", "second"):
        (tmp_path / part).mkdir()
    first, second = (in_two_files(tmp_path / part, LINES) for part in ("first", "second"))
    joined = JoinedFiles(parts=(first, second))
    whole = in_two_files(tmp_path, [*LINES, *LINES])
    assert list(joined.pairs()) == list(whole.pairs())
    assert joined.files == (*first.files, *second.files)


def test_an_unequal_part_of_joined_files_is_named(tmp_path):
    """Lines do not shift into the next part: four lines against three in one, three against four in the other."""
    parts = []
    for name, sources, targets in (("a", 4, 3), ("b", 3, 4)):
        source, target = (
            write(tmp_path / f"{name}.en", "x\n" * sources),
            write(tmp_path / f"{name}.de", "y\n" * targets),
        )
        parts.append(ParallelFiles(source=source, target=target))
    with pytest.raises(CorpusError, match=r"a\.en has 4 lines but .*a\.de has 3"):
        list(JoinedFiles(parts=tuple(parts)).pairs())


def test_pairs_left_out_are_counted_by_reason(tmp_path):
    pairs = [*LINES, ("", "Leer."), ("Something.", ""), ("", "Noch einmal leer.")]
    tally = Tally()
    kept = list(read_pairs(in_two_files(tmp_path, pairs), PairLimits(), tally))
    assert [pair.line for pair in kept] == [1, 2, 3]
    assert (tally.kept, sum(tally.left_out.values()), tally.total) == (3, 3, 6)
    assert min(tally.first_line.values()) == 4
    assert "3 of 6 pairs kept; left out: " in str(tally)


def test_tallies_add_up():
    one, other = Tally(kept=2), Tally(kept=3)
    one.leave_out("blank", 7)
    other.leave_out("blank", 4)
    other.leave_out("too long", 9)
    one.add(other)
    assert (one.kept, dict(one.left_out), one.first_line) == (
        5,
        {"blank": 2, "too long": 1},
        {"blank": 4, "too long": 9},
    )
    assert str(one) == "5 of 8 pairs kept; left out: 2 blank (first: line 4), 1 too long (first: line 9)"


def test_line_ends_inside_a_json_text_become_spaces(tmp_path):
    path = write(tmp_path / "a.jsonl", json.dumps({"en": "One\ntwo.", "de": "Eins\nzwei."}) + "\n")
    corpus = JsonLines(path=path, source_key="en", target_key="de")
    assert list(corpus.pairs()) == [Pair("One two.", "Eins zwei.", 1)]


def test_bytes_that_are_no_text_stop_the_reading_with_the_line(tmp_path):
    (tmp_path / "a").write_bytes(b"fine\n\xff\n")
    (tmp_path / "b").write_bytes(b"gut\nschlecht\n")
    with pytest.raises(TextFileError, match=r"\ba\b.*2"):
        list(ParallelFiles(source=tmp_path / "a", target=tmp_path / "b").pairs())


def test_columns_can_be_chosen_and_a_header_skipped(tmp_path):
    path = write(tmp_path / "a.tsv", "id\tde\ten\n1\tJa.\tYes.\n")
    corpus = TabSeparated(path=path, source_column=2, target_column=1, header=True)
    assert list(corpus.pairs()) == [Pair("Yes.", "Ja.", 2)]


def test_a_line_with_too_few_columns_stops_the_reading(tmp_path):
    corpus = TabSeparated(path=write(tmp_path / "a.tsv", "Yes.\tJa.\nNo.\n"))
    with pytest.raises(CorpusError, match=r"a\.tsv, line 2: 1 columns, but column 1"):
        list(corpus.pairs())


@pytest.mark.parametrize(
    ("second_line", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("", "line 2 is not JSON"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"en": "x"}', "line 2 has no text under 'de'"),
        ('{"en": "x", "de": 5}', "line 2 has no text under 'de'"),
        (r'{"en": "x", "de": "\ud800"}', "line 2 has half a character"),
        ("[1, 2]", "line 2 has no text under 'en'"),
    ],
)
def test_a_line_that_is_not_the_announced_json_stops_the_reading(tmp_path, second_line, message):
    path = write(tmp_path / "a.jsonl", '{"en": "Yes.", "de": "Ja."}\n' + second_line + "\n")
    with pytest.raises(CorpusError, match=message):
        list(JsonLines(path=path, source_key="en", target_key="de").pairs())


@pytest.mark.corpora
def test_multi30k_is_read_whole():
    raw = locate("multi30k") / "raw"
    tally = Tally()
    corpus = ParallelFiles(source=raw / "train.en.gz", target=raw / "train.de.gz")
    assert sum(1 for _ in read_pairs(corpus, PairLimits(), tally)) == tally.kept
    assert tally.total == 29_000
    assert tally.kept > 28_900

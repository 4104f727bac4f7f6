"""Medians, ratios, shares of the limit, and when a run may be quoted."""

import json

import pytest

from clearformer.bench import results_page
from clearformer.bench.idleness import Moment
from clearformer.bench.race import RaceReading, Turn
from clearformer.bench.results_page import Names, disturbances, median_rate, tabulate, to_json, to_markdown

NAMES = {
    "us": Names(title="ours", ours=True),
    "fast": Names(title="fast peer", ours=False),
    "slow": Names(title="slow peer", ours=False),
    "gone": Names(title="gone peer", ours=False),
}
IDLE = Moment(load=0.0, cores=2, others=0.0)


def turn(name: str, rate: float, *, peak: int = 0, others: float = 0.0, latency: float | None = None) -> Turn:
    reading = RaceReading(
        case="tiny", unit="target tokens", count=rate, seconds=1.0, latency=latency, facts={"version": "1.0", "loss": 9}
    )
    return Turn(name=name, readings=(reading,), peak_bytes=peak, others=others)


TURNS = [
    turn("us", 200, peak=10), turn("fast", 100), turn("slow", 10),
    turn("us", 400, peak=30), turn("fast", 90), turn("slow", 30),
    turn("us", 210, peak=20), turn("fast", 300), turn("slow", 20),
]  # fmt: skip


def rows(**more):
    return {row.name: row for row in tabulate("tiny", TURNS, NAMES, **more).rows}


def test_the_middle_turn_counts():
    """One turn of the fast peer was three times as fast, by luck; the median does not believe it."""
    found = rows()
    assert [found[name].rate for name in ("us", "fast", "slow")] == [210, 100, 20]
    assert (found["fast"].low, found["fast"].high, found["fast"].turns) == (90, 300, 3)


def test_ratios_are_against_the_fastest_peer_never_against_ourselves():
    found = rows()
    assert found["us"].against_peer == pytest.approx(2.1)
    assert found["fast"].against_peer == 1.0
    assert found["slow"].against_peer == pytest.approx(0.2)


def test_alone_there_is_no_ratio():
    [row] = tabulate("tiny", [turn("us", 5)], NAMES).rows
    assert row.against_peer is None


def test_the_share_of_the_limit_is_operations_done_over_operations_possible():
    """210 tokens/s of 2 MFLOP each on a machine of 840 MFLOP/s: half of what it can do."""
    assert rows(operations=2e6, limit=840e6)["us"].of_limit == pytest.approx(0.5)


def test_memory_is_the_worst_turn():
    assert rows()["us"].peak_bytes == 30


def test_the_fastest_stands_first_and_who_is_missing_last_with_the_reason():
    table = tabulate("tiny", TURNS, NAMES, missing={"gone": "does not install"})
    assert [row.name for row in table.rows] == ["us", "fast", "slow", "gone"]
    assert table.rows[-1].failure == "does not install"
    assert table.unit == "target tokens"


def test_who_crashed_is_listed_with_the_reason():
    table = tabulate("tiny", [turn("us", 1), Turn(name="slow", failure="ended with code 1")], NAMES)
    assert [(row.name, row.failure) for row in table.rows] == [("us", None), ("slow", "ended with code 1")]


def test_another_case_is_another_table():
    [row] = tabulate("base", [turn("us", 1)], NAMES).rows
    assert row.rate is None
    assert row.failure == "did not measure this case"


def test_an_idle_run_may_be_quoted():
    assert disturbances(IDLE, TURNS) == []


@pytest.mark.parametrize(
    ("moment", "turns", "words"),
    [
        (Moment(load=2.0, cores=2, others=1.5), TURNS, "before the run other programs used 1.5 of 2 cores"),
        (IDLE, [*TURNS, turn("fast", 1, others=0.7)], "during 1 of the turns .worst: 0.7 cores beside fast"),
    ],
)
def test_a_disturbed_run_is_marked_in_words_and_for_programs(moment, turns, words):
    import re

    [reason] = disturbances(moment, turns)
    assert re.search(words, reason)
    table = tabulate("tiny", turns, NAMES)
    assert results_page.DO_NOT_QUOTE in to_markdown([table], moment=moment, processor="p", turns=turns)
    told = to_json(moment=moment, processor="p", settings={}, tables=[table], turns=turns)
    assert told["quotable"] is False
    assert told["disturbances"] == [reason]


def test_the_json_holds_every_turn_and_can_be_read_again():
    table = tabulate("tiny", TURNS, NAMES)
    told = json.loads(json.dumps(to_json(moment=IDLE, processor="p", settings={}, tables=[table], turns=TURNS)))
    assert told["quotable"] is True
    assert len(told["turns"]) == 9
    assert told["turns"][0]["readings"][0]["rate"] == 200
    assert told["tables"][0]["rows"][0]["facts"] == {"loss": 9}


def test_the_table_shows_what_was_measured():
    table = tabulate("tiny", [turn("us", 2000, peak=3 << 20, latency=0.0123)], NAMES, operations=1.0, limit=4000.0)
    text = to_markdown([table], moment=IDLE, processor="A Processor", turns=[])
    assert "A Processor" in text
    [line] = [line for line in text.splitlines() if "ours" in line]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "**ours**", "1.0", "2,000 (2,000–2,000)", "–", "12.3 ms", "50%", "3 MiB",
    ]  # fmt: skip


def test_a_reason_with_a_bar_in_it_does_not_break_the_table():
    table = tabulate("tiny", [Turn(name="slow", failure="a | b")], NAMES)
    lines = [line for line in to_markdown([table], moment=IDLE, processor="p", turns=[]).splitlines() if "|" in line]
    assert len({line.count("|") for line in lines}) == 1


def test_the_median_of_nothing_is_nothing():
    assert median_rate([], "tiny") is None
    assert median_rate(TURNS[:2], "tiny") == 150


def test_footprints_are_told_in_megabytes_with_what_was_left_out():
    text = results_page.footprint_table(
        {
            "ours": {"version": "1", "packages": 9, "bytes": 5 << 20, "own_bytes": 1 << 19, "not_installed": []},
            "peer": {"version": "2", "packages": 90, "bytes": 5 << 20, "own_bytes": 0, "not_installed": ["spacy"]},
            "lost": {"failure": "no such package"},
        }
    )
    assert "| ours | 1 | 9 | 5.0 MiB | 0.5 MiB | nothing |" in text
    assert "spacy" in text
    assert "no such package" in text
    assert results_page.footprint_table({}) == ""

"""What is wrong with texts and summaries: gaps, summaries as long as the text, repeats, near copies, too few."""

import json
from pathlib import Path

from clearformer.data.readers.summary_pairs import SummaryPair
from clearformer.tasks.automatic.summary_doctor import FEWEST, examine_summaries

PATH = Path("mails.csv")


def pairs(count):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    return [
        SummaryPair(" ".join(f"{word}{n}" for word in words), f"mail {n}", (), f"mails.csv:{n + 2}")
        for n in range(count)
    ]


def test_good_data_has_nothing_wrong():
    usable, report = examine_summaries(PATH, pairs(30))
    assert len(usable) == report.texts == 30
    assert not report.fatal
    assert "nothing wrong was found" in report.to_text()


def test_everything_that_is_wrong_is_told_by_its_place():
    rows = pairs(30)
    rows += [
        SummaryPair("", "a summary", (), "mails.csv:90"),
        SummaryPair("a text", "", (), "mails.csv:91"),
        SummaryPair("short", "much longer than that", (), "mails.csv:92"),
        rows[0]._replace(place="mails.csv:93", summary="other"),
        rows[1]._replace(place="mails.csv:94", text=rows[1].text + " indeed"),
    ]
    usable, report = examine_summaries(PATH, rows)
    assert len(usable) == 32
    told = json.loads(report.to_json())
    assert told["counts"] == {
        "no text (left out)": 1,
        "no summary (left out)": 1,
        "a summary as long as its text (left out)": 1,
        "the same text again": 1,
        "a near copy (70% of its runs of 5 words) of a text before it": 1,
    }
    text = report.to_text()
    assert "mails.csv:93: as mails.csv:2, with another summary; decide for one" in text
    assert "mails.csv:94: nearly as mails.csv:3" in text


def test_too_little_is_fatal():
    _, report = examine_summaries(PATH, pairs(FEWEST - 1))
    assert report.fatal
    assert f"at least {FEWEST} are needed" in report.to_text()

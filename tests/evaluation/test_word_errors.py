"""Word and character error rates: by hand in small cases, by jiwer in all, with intervals that enclose them."""

import jiwer
import pytest

from clearformer.evaluation.word_errors import quick_errors, score_transcripts


def test_by_hand():
    scores = score_transcripts(["do re", "mi", "sol"], ["do mi", "mi", "la la"])
    assert scores["wer"] == pytest.approx(3 / 5)  # re for mi; sol for la, and a la missing
    assert scores["exact"] == pytest.approx(1 / 3)
    assert scores["words"] == 5
    assert scores["examples"] == 3
    for name in ("wer", "cer", "exact"):
        assert scores[f"{name}_low"] <= scores[name] <= scores[f"{name}_high"]
    assert "bootstrap" in scores["signature"]


def test_they_are_those_of_the_library_over_all_texts():
    found = ["wir gehen heut nach hause", "das ist gut", "nein nein"]
    wanted = ["wir gehen heute nach hause", "das war sehr gut", "nein"]
    scores = quick_errors(found, wanted)
    assert scores["wer"] == pytest.approx(jiwer.wer(wanted, found))
    assert scores["cer"] == pytest.approx(jiwer.cer(wanted, found))
    assert set(scores) == {"wer", "cer", "exact"}


def test_nothing_said_and_nothing_found():
    assert quick_errors(["", "do"], ["", "do"]) == {"wer": 0, "cer": 0, "exact": 1}
    assert quick_errors(["do re"], [""])["wer"] == 2  # two words too many, where none was said
    assert quick_errors([""], ["do re"])["wer"] == 1


def test_how_it_is_written_does_not_count():
    scores = score_transcripts(["I'm in the house at twenty-one."], ["i am in the house at 21"])
    assert scores["wer"] == 0
    assert "English normalised" in scores["signature"]
    assert score_transcripts(["3, 7."], ["3 7"])["exact"] == 1


def test_without_spaces_a_character_is_a_word():
    scores = score_transcripts(["今天天气好。"], ["今天天气很好"])
    assert scores["wer"] == pytest.approx(1 / 6)
    assert "characters as words" in scores["signature"]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="2 transcripts cannot be compared with 1"):
        quick_errors(["a", "b"], ["a"])

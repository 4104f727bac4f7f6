"""Settings of a search and its results, as plain data."""

import subprocess
import sys
from dataclasses import replace

import pytest

from clearformer.translation import DecodingConfig, nothing, usual_search

SHORT = DecodingConfig(beam=2, max_ratio=0.5, max_extra=4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, r"decoding\.batch must be at least 1, not 0"),
        ({"beam": 0}, r"decoding\.beam must be at least 1, not 0"),
        ({"nbest": 3}, r"decoding\.nbest is 3, but a beam of 2"),
        ({"penalty": "paper"}, r"decoding\.penalty is 'paper'; choose average or gnmt"),
        ({"alpha": float("nan")}, r"decoding\.alpha must be a number, not nan"),
        ({"max_ratio": 0.0, "max_extra": 0}, "leave no room for a word"),
    ],
)
def test_searches_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SHORT, **changes)


def test_a_folder_may_say_how_it_is_searched():
    assert usual_search({}) == DecodingConfig()
    assert usual_search({"decoding": {"beam": 5, "wings": 2}}) == DecodingConfig(beam=5)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"beam": "5"}, "which is no such setting"),
        ({"beam": True}, "which is no such setting"),
        ({"beam": 10**9}, "asks for a beam of 1000000000; 64 is the most a folder may ask for"),
        ({"beam": 0}, "must be at least 1"),
        ({"stop": "never"}, "choose full or proved"),
        ("beam", "which are no settings"),
    ],
)
def test_a_folder_from_a_stranger_cannot_ask_for_anything(said, message):
    with pytest.raises(ValueError, match=message):
        usual_search({"decoding": said})


def test_the_longest_translation_depends_on_its_own_source_alone():
    assert [SHORT.longest(length) for length in (1, 2, 10)] == [4, 5, 9]


def test_a_source_at_the_limit_is_refused_by_its_number():
    config = replace(SHORT, max_source=10)
    config.check_length(1, 9)
    with pytest.raises(ValueError, match="text 3 has 10 tokens, more than the 9 allowed; split it"):
        config.check_length(3, 10)


def test_nothing_is_a_translation_too():
    assert nothing().text == ""
    assert nothing().ids == ()


def test_settings_cost_no_tensors():
    code = "import sys, clearformer.translation, clearformer.folder; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

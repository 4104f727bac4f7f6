"""Settings of a search and its results, as plain data."""

import random
import subprocess
import sys
from dataclasses import replace

import pytest

from clearformer.inference.translation_settings import DecodingConfig, nothing, share_out, usual_search
from clearformer.run.recipe import find_recipe, read_recipe

SHORT = DecodingConfig(beam=2, max_ratio=0.5, max_extra=4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, r"^batch must be at least 1, not 0"),
        ({"batch_tokens": 0}, r"^batch_tokens must be at least 1, not 0"),
        ({"beam": 0}, r"^beam must be at least 1, not 0"),
        ({"nbest": 3}, r"^nbest is 3, but a beam of 2"),
        ({"penalty": "paper"}, r"^penalty is 'paper'; choose average or gnmt"),
        ({"alpha": float("nan")}, r"^alpha must be a number, not nan"),
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


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 40, 200])
def test_every_sentence_is_in_one_batch_and_no_batch_is_too_large(count, workers):
    lengths = random.Random(count).choices(range(30), k=count)
    config = DecodingConfig(batch=16, batch_tokens=100)
    batches = share_out(lengths, config, workers=workers)
    assert sorted(row for batch in batches for row in batch) == [row for row in range(count) if lengths[row]]
    for batch in batches:
        assert 1 <= len(batch) <= 16
        assert len(batch) * lengths[batch[0]] <= 100
    in_order = [lengths[row] for batch in batches for row in batch]
    assert in_order == sorted(in_order, reverse=True)


def test_workers_get_as_many_batches_each():
    config = DecodingConfig(batch=64)
    assert [len(batch) for batch in share_out([9] * 160, config, workers=2)] == [40] * 4
    assert [len(batch) for batch in share_out([9] * 5, config, workers=2)] == [3, 2]
    assert [len(batch) for batch in share_out([9] * 5, config, workers=1)] == [5]


def test_a_sentence_longer_than_a_batch_is_a_batch():
    assert share_out([7, 500, 0, 90], DecodingConfig(batch_tokens=100), workers=1) == [[1], [3], [0]]


def test_nothing_is_a_translation_too():
    assert nothing().text == ""
    assert nothing().ids == ()


def test_settings_cost_no_tensors():
    modules = "clearformer.inference.translation_settings, clearformer.folder.description"
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("change", "named"),
    [("use.beam=0", "use.beam must be at least 1, not 0"), ("use.nbest=9", "use.nbest is 9, but a beam of")],
)
def test_a_recipe_is_told_the_section_that_the_setting_stands_in(change, named):
    with pytest.raises(ValueError, match=f": {named}"):
        read_recipe(find_recipe("sample"), [change])

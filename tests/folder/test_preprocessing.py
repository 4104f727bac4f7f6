"""What happens to an example before the network is written down with it, and comes back the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.folder.preprocessing import (
    Markers,
    Outcome,
    PictureFacts,
    Preprocessing,
    SoundFacts,
    read_preprocessing,
    usual_markers,
)
from clearformer.foundation.storage import DamagedError
from clearformer.text.train_tokenizer import train

BYTES = train("byte", [])
LETTERS = train("character", ["zwei Hunde, ein Hund"], 300)

ids = st.lists(st.integers(0, 10**6), max_size=3).map(tuple)
fractions = st.floats(1e-6, 1e6)
pictures = st.sampled_from([1, 3]).flatmap(
    lambda channels: st.builds(
        PictureFacts,
        size=st.integers(1, 1000),
        channels=st.just(channels),
        mean=st.tuples(*[fractions] * channels),
        deviation=st.tuples(*[fractions] * channels),
    )
)
everything = st.builds(
    Preprocessing,
    tokenizer=st.sampled_from([None, BYTES]),
    target_tokenizer=st.sampled_from([None, LETTERS]),
    markers=st.none() | st.builds(Markers, before_source=ids, after_source=ids, start=st.integers(0, 9), forced=ids),
    labels=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    types=st.sampled_from(["texts", "shapes", "overlap"]),
    picture=st.none() | pictures,
    sound=st.none() | st.builds(SoundFacts, hop=st.integers(1, 400), seconds=fractions),
    outcome=st.just(Outcome())
    | st.builds(Outcome, kind=st.sampled_from(["one", "several", "number"]), temperature=fractions, mean=fractions),
)


@given(everything)
def test_what_is_written_down_comes_back(tmp_path_factory, made):
    """Through JSON, as config.json has it; only what a model has is named."""
    folder = tmp_path_factory.mktemp("model")
    made.save_files(folder)
    plain = json.loads(json.dumps(made.plain()))
    assert read_preprocessing(folder, plain) == made
    unsaid = (Outcome(), "texts")
    assert plain.keys() == {name for name, value in vars(made).items() if value and value not in unsaid}
    assert {path.name for path in folder.iterdir()} == {f"{name}.json" for name in plain if "tokenizer" in name}


def test_one_vocabulary_serves_both_sides_unless_the_target_has_its_own():
    assert Preprocessing(tokenizer=BYTES).sides == (BYTES, BYTES)
    assert Preprocessing(tokenizer=BYTES, target_tokenizer=LETTERS).sides == (BYTES, LETTERS)
    with pytest.raises(ValueError, match="has no tokenizer, so it cannot read text"):
        _ = Preprocessing().sides


def test_without_markers_a_source_ends_and_a_target_begins():
    usual = Preprocessing(tokenizer=BYTES, target_tokenizer=LETTERS).framing
    assert usual == usual_markers(BYTES, LETTERS) == Markers(after_source=(BYTES.eos_id,), start=LETTERS.bos_id)
    own = Markers(start=5, forced=(7,))
    assert Preprocessing(tokenizer=BYTES, markers=own).framing is own


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, r"at least one pixel and 1 or 3 channels, not 0 and 3"),
        ({"channels": 2}, r"1 or 3 channels, not 8 and 2"),
        ({"mean": (0.5,)}, r"picture\.mean and picture\.deviation need a number for each of 3 channels"),
        ({"deviation": (1.0, 0.0, 1.0)}, r"picture\.deviation must be above zero, not \(1\.0, 0\.0, 1\.0\)"),
        ({"deviation": (1.0, float("nan"), 1.0)}, r"picture\.deviation must be above zero"),
    ],
)
def test_pictures_that_make_no_sense_are_refused(change, message):
    whole = {"size": 8, "channels": 3, "mean": (0.5,) * 3, "deviation": (0.2,) * 3}
    with pytest.raises(ValueError, match=message):
        PictureFacts(**whole | change)


@pytest.mark.parametrize("name", ["sample_rate", "mels", "window", "hop", "seconds"])
def test_sound_that_makes_no_sense_is_refused(name):
    with pytest.raises(ValueError, match=rf"sound\.{name} must be above zero, not 0"):
        SoundFacts(**{name: 0})


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"smell": {}}, "has preprocessing that this version does not know: smell"),
        ({"labels": "cat"}, "has labels that are no list of words"),
        ({"labels": [1, 2]}, "has labels that are no list of words"),
        ({"labels": None}, "has labels that are no list of words"),
        ({"markers": {"start": "x"}}, r"start"),
        ({"markers": {}}, "start is missing"),
        ({"markers": 3}, "not 3"),
        ({"picture": {"size": 8}}, "is missing"),
        ({"sound": {"volume": 11}}, "there is no setting volume"),
        ({"chat_template": 3}, "has a chat_template that is no text"),
        ({"tokenizer": 3}, "has a tokenizer that is no table of facts"),
        ({"target_tokenizer": ["bpe"]}, "has a target_tokenizer that is no table of facts"),
        ({"tokenizer": {"kind": "bpe"}}, "lack fingerprint, normalise"),
        ({"target_tokenizer": BYTES.facts()}, "is missing, but config.json names it; get the folder anew"),
    ],
)
def test_a_hostile_section_is_refused_with_the_file_s_name(tmp_path, plain, message):
    """It comes from a file that a stranger may have written."""
    BYTES.save(tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=rf"(config|tokenizer)\.json.*({message})"):
        read_preprocessing(tmp_path, plain)


def test_damage_is_told_from_a_mistake(tmp_path):
    with pytest.raises(DamagedError):
        read_preprocessing(tmp_path, {"smell": {}})


@pytest.mark.parametrize(
    "facts", [{"temperature": 0.0}, {"temperature": "nan"}, {"threshold": 1.5}, {"deviation": -1.0}, {"kind": "two"}]
)
def test_an_outcome_that_means_nothing_is_refused(tmp_path, facts):
    with pytest.raises(ValueError, match=r"config\.json"):
        read_preprocessing(tmp_path, {"outcome": facts})

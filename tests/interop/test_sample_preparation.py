"""How a published model wants its samples, key by key, there and back; what cannot be honoured is refused."""

import json

import numpy as np
import pytest
import transformers as hf

from clearformer.inference.sound_frames import frames_of
from clearformer.interop.sample_preparation import FILE, PROCESSOR, read_sample_facts, write_sample_facts
from clearformer.model.families import wav2vec2

CONFIG = wav2vec2(vocab_size=9)


def test_the_file_becomes_facts_and_comes_back(tmp_path):
    given = {"sampling_rate": 8000, "do_normalize": False, "return_attention_mask": True, "padding_value": 0.0}
    (tmp_path / FILE).write_text(json.dumps(given))
    facts = read_sample_facts(tmp_path, CONFIG)
    assert (facts.reads, facts.sample_rate, facts.normalise, facts.fill) == ("samples", 8000, False, False)
    assert (facts.window, facts.hop, facts.step, facts.margin) == (400, 320, 320, 0.0)
    (tmp_path / FILE).write_text(json.dumps(write_sample_facts(facts, CONFIG)))
    assert read_sample_facts(tmp_path, CONFIG) == facts
    assert hf.AutoFeatureExtractor.from_pretrained(tmp_path).do_normalize is False


def test_without_a_file_the_published_numbers_are_taken(tmp_path):
    facts = read_sample_facts(tmp_path, CONFIG)
    assert (facts.sample_rate, facts.normalise) == (16_000, True)


def test_newer_folders_have_it_inside_another_file(tmp_path):
    (tmp_path / PROCESSOR).write_text(json.dumps({"feature_extractor": {"sampling_rate": 8000}}))
    assert read_sample_facts(tmp_path, CONFIG).sample_rate == 8000


@pytest.mark.parametrize("normalise", [True, False])
def test_samples_are_prepared_as_the_published_program_does_it(normalise, tmp_path):
    theirs = hf.Wav2Vec2FeatureExtractor(do_normalize=normalise)
    theirs.save_pretrained(tmp_path)
    sound = np.random.default_rng(1).normal(0.1, 0.02, 4000).astype(np.float32)
    expected = theirs(sound, sampling_rate=16_000, return_tensors="np")["input_values"][0]
    found = frames_of(sound, read_sample_facts(tmp_path, CONFIG)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"do_normalize": "yes"}, "do_normalize must be true or false"),
        ({"feature_size": 80}, "feature_size is 80, and a recording has one channel here"),
        ({"feature_extractor_type": "WhisperFeatureExtractor"}, "prepared by 'WhisperFeatureExtractor'"),
        ({"sampling_rate": 0}, "sampling_rate must be a whole number from 1,000 to 192,000, not '0'"),
        ({"sampling_rate": True}, "sampling_rate must be a whole number"),
        ({"padding_value": 1.0}, "padding_value = .* changes sound in a way that is not known here"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_key(given, message, tmp_path):
    (tmp_path / FILE).write_text(json.dumps(given))
    with pytest.raises(ValueError, match=message):
        read_sample_facts(tmp_path, CONFIG)

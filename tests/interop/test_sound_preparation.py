"""How a published Whisper wants its recordings, key by key; what cannot be honoured is refused."""

import json

import pytest

from clearformer.interop.sound_preparation import FILE, GENERATION, languages_of, read_sound_facts
from clearformer.model.config import FrontConfig, ModelConfig
from clearformer.model.families import whisper

CONFIG = whisper(vocab_size=60, dim=8, heads=2, layers=2, decoder_layers=3, front=FrontConfig(kind="sound", mels=128))


class Marked:
    """A vocabulary with the marks of two languages between those that a Whisper has."""

    def marks(self):
        words = ("endoftext", "startoftranscript", "en", "zh", "translate", "transcribe", "notimestamps")
        return {f"<|{word}|>": 50 + number for number, word in enumerate(words)}


def written(folder, name, **values):
    (folder / name).write_text(json.dumps(values))


def test_both_files_become_facts(tmp_path):
    written(
        tmp_path, FILE, feature_size=128, sampling_rate=8000, hop_length=80, n_fft=200, chunk_length=20,
        feature_extractor_type="WhisperFeatureExtractor", padding_value=0.0, dither=0.0, return_attention_mask=False,
    )  # fmt: skip
    written(
        tmp_path, GENERATION, suppress_tokens=[-1, 3, 4, 60], begin_suppress_tokens=[5], alignment_heads=[[2, 1]],
        is_multilingual=True,
    )  # fmt: skip
    found = read_sound_facts(tmp_path, CONFIG, Marked())
    assert (found.sample_rate, found.mels, found.window, found.hop, found.seconds) == (8000, 128, 200, 80, 20.0)
    assert (found.never, found.never_first, found.heads) == ((3, 4), (5,), ((2, 1),))
    assert found.tongues == ("en", "zh")


def test_without_files_the_published_numbers_are_taken(tmp_path):
    found = read_sound_facts(tmp_path, CONFIG, None)
    assert (found.sample_rate, found.hop, found.window, found.seconds, found.tongues) == (16_000, 160, 400, 30.0, ())
    assert read_sound_facts(tmp_path, ModelConfig(vocab_size=9), None) is None


def test_a_model_of_english_has_the_marks_and_is_not_asked():
    assert languages_of(Marked(), 51_864) == ()
    assert languages_of(Marked(), 51_865) == ("en", "zh")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (FILE, {"feature_size": 80}, "feature_size is 80, and the model reads 128 pitch bands"),
        (FILE, {"dither": 0.1}, "dither = .* changes sound in a way that is not known here"),
        (FILE, {"do_normalize": True}, "do_normalize = .* changes sound"),
        (FILE, {"padding_value": 1.0}, "padding_value = .* changes sound"),
        (FILE, {"hop_length": "160"}, "hop_length must be a whole number"),
        (FILE, {"sampling_rate": 0}, "sampling_rate must be a whole number above 0"),
        (GENERATION, {"suppress_tokens": ["x"]}, "suppress_tokens must list tokens, not"),
        (GENERATION, {"alignment_heads": [[3, 0]]}, "names a head that a model of 3 layers does not have"),
        (GENERATION, {"alignment_heads": [7]}, "alignment_heads must be pairs"),
        (GENERATION, {"is_multilingual": "yes"}, "is_multilingual must be true or false"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_key(name, given, message, tmp_path):
    written(tmp_path, name, **given)
    with pytest.raises(ValueError, match=message):
        read_sound_facts(tmp_path, CONFIG, Marked())

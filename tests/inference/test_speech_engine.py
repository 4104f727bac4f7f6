"""The fast engine writes the same text as the network, and says when each word was said."""

import os
from dataclasses import replace
from pathlib import Path

import ctranslate2
import numpy as np
import pytest

from clearformer.data.readers.sounds import read_sound
from clearformer.folder import bundle
from clearformer.inference.engines import open_bundle
from clearformer.inference.transcriber import Transcriber
from clearformer.inference.whisper_reader import END, PLAIN, START
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.to_ctranslate2 import check
from support.every_kind import make
from support.registry_weights import weights
from support.spoken import FACTS, hearing


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = make("whisper", tmp_path_factory.mktemp("w") / "m")
    return Transcriber(bundle.load(folder)), Transcriber(open_bundle(folder, "ctranslate2"))


def sound(seed, seconds=0.5):
    draw = np.random.default_rng(seed)
    time = np.arange(round(seconds * 16_000)) / 16_000
    chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in draw.uniform(100, 4000, size=3))
    return (chord / 4 + 0.01 * draw.standard_normal(len(time))).astype(np.float32)


@pytest.mark.corpora
@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("times", [True, False])
def test_published_weights_write_what_the_network_writes(real, spoken, times):
    """The same text, times and log-probabilities, by PyTorch, by the engine, and by the engine's own files alone."""
    network, engine, theirs = real
    tokenizer = network.tokenizer
    prompt = [tokenizer.id(START), *([] if times else [tokenizer.id(PLAIN)])]
    for sound in spoken:
        [ours] = network.transcribe(sound, times=times)
        [fast] = engine.transcribe(sound, times=times)
        assert (fast.text, fast.segments) == (ours.text, ours.segments)
        assert fast.log_prob == pytest.approx(ours.log_prob, abs=0.01)
        frames = ctranslate2.StorageView.from_array(np.ascontiguousarray(network.frames(sound).mT.numpy()))
        [alone] = theirs.generate(frames, [prompt], beam_size=1, max_length=225)
        words = [token for token in alone.sequences_ids[0] if token < tokenizer.id(END)]
        assert tokenizer.decode(words).strip() == ours.text


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """tiny.en three times: by PyTorch, by the engine from our folder, and as it was published."""
    folder = tmp_path_factory.mktemp("real") / "m"
    import_checkpoint(weights("whisper-tiny-en"), folder)
    theirs = ctranslate2.models.Whisper(str(weights("whisper-tiny-en")), intra_threads=1, compute_type="float32")
    return Transcriber(bundle.load(folder)), Transcriber(open_bundle(folder, "ctranslate2")), theirs


@pytest.fixture(scope="module")
def spoken():
    """Two short recordings of a person."""
    folder = Path(os.environ["CLEARFORMER_DATA"]) / "speech-en" / "flac"
    return [read_sound(folder / f"LJ001-000{number}.flac", rate=16_000) for number in (2, 4)]


def test_words_cover_the_text_in_order(both):
    for model in both:
        [found] = model.transcribe(sound(1), max_new=12, words=True, fallback=False, times=False)
        words = [word for segment in found.segments for word in segment.words]
        assert "".join(word.text for word in words) == found.text.replace(" ", "")
        assert all(0 <= word.start <= word.end <= 0.5 for word in words)


def test_it_cannot_be_looked_inside(both):
    with pytest.raises(ValueError, match="ctranslate2 cannot be looked inside"):
        _ = both[1].bundle.model.encoder


def test_a_model_that_reads_as_long_as_it_is_stays_with_torch(tmp_path):
    made = hearing("encoder-decoder")
    with pytest.raises(ValueError, match=r"it reads recordings as long as they are; use the torch engine"):
        check(made.config, FACTS)
    with pytest.raises(ValueError, match="it is an encoder alone"):
        check(hearing("encoder").config, replace(FACTS, fill=True))

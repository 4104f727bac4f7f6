"""Sound in, text out: token for token what the published library writes for the same frames."""

from dataclasses import replace

import numpy as np
import pytest
import tokenizers
import torch
import transformers as hf
from tokenizers import decoders, models, pre_tokenizers

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.inference.transcriber import Transcriber
from clearformer.inference.whisper_reader import END, PLAIN, START
from clearformer.interop.importer import read_hugging_face
from clearformer.model.build import build
from clearformer.model.families import bert
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer
from interop.references import BART, HEADS, reference

FACTS = SoundFacts(mels=8, seconds=0.24)  # 24 frames instead of thirty seconds
LETTERS = "abcdefghijklmnopqrst"
MARKS = (END, START, "<|en|>", "<|transcribe|>", PLAIN, "<|0.00|>", "<|0.02|>")  # behind the letters, as published
VOCAB = len(LETTERS) + len(MARKS)


def vocabulary() -> Tokenizer:
    pieces = {letter: number for number, letter in enumerate(LETTERS)}
    engine = tokenizers.Tokenizer(models.BPE(vocab=pieces, merges=[]))
    engine.pre_tokenizer, engine.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    engine.add_special_tokens(list(MARKS))
    return Tokenizer.from_engine(engine, kind="bpe", special=SpecialTokens(eos=END))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A random Whisper of the published library, and the same weights here."""
    sizes = {name: value for name, value in BART.items() if name != "max_position_embeddings"}
    sizes |= {"vocab_size": VOCAB, "num_mel_bins": 8, "max_source_positions": 12, "max_target_positions": 30}
    sizes |= {"pad_token_id": len(LETTERS), "bos_token_id": len(LETTERS), "eos_token_id": len(LETTERS)}
    sizes |= {"decoder_start_token_id": len(LETTERS) + 1, "decoder_attention_heads": HEADS}
    theirs = reference("WhisperForConditionalGeneration", hf.WhisperConfig(**sizes), noise=0.4)
    folder = tmp_path_factory.mktemp("whisper")
    theirs.save_pretrained(folder)
    found = read_hugging_face(folder).bundle
    return theirs, replace(found, preprocessing=Preprocessing(tokenizer=vocabulary(), sound=FACTS))


def sound(seed: int, seconds: float = 0.2) -> np.ndarray:
    time = np.arange(round(seconds * FACTS.sample_rate)) / FACTS.sample_rate
    draw = np.random.default_rng(seed)
    chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in draw.uniform(100, 4000, size=3))
    return (chord / 4 + 0.01 * draw.standard_normal(len(time))).astype(np.float32)


@torch.no_grad()
def test_the_letters_are_those_of_the_published_library(pair):
    theirs, made = pair
    transcriber, tokenizer = Transcriber(made), made.tokenizer
    end = tokenizer.id(END)
    written = set()
    for seed in range(4):
        frames = transcriber.frames(sound(seed))
        assert frames.shape == (1, 24, 8)
        ids = theirs.generate(
            input_features=frames.mT,
            decoder_input_ids=torch.tensor([[tokenizer.id(START), tokenizer.id(PLAIN)]]),
            generation_config=hf.GenerationConfig(
                max_new_tokens=12,
                do_sample=False,
                num_beams=1,
                eos_token_id=end,
                pad_token_id=end,
                decoder_start_token_id=tokenizer.id(START),
                suppress_tokens=list(range(end + 1, VOCAB)),
                is_multilingual=False,
                return_timestamps=False,
            ),
        )
        expected = [token for token in ids[0].tolist() if token < end]
        [found] = transcriber.transcribe(sound(seed), max_new=12)
        assert found.text == tokenizer.decode(expected)
        assert found.log_prob < 0
        written.add(found.text)
    assert len(written) > 1, "a model that always says the same proves little"


def test_silence_fills_the_window_and_company_changes_nothing(pair):
    transcriber = Transcriber(pair[1])
    short = sound(5, 0.1)
    filled = np.concatenate([short, np.zeros(round(0.14 * FACTS.sample_rate), dtype=np.float32)])
    torch.testing.assert_close(transcriber.frames(short), transcriber.frames(filled))
    alone, together = transcriber.transcribe(short), transcriber.transcribe([sound(6), short])
    assert (together[1].text, together[1].segments) == (alone[0].text, alone[0].segments)
    assert together[1].log_prob == pytest.approx(alone[0].log_prob, abs=1e-4)


def test_marks_of_time_and_language_are_never_said(pair):
    transcriber = Transcriber(pair[1])
    for seed in range(4):
        [found] = transcriber.transcribe(sound(seed), max_new=20)
        assert "<|" not in found.text


def test_the_models_room_and_max_new_are_limits(pair):
    transcriber = Transcriber(pair[1])
    for asked, most in ((3, 3), (1000, 28)):  # 30 places, two of which the marks at the start take
        assert len(transcriber.transcribe(sound(1), max_new=asked)[0].text) <= most


def test_what_does_not_fit_is_refused(pair):
    whole = Transcriber(replace(pair[1], preprocessing=replace(pair[1].preprocessing, sound=None)))
    assert whole.facts == SoundFacts(mels=8)
    with pytest.raises(ValueError, match=r"one channel here, not shape \(2, 100\); take the mean of its channels"):
        whole.transcribe(np.zeros((2, 100), dtype=np.float32))
    with pytest.raises(ValueError, match=r"a recording of 31\.0 s does not fit the model's 30 s; cut it"):
        whole.frames(np.zeros(31 * 16_000, dtype=np.float32))
    assert whole.frames(np.zeros(30 * 16_000, dtype=np.float32)).shape == (1, 3000, 8)


def test_a_transcript_is_not_drawn_by_chance(pair):
    with pytest.raises(TypeError, match="temperature"):
        Transcriber(pair[1]).transcribe(sound(1), temperature=0.7)


def test_a_long_recording_is_read_window_by_window(pair):
    transcriber = Transcriber(pair[1])
    parts = [sound(1, 0.24), sound(2, 0.24), sound(3, 0.1)]
    [found] = transcriber.transcribe(np.concatenate(parts), max_new=5, fallback=False)
    alone = [transcriber.transcribe(part, max_new=5, fallback=False)[0] for part in parts]
    assert found.text == "".join(one.text for one in alone)
    assert [(one.start, one.end) for one in found.segments] == [(0.0, 0.24), (0.24, 0.48), (0.48, 0.58)]


def test_a_model_of_texts_is_refused():
    config = bert(vocab_size=20, dim=8, hidden_dim=8, layers=1, heads=2)
    with pytest.raises(ValueError, match="embeds texts, not one that transcribes recordings"):
        Transcriber(Bundle(config=config, model=build(config)))


def test_it_says_what_it_is(pair):
    assert "sound at 16000 Hz, up to 0.24 s" in repr(Transcriber(pair[1]))

"""Recordings on the pages: the text is what `transcribe` writes, and every weight is the pass's own."""

import numpy as np
import pytest
import torch

from clearformer.data.readers.sounds import read_sound
from clearformer.inference.sound_frames import frames_of
from clearformer.inference.transcriber import Transcriber
from clearformer.model.trace import trace
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.heard_sound import MOST_SECONDS
from clearformer.studio.requests import PieceRequest, SoundAttentionRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import numbers
from support.spoken import FACTS, RATE, hearing, say, write_wave

WORDS = "do re mi do re mi do re mi do re mi"  # longer than a piece


@pytest.fixture(scope="module", params=["encoder", "encoder-decoder"])
def heard(request, tmp_path_factory):
    """(bundle, senses, samples, what was answered)."""
    bundle = hearing(request.param)
    path = write_wave(tmp_path_factory.mktemp("sound") / "said.wav", say(WORDS, 3))
    senses = Handlers(ShownModel(bundle, "speech"), Runs([])).senses
    return bundle, senses, read_sound(path, rate=RATE), senses.sound(path.read_bytes())


def test_the_text_is_that_of_transcribe(heard):
    bundle, _, samples, found = heard
    [said] = Transcriber(bundle).transcribe([samples], words=True)
    assert found["text"] == said.text
    assert found["text"]
    assert [one["text"] for one in found["segments"]] == [one.text for one in said.segments]
    assert len(found["pieces"]) > 1
    assert found["seconds"] == pytest.approx(len(samples) / RATE)
    assert all(one["end"] - one["start"] <= FACTS.seconds for one in found["pieces"])


def test_the_tokens_of_all_pieces_spell_the_text(heard):
    bundle, senses, _, found = heard
    texts = []
    for number in range(len(found["pieces"])):
        told = senses.sound_piece(PieceRequest(sound=found["sound"], piece=number))
        texts.append(bundle.preprocessing.sides[1].decode([token["id"] for token in told["tokens"]]).strip())
    assert " ".join(text for text in texts if text) == found["text"]


def test_the_spectrum_is_what_the_network_reads_without_its_margins(heard):
    _, senses, samples, found = heard
    told = senses.sound_piece(PieceRequest(sound=found["sound"], piece=1))
    place = found["pieces"][1]
    piece = samples[round(place["start"] * RATE) : round(place["end"] * RATE)]
    whole = frames_of(piece, FACTS).numpy()
    shown = numbers(told["frames"])
    begin = round(FACTS.margin * RATE / FACTS.hop)
    assert told["begin"] == begin
    assert np.array_equal(shown, whole[begin : begin + len(shown)])
    assert len(shown) * FACTS.hop / RATE == pytest.approx(len(piece) / RATE, abs=FACTS.hop / RATE)


def test_weights_are_the_pass_s_own(heard):
    """Computed here by hand: one pass over the first piece, and the row from which each token was foretold."""
    bundle, senses, samples, found = heard
    told = senses.sound_piece(PieceRequest(sound=found["sound"], piece=0))
    place, ids = found["pieces"][0], [token["id"] for token in told["tokens"]]
    frames = frames_of(samples[: round(place["end"] * RATE)], FACTS)[None]
    with trace(bundle.model) as seen, torch.inference_mode():
        if bundle.config.shape == "encoder":
            bundle.model(frames)
        else:
            bundle.model(frames, torch.tensor([[bundle.preprocessing.framing.start, *ids]]))
    weights = seen[f"{found['layers'][0]['name']}.weights"][0]
    token = len(ids) - 1
    if bundle.config.shape == "encoder":
        first, last = told["spans"][token]
        row = (first + last) // 2
    else:
        row = token
    asked = SoundAttentionRequest(sound=found["sound"], piece=0, layer=0, token=token)
    looked = senses.sound_attention(asked)
    assert np.allclose(numbers(looked["weights"]), weights[:, row].numpy(), atol=1e-6)
    assert np.allclose(numbers(looked["map"])[token], weights.mean(dim=0)[row].numpy(), atol=1e-6)
    alone = senses.sound_attention(asked.model_copy(update={"head": 1}))
    assert np.allclose(numbers(alone["map"])[token], weights[1, row].numpy(), atol=1e-6)
    assert numbers(looked["beyond"]) == pytest.approx(np.zeros(2), abs=1e-5)  # nothing was filled up here


def test_frames_say_their_labels_and_spans_are_where_they_are_strong(heard):
    bundle, senses, _, found = heard
    told = senses.sound_piece(PieceRequest(sound=found["sound"], piece=0))
    if bundle.config.shape != "encoder":
        assert told["labels"] is None
        assert not told["spans"]
        return
    shares, names = numbers(told["labels"]["shares"]), told["labels"]["names"]
    assert shares.sum(axis=0) == pytest.approx(np.ones(shares.shape[1]), abs=1e-4)  # the vocabulary is small
    for token, (first, last) in zip(told["tokens"], told["spans"], strict=True):
        best = shares[:, first : last + 1].argmax(axis=0)
        assert all(names[one] == token["text"] for one in best)


def test_what_is_not_there_is_refused(heard, all_handlers, tmp_path):
    _, senses, _, found = heard
    with pytest.raises(Refused, match="cannot be read as a recording") as caught:
        senses.sound(b"no recording at all")
    assert "/" not in str(caught.value.values["reason"])
    with pytest.raises(Refused, match="is empty"):
        senses.sound(b"")
    long = write_wave(tmp_path / "long.wav", np.zeros(RATE * (MOST_SECONDS + 1), dtype=np.float32))
    with pytest.raises(Refused, match="more than the 120"):
        senses.sound(long.read_bytes())
    with pytest.raises(Refused, match="no token 900"):
        senses.sound_attention(SoundAttentionRequest(sound=found["sound"], piece=0, layer=0, token=900))
    with pytest.raises(ValueError, match="piece 99 does not exist"):
        senses.sound_piece(PieceRequest(sound=found["sound"], piece=99))
    with pytest.raises(ValueError, match="head 9 does not exist"):
        senses.sound_attention(SoundAttentionRequest(sound=found["sound"], piece=0, layer=0, head=9, token=0))
    with pytest.raises(ValueError, match="layer 9 does not exist"):
        senses.sound_attention(SoundAttentionRequest(sound=found["sound"], piece=0, layer=9, token=0))
    with pytest.raises(Refused, match="does not write down speech"):
        all_handlers["bert"].senses.sound(long.read_bytes())

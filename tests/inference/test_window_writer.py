"""The text of a window: greedy is the likeliest, what is drawn depends on seed and place alone, rules are kept."""

import numpy as np
import pytest
import torch

from clearformer.inference.sound_frames import frames_of
from clearformer.inference.time_marks import TimeMarks
from clearformer.inference.whisper_reader import END, PLAIN, START
from clearformer.inference.window_writer import Asked, SpeechWindow, TokenLimits, TorchWindowWriter, compression
from support.every_kind import make


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    import clearformer as cf

    return cf.load(make("whisper", tmp_path_factory.mktemp("w") / "m"))


@pytest.fixture(scope="module")
def writer(model):
    return TorchWindowWriter(model.bundle, start=model.tokenizer.id(START), silence=None)


def window(model, seed=1, begin=0):
    sound = np.random.default_rng(seed).standard_normal(1600).astype(np.float32)
    prompt = (model.tokenizer.id(START), model.tokenizer.id(PLAIN))
    return SpeechWindow(frames=frames_of(sound, model.facts), prompt=prompt, begin=begin)


def asked(model, temperature=0.0, seed=1, **limits):
    return Asked(
        limits=TokenLimits(end=model.tokenizer.id(END), **limits), temperature=temperature, max_new=6, seed=seed
    )


def test_greedy_is_the_likeliest_at_every_step(model, writer):
    one = window(model)
    [found] = writer.write([one], asked(model))
    memory = model.bundle.model.encode(one.frames[None])
    tokens = list(one.prompt)
    for token in found.tokens:
        logits = model.bundle.model.decode(torch.tensor([tokens]), memory)[0, -1]
        assert int(logits[: model.tokenizer.id(END) + 1].argmax()) == token
        tokens.append(token)


def test_what_is_drawn_depends_on_seed_and_place_alone(model, writer):
    one, other = window(model, 1), window(model, 2)
    [alone] = writer.write([one], asked(model, 0.8))
    together = writer.write([other, one], asked(model, 0.8))
    assert together[1].tokens == alone.tokens
    tries = {writer.write([one], asked(model, 0.8, seed=seed))[0].tokens for seed in range(6)}
    places = {writer.write([window(model, 1, begin)], asked(model, 0.8))[0].tokens for begin in range(6)}
    assert len(tries) > 1
    assert len(places) > 1


def test_tokens_that_are_never_written_are_not(model, writer):
    [free] = writer.write([window(model)], asked(model))
    [held] = writer.write([window(model)], asked(model, never=(free.tokens[-1],), never_first=(free.tokens[0],)))
    assert free.tokens[-1] not in held.tokens
    assert held.tokens[:1] != free.tokens[:1]


def test_limits_leave_marks_of_time_to_their_own_rules():
    logits = torch.zeros(60)
    plain = TokenLimits(end=9).restrict(logits, [])
    assert plain.isfinite().tolist() == [True] * 10 + [False] * 50
    marked = TokenLimits(end=9, never_first=(3,), marks=TimeMarks(first=12, end=9)).restrict(logits, [])
    assert not marked[:12].isfinite().any()
    assert bool((logits == 0).all()), "the model's own logits stay"


def test_a_loop_packs_well():
    assert compression("and then " * 30) > 8
    assert compression("seven plain words stand here in order") < 1.2

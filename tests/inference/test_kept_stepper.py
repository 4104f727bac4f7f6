"""Keys and values that stay: whatever was read before, the next token is that of a full pass."""

import random

import pytest
import torch

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.kept_stepper import CHUNK, KeptStepper, Stopped, common_length
from support.toy_chat import chat_bundle


@pytest.fixture(scope="module")
def model():
    return chat_bundle(max_len=1024).model


def full(model, ids):
    with torch.inference_mode():
        return model(torch.tensor([ids]))[0, -1]


def test_a_cache_that_was_cut_back_goes_on_as_if_nothing_else_had_been_read(model):
    """Random conversations: each prompt shares a random beginning with the one before."""
    generator, stepper, ids = random.Random(1), KeptStepper(CausalNetwork(model)), [1]
    for _ in range(12):
        kept = generator.randint(0, len(ids))
        ids = [*ids[:kept], *(generator.randrange(250) for _ in range(generator.randint(1, 90)))]
        tokens, state = stepper.start([ids])
        logits, state = stepper.step(tokens, state)
        torch.testing.assert_close(logits[0], full(model, ids), rtol=1e-4, atol=1e-4)
        extra = generator.randrange(250)
        logits, _ = stepper.step(torch.tensor([extra]), state)
        torch.testing.assert_close(logits[0], full(model, [*ids, extra]), rtol=1e-4, atol=1e-4)


def test_what_both_prompts_begin_with_is_read_once(model):
    stepper = KeptStepper(CausalNetwork(model))
    stepper.start([[5, 6, 7, 8, 9]])
    stepper.start([[5, 6, 7, 8, 10, 11]])
    assert stepper.read == 2
    stepper.start([[5, 6, 7, 8, 10, 11]])
    assert stepper.read == 1  # the last token is the first input of the next step
    stepper.start([[9, 9]])
    assert stepper.read == 2


def test_reading_can_be_stopped_and_taken_up_again(model):
    """Asked between portions of the prompt; what was read counts."""
    asked = iter([False, True])
    stepper, prompt = KeptStepper(CausalNetwork(model), lambda: next(asked)), [7] * (3 * CHUNK)
    with pytest.raises(Stopped):
        stepper.start([prompt])
    assert stepper.ids == prompt[:CHUNK]
    stepper.stopped = lambda: False
    logits, _ = stepper.step(*stepper.start([prompt]))
    assert stepper.read == 2 * CHUNK
    torch.testing.assert_close(logits[0], full(model, prompt), rtol=1e-4, atol=1e-4)


def test_a_step_that_was_left_in_the_middle_does_no_harm(model, monkeypatch):
    """Ctrl-C may come between two layers: one has read the token, the other has not."""
    stepper = KeptStepper(CausalNetwork(model))
    tokens, state = stepper.start([[5, 6, 7]])
    with monkeypatch.context() as broken:
        broken.setattr(state.cache.self_attn[-1], "append", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            stepper.step(tokens, state)
    logits, _ = stepper.step(*stepper.start([[5, 6, 7, 8]]))
    torch.testing.assert_close(logits[0], full(model, [5, 6, 7, 8]), rtol=1e-4, atol=1e-4)


def _interrupted(k, v):
    raise KeyboardInterrupt


def test_common_beginnings():
    assert common_length([], [1]) == common_length([2], [1]) == 0
    assert common_length([1, 2], [1, 2, 3]) == 2
    assert common_length([1, 2, 4], [1, 2, 3]) == 2

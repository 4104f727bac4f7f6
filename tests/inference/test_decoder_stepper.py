"""Prompts of several lengths in one batch: each goes on as it does alone."""

import pytest
import torch

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.decoder_stepper import DecoderStepper
from model.specimens import specimen

PROMPTS = [[5, 6, 7, 8, 9], [5], [9, 3, 4]]


@pytest.fixture(params=["gpt2", "llama", "transformer-xl"])
def stepper(request):
    torch.manual_seed(1)
    return DecoderStepper(CausalNetwork(specimen(request.param)))


def test_a_short_prompt_beside_a_long_one_goes_on_as_it_does_alone(stepper):
    last, state = stepper.start(PROMPTS)
    together, _ = stepper.step(last, state)
    for row, prompt in enumerate(PROMPTS):
        alone, _ = stepper.step(*stepper.start([prompt]))
        torch.testing.assert_close(together[row], alone[0], rtol=1e-5, atol=1e-5)


def test_several_samples_of_one_prompt_read_it_once(stepper, monkeypatch):
    sizes = []
    usual = stepper.network.read
    monkeypatch.setattr(
        stepper.network, "read", lambda tokens, **given: sizes.append(len(tokens)) or usual(tokens, **given)
    )
    last, state = stepper.start([PROMPTS[0]] * 4)
    logits, _ = stepper.step(last, state)
    alone, _ = stepper.step(*stepper.start([PROMPTS[0]]))
    assert sizes == [1, 1]
    torch.testing.assert_close(logits, alone.expand_as(logits), rtol=1e-5, atol=1e-5)


def test_rows_that_come_later_join_those_under_way(stepper):
    tokens, state = stepper.start(PROMPTS[:1])
    _, state = stepper.step(tokens, state)
    late, other = stepper.start(PROMPTS[1:])
    logits, _ = stepper.step(torch.cat((torch.tensor([4]), late)), state.join(other))
    alone, _ = stepper.step(*stepper.start([[*PROMPTS[0], 4]]))
    torch.testing.assert_close(logits[0], alone[0], rtol=1e-5, atol=1e-5)

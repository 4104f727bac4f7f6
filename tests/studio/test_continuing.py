"""A decoder alone, token by token with a cache, says what it says all at once."""

import pytest
import torch

from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.studio.continuing import ContinuationStepper


@pytest.mark.parametrize("name", ["llama", "alibi"])
def test_greedy_with_a_cache_equals_greedy_without(desks, name):
    model = desks[name].subject.model
    prompt = desks[name].subject.read("the dog")
    [found] = greedy(ContinuationStepper(model), prompt, rules=Rules(eos=2), max_len=8)
    text = list(prompt)
    with torch.no_grad():
        for token in found.tokens:
            assert int(model(torch.tensor([text]))[0, -1].argmax()) == token
            text.append(token)
    assert len(found.tokens) >= 1


def test_a_prompt_of_one_token_and_two_rows(desks):
    stepper = ContinuationStepper(desks["llama"].subject.model)
    tokens, state = stepper.start((5,))
    assert tokens.tolist() == [5]
    logits, state = stepper.step(tokens, state)
    state = state.select(torch.tensor([0, 0]))
    assert stepper.step(torch.tensor([7, 8]), state)[0].shape == (2, logits.size(-1))


def test_other_models_are_refused(desks):
    with pytest.raises(TypeError, match="only a decoder alone"):
        ContinuationStepper(desks["bert"].subject.model)

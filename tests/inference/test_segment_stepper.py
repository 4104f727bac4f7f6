"""Writing in segments with a memory: the numbers of the model read segment by segment, alone and in any batch."""

import pytest
import torch

from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.segment_stepper import SegmentStepper
from model.specimens import VOCAB, close, specimen

PROMPTS = [[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [5], [9, 3, 4, 1, 2, 8]]


@pytest.fixture(params=["transformer-xl", "llama"])  # the readable path, and the fast one
def network(request):
    torch.manual_seed(1)
    return CausalNetwork(specimen(request.param))


def reference(model, row, length, memory):
    """The logits behind a row: Transformer-XL's memory of states, segment by segment."""
    past = model.start_segment_memory(memory)
    with torch.inference_mode():
        for segment in torch.tensor([row]).split(length, dim=1):
            logits = model(segment, segment_memory=past)
    return logits[0, -1]


@pytest.mark.parametrize(("length", "memory"), [(4, 4), (4, 6), (5, 2), (3, 7), (1, 1)])
def test_every_step_sees_what_a_memory_of_states_sees(network, length, memory):
    rows = [list(prompt) for prompt in PROMPTS]
    stepper = SegmentStepper(network, length=length, memory=memory)
    tokens, state = stepper.start(rows)
    for step in range(14):
        logits, state = stepper.step(tokens, state)
        for row, said in zip(rows, logits, strict=True):
            close(said, reference(network.model, row, length, memory))
        tokens = torch.tensor([(7 * step + 3 * row) % VOCAB for row in range(3)])
        for row, token in zip(rows, tokens.tolist(), strict=True):
            row.append(token)
    assert state.inner.cache.span() <= memory + length


def test_samples_of_one_prompt_read_it_once_and_rows_join_and_leave(network, monkeypatch):
    sizes = []
    usual = network.read
    monkeypatch.setattr(network, "read", lambda tokens, **given: sizes.append(tokens.shape) or usual(tokens, **given))
    stepper = SegmentStepper(network, length=4, memory=3)
    tokens, state = stepper.start([PROMPTS[0]] * 3)
    assert sizes == [(1, 4), (1, 4), (1, 2)]
    late, other = stepper.start([PROMPTS[2]])
    both = state.select(torch.tensor([1])).join(other)
    assert both.read == [10, 5]
    logits, _ = stepper.step(torch.cat((tokens[:1], late)), both)
    close(logits[0], reference(network.model, PROMPTS[0], 4, 3))
    close(logits[1], reference(network.model, PROMPTS[2], 4, 3))


@pytest.mark.parametrize(("length", "memory", "room"), [(4, 3, 4), (4, 4, 8), (4, 9, 12)])
def test_until_its_room_is_full_nothing_is_forgotten(network, length, memory, room):
    stepper = SegmentStepper(network, length=length, memory=memory)
    assert stepper.room == room
    text = torch.randint(VOCAB, (room + 1,)).tolist()
    with torch.inference_mode():
        whole = network.model(torch.tensor([text]))[0]
    close(stepper.step(*stepper.start([text[:room]]))[0][0], whole[room - 1])
    assert (stepper.step(*stepper.start([text]))[0][0] - whole[room]).abs().max() > 1e-4


def test_a_segment_or_a_memory_of_nothing_is_refused(network):
    for length, memory in ((0, 4), (4, 0)):
        with pytest.raises(ValueError, match="give at least 1 of each"):
            SegmentStepper(network, length=length, memory=memory)

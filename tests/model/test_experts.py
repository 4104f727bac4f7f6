"""Experts: each token goes through the few that its router likes best, and through no other."""

import pytest
import torch
from torch import nn

from clearformer.model.build import build
from clearformer.model.cost import count_cost
from clearformer.model.experts import Experts
from clearformer.model.trace import trace
from model.specimens import configured, specimen

B, T, D, E = 2, 5, 6, 4


def some_experts(chosen, rescaled=True):
    return Experts(D, [nn.Linear(D, D) for _ in range(E)], chosen=chosen, rescaled=rescaled)


@pytest.mark.parametrize("rescaled", [True, False])
@pytest.mark.parametrize("chosen", [1, 2, E])
def test_a_token_by_the_formula(chosen, rescaled):
    """Σ share·expert(x) over the likeliest experts (Jiang et al., 2024, section 2.1)."""
    part, x = some_experts(chosen, rescaled), torch.randn(B, T, D)
    output = part(x)
    assert output.shape == x.shape
    for b, t in ((0, 0), (1, 3)):
        likely = part.router(x[b, t]).softmax(-1)
        best = likely.argsort(descending=True)[:chosen].tolist()
        whole = sum(likely[number] for number in best) if rescaled else 1.0
        expected = sum(likely[number] / whole * part.experts[number](x[b, t]) for number in best)
        torch.testing.assert_close(output[b, t], expected, rtol=1e-5, atol=1e-5)


def test_shares_are_of_the_chosen_alone():
    shares = some_experts(2).shares(torch.randn(B, T, D))
    assert ((shares > 0).sum(-1) == 2).all()
    torch.testing.assert_close(shares.sum(-1), torch.ones(B, T))
    assert (some_experts(2, rescaled=False).shares(torch.randn(B, T, D)).sum(-1) < 1).all()


def test_an_expert_that_is_chosen_learns_and_the_router_with_it():
    part = some_experts(1)
    x = torch.randn(1, 1, D)
    part(x).sum().backward()
    best = int(part.router(x).argmax())
    assert [expert.weight.grad is not None for expert in part.experts] == [number == best for number in range(E)]
    part = some_experts(2)
    part(torch.randn(B, T, D)).pow(2).sum().backward()
    assert part.router.weight.grad.abs().max() > 0


def test_parameters_are_counted_as_a_whole_and_by_token():
    """Two of three experts are active; the work is theirs and the router's."""
    one, three = configured("llama"), configured("llama", experts=3, chosen=2)
    found, plain = count_cost(three), count_cost(one)
    expert = sum(weight.numel() for weight in build(one).decoder.layers[0].ffn.parameters())
    router = 3 * three.dim
    assert found.total == plain.total + three.layers * (2 * expert + router)
    assert found.active == plain.total + three.layers * (expert + router)
    assert plain.active == plain.total
    assert found.flops_per_token == plain.flops_per_token + three.layers * 2 * (expert + router)


def test_the_shares_are_seen_in_a_trace():
    model, tokens = specimen("llama", experts=3, chosen=2), torch.randint(20, (1, 4))
    with torch.no_grad(), trace(model) as seen:
        model(tokens)
    assert seen["decoder.layers.1.ffn.shares"].shape == (1, 4, 3)


@pytest.mark.parametrize("choices", [{"experts": 2, "chosen": 3}, {"experts": 0}, {"experts": 3, "chosen": 0}])
def test_more_chosen_than_there_are_is_refused(choices):
    with pytest.raises(ValueError, match="a token goes through at least one of"):
        configured("llama", **choices)

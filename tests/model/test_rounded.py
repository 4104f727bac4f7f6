"""Weights in eight and four bits: how far they may be off, and layers around them."""

import pytest
import torch

from clearformer.model.rounded import GROUP, STEPS, Int8Weight, RoundedLinear, fits_four, to_eight, to_four


@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_no_weight_in_eight_bits_is_off_by_more_than_half_a_step(size):
    torch.manual_seed(1)
    weight = torch.randn(40, 50) * size
    rounded = to_eight(weight)
    assert rounded.values.dtype == torch.int8
    assert int(rounded.values.abs().max()) <= STEPS
    # the largest of a row may lose a little more, since scales have the eight bits of bfloat16 themselves
    off = (rounded.restored() - weight).abs()
    assert bool((off <= rounded.scale[:, None] * 0.76).all())
    assert float((off <= rounded.scale[:, None] * 0.501).float().mean()) > 0.98


def test_what_was_rounded_to_eight_bits_rounds_to_itself():
    torch.manual_seed(2)
    once = to_eight(torch.randn(64, 33) * torch.rand(64, 1) * 10)
    again = to_eight(once.restored())
    assert torch.equal(again.values, once.values)
    assert torch.equal(again.scale, once.scale)


@pytest.mark.parametrize("round_", [to_eight, to_four])
def test_zeros_stay_zeros(round_):
    restored = round_(torch.zeros(16, 2 * GROUP)).restored()
    assert restored.shape == (16, 2 * GROUP)
    assert float(restored.abs().max()) < 1e-30


@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_four_bits_take_the_span_of_each_group(size):
    torch.manual_seed(3)
    weight = (torch.randn(32, 4 * GROUP) + torch.randn(32, 1)) * size
    rounded = to_four(weight)
    assert (rounded.pairs.dtype, rounded.pairs.shape, rounded.shape) == (torch.uint8, (32, 2 * GROUP), (32, 4 * GROUP))
    off = (rounded.restored() - weight).view(32, 4, GROUP)
    assert float(off.norm() / weight.norm()) < 0.1
    spans = weight.view(32, 4, GROUP).amax(-1) - weight.view(32, 4, GROUP).amin(-1)
    usual = off.square().mean(-1).sqrt() / spans
    assert float(usual.max()) < 0.6 / 15  # of fifteen steps: a uniform error is 0.29 of one


def test_two_numbers_in_a_byte_come_apart_in_order():
    weight = torch.arange(16.0).repeat(16, 4)
    rounded = to_four(weight)
    assert torch.equal(rounded.numbers(), weight.to(torch.uint8))
    assert torch.equal(rounded.restored(), weight)
    assert torch.equal(rounded.restored(slice(3, 5)), weight[3:5])


def test_only_whole_groups_fit():
    assert [fits_four(torch.Size(shape)) for shape in ((16, 64), (16, 48), (24, 64), (64,))] == [1, 0, 0, 0]


@pytest.mark.parametrize("round_", [to_eight, to_four])
def test_a_layer_is_the_plain_one_of_what_its_weight_stands_for(round_, monkeypatch):
    monkeypatch.setattr("clearformer.model.rounded.BLOCK", 300)
    torch.manual_seed(4)
    weight, bias = round_(torch.randn(48, 64)), torch.nn.Parameter(torch.randn(48))
    layer, x = RoundedLinear(weight, bias), torch.randn(3, 64, requires_grad=True)
    plain = torch.nn.functional.linear(x, weight.restored(), bias)
    torch.testing.assert_close(layer(x), plain)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), plain, rtol=1e-5, atol=1e-5)
    assert torch.equal(layer.weight, weight.restored())
    assert type(layer.kept) is type(weight)
    assert isinstance(to_eight(layer.weight), Int8Weight)

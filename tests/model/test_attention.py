"""Attention: the formula by hand, two paths that give one result, and heads that are what the paper says they are."""

import itertools
import math

import pytest
import torch

from clearformer.model import masks
from clearformer.model.attention import Additive, Attention, Heads, attend, attend_fused, merge, share, split
from clearformer.model.attention_context import AttentionContext
from clearformer.model.disentangled import Disentangled, DistanceVectors
from clearformer.model.positions import Alibi, Buckets, NoPosition, Relative, Rotary, Shaw
from model.specimens import close

B, T, S, D, H = 2, 5, 7, 16, 4


def places(queries=T, keys=S, mask=None):
    """Queries that stand at the last of the keys' places."""
    return AttentionContext(torch.arange(keys - queries, keys)[None], torch.arange(keys)[None], mask=mask)


def test_shapes():
    x, memory = torch.randn(B, T, D), torch.randn(B, S, 12)
    assert Attention(D, heads=H)(x, places(T, T)).shape == (B, T, D)
    assert Attention(D, heads=H, source_dim=12)(x, places(), source=memory).shape == (B, T, D)
    q, k, v = torch.randn(B, H, T, 8), torch.randn(B, 2, S, 8), torch.randn(B, 2, S, 6)
    for kernel in (attend, attend_fused, Additive(8)):
        assert kernel(q, k, v).shape == (B, H, T, 6)
    assert split(x, H).shape == (B, H, T, D // H)
    torch.testing.assert_close(merge(split(x, H)), x, rtol=0, atol=0)


# ---- by hand --------------------------------------------------------------------------------------------------------

MARKS = {
    "q": torch.tensor([[[[0.44, 0.45, 0.48, 0.49]]]]),  # what is D's mark in chemistry, given four others?
    "k": torch.tensor([[[[0.48, 0.5, 0.45, 0.48], [-0.1, 0.1, -0.3, 0.1], [0.1, 0.5, 0.1, 0.5]]]]),  # A, B and C
    "v": torch.tensor([[[[0.5], [0.1], [0.5]]]]),  # their marks in chemistry
}


@pytest.mark.parametrize(
    ("scale", "weights", "mark"),
    [(1.0, [0.4769, 0.1787, 0.3444], 0.4285), (None, [0.4062, 0.2487, 0.3452], 0.4005)],
    ids=["as the note computes it, without √K", "as the paper's formula says"],
)
def test_the_worked_example_of_the_notes(scale, weights, mark):
    noted = {}
    gathered = attend(**MARKS, scale=scale, notes=noted.__setitem__)
    assert noted["weights"].flatten().tolist() == pytest.approx(weights, abs=5e-5)
    assert gathered.item() == pytest.approx(mark, abs=5e-5)
    assert attend_fused(**MARKS, scale=scale).item() == pytest.approx(mark, abs=5e-5)


def test_dot_products_are_not_cosines():
    """A longer key draws more attention; the cosine would not notice. (One note calls the score a cosine.)"""
    q, k = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[1.0, 0.0], [3.0, 0.0]]]])
    noted = {}
    attend(q, k, k, notes=noted.__setitem__)
    first, second = noted["weights"].flatten().tolist()
    assert second / first == pytest.approx(math.exp(2 / math.sqrt(2)))


def test_widths_of_the_notes():
    assert Heads.of(512, 8).key_dim == 64
    assert 96 * Heads.of(12_288, 96).key_dim == 96 * 128 == 12_288


def test_additive_by_the_formula():
    """wᵀ·tanh(q + k), softmax, average of the values: one query and one key at a time."""
    scorer, q, k, v = Additive(8), torch.randn(B, H, T, 8), torch.randn(B, 2, S, 8), torch.randn(B, 2, S, 6)
    bias, mask = torch.randn(H, T, S), masks.causal(T, S)
    gathered = scorer(q, k, v, mask=mask, bias=bias)
    for b, h, t in itertools.product(range(B), range(H), range(T)):
        seen = range(S - T + t + 1)
        scores = [scorer.weight @ torch.tanh(q[b, h, t] + k[b, h // 2, s]) + bias[h, t, s] for s in seen]
        weights = torch.stack(scores).softmax(0)
        close(gathered[b, h, t], sum(w * v[b, h // 2, s] for w, s in zip(weights, seen, strict=True)))


# ---- two paths, one result ------------------------------------------------------------------------------------------


def empty_rows(queries, keys):
    """Some queries of the first row and all of the second row may look nowhere."""
    mask = torch.rand(B, 1, queries, keys) > 0.4
    mask[0, :, 1] = False
    mask[1] = False
    return mask


def in_segments(queries, keys):
    segments = (torch.arange(keys) >= keys // 2).long().expand(B, -1)
    return masks.packed(segments[:, -queries:], segments)


MASKS = {
    "no mask": lambda queries, keys: None,
    "padding": lambda queries, keys: masks.padding(torch.arange(keys) < torch.tensor([[keys], [2]])),
    "causal": masks.causal,
    "window": lambda queries, keys: masks.window(places(queries, keys).queries, places(queries, keys).keys, left=2),
    "packed": in_segments,
    "causal and packed": lambda queries, keys: masks.both(masks.causal(queries, keys), in_segments(queries, keys)),
    "empty rows": empty_rows,
}
SCHEMES = {
    "none": NoPosition,
    "rotary": lambda: Rotary(8),
    "rotary neighbours": lambda: Rotary(8, pairs="neighbours", scaling="ntk", factor=2.0),
    "alibi": lambda: Alibi(H),
    "buckets": lambda: Buckets(H, buckets=8, max_distance=6),
    "shaw": lambda: Shaw(8, max_distance=3),
    "relative": lambda: Relative(D, heads=H, head_dim=8),
    "disentangled": lambda: Disentangled(DistanceVectors(D, buckets=4, max_distance=6), head_dim=8),
}


def run(layer, kernel, x, mask, source):
    """Output and every gradient with the same dropout mask: the seed is fixed. A context serves one forward pass."""
    layer.kernel = kernel
    inputs = [x.clone().requires_grad_(), None if source is None else source.clone().requires_grad_()]
    torch.manual_seed(0)
    context = places(T, T if source is None else S, mask)
    output = layer(inputs[0], context, source=inputs[1])
    wanted = [*layer.parameters(), *(tensor for tensor in inputs if tensor is not None)]
    gradients = torch.autograd.grad((output * torch.linspace(-1, 1, output.numel()).view_as(output)).sum(), wanted)
    return output, *gradients


@pytest.mark.parametrize("kv_heads", [4, 2, 1], ids=["multi-head", "grouped-query", "multi-query"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mask", MASKS)
def test_the_readable_and_the_fused_path_are_equal(mask, scheme, kv_heads):
    """Outputs and gradients, self- and cross-attention, values narrower than keys, in training with and without dropout
    and in evaluation. Where a row may look nowhere both give zeros, and no gradient is lost to 0/0."""
    modes = ((0.4, False), (0.0, True), (0.4, True))  # dropout rate, in training
    for (value_dim, cross), (dropout, training) in itertools.product(((8, False), (8, True), (6, True)), modes):
        heads = Heads(count=H, kv_count=kv_heads, key_dim=8, value_dim=value_dim)
        layer = Attention(D, heads=heads, dropout=dropout, position=SCHEMES[scheme]()).train(training)
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter, std=D**-0.5)
        x, source = torch.randn(B, T, D), torch.randn(B, S, D) if cross else None
        given = x, MASKS[mask](T, S if cross else T), source
        for fused, readable in zip(run(layer, attend_fused, *given), run(layer, attend, *given), strict=True):
            close(fused, readable, f"{value_dim=}, {cross=}, {dropout=}, {training=}")
            assert fused.isfinite().all()


@pytest.mark.parametrize("kernel", [attend, attend_fused, Additive(8)], ids=["attend", "attend_fused", "additive"])
@pytest.mark.parametrize("biased", [False, True])
def test_a_row_that_may_look_nowhere_gathers_nothing(kernel, biased):
    q, k, v = (torch.randn(B, H, length, 8, requires_grad=True) for length in (T, S, S))
    mask = empty_rows(T, S)
    gathered = kernel(q, k, v, mask=mask, bias=torch.randn(B, H, T, S) if biased else None)
    assert (gathered[0, :, 1] == 0).all()
    assert (gathered[1] == 0).all()
    assert gathered[0, :, 0].abs().min() > 0
    gathered.sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all()
        assert (tensor.grad[1] == 0).all()


def test_dropout_is_off_in_evaluation_and_on_in_training():
    layer, x = Attention(D, heads=H, dropout=0.5), torch.randn(B, T, D)
    assert not torch.equal(layer(x, places(T, T)), layer(x, places(T, T)))
    layer.eval()
    torch.testing.assert_close(layer(x, places(T, T)), layer(x, places(T, T)), rtol=0, atol=0)


# ---- what heads are -------------------------------------------------------------------------------------------------


def test_weights_are_a_distribution_over_what_may_be_seen():
    noted, mask = {}, empty_rows(T, S)
    attend(
        torch.randn(B, H, T, 8), torch.randn(B, H, S, 8), torch.randn(B, H, S, 8), mask=mask, notes=noted.__setitem__
    )
    weights = noted["weights"]
    assert (weights >= 0).all()
    assert (weights[~mask.expand_as(weights)] == 0).all()
    close(weights.sum(dim=-1), mask.any(dim=-1).float().expand(B, H, T))


def test_heads_are_separate_attentions_side_by_side():
    """h heads = h attentions of width D/h, each with its slice of the projections, concatenated, then projected."""
    layer, x = Attention(D, heads=H), torch.randn(B, T, D)
    width, parts = D // H, []
    for head in range(H):
        rows = slice(head * width, (head + 1) * width)
        q, k, v = (
            torch.nn.functional.linear(x, proj.weight[rows], proj.bias[rows])
            for proj in (layer.q_proj, layer.k_proj, layer.v_proj)
        )
        parts.append((q @ k.mT / math.sqrt(width)).softmax(dim=-1) @ v)
    close(layer(x, places(T, T)), layer.out_proj(torch.cat(parts, dim=-1)))


@pytest.mark.parametrize("groups", [2, 1])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_grouped_heads_are_repeated_heads(groups, scheme):
    """Fewer key/value heads compute what a full layer with their projections written out again and again does."""
    heads = Heads(count=H, kv_count=groups, key_dim=8, value_dim=8)
    few = Attention(D, heads=heads, position=SCHEMES[scheme]())
    full = Attention(D, heads=Heads(count=H, kv_count=H, key_dim=8, value_dim=8), position=few.position)
    state = few.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        state[name] = state[name].unflatten(0, (groups, 8)).repeat_interleave(H // groups, dim=0).flatten(0, 1)
    full.load_state_dict(state)
    x, context = torch.randn(B, T, D), places(T, T, masks.causal(T, T))
    close(few(x, context), full(x, context))


def test_share_repeats_each_group_for_its_heads():
    x = torch.tensor([1.0, 2.0]).view(1, 2, 1, 1)
    assert share(x, 4).flatten().tolist() == [1, 1, 2, 2]
    assert share(x, 2) is x


def test_the_order_of_keys_is_invisible():
    """Without positions attention sees a set of keys, not a row."""
    layer, x, memory, order = Attention(D, heads=H), torch.randn(B, T, D), torch.randn(B, S, D), torch.randperm(S)
    close(layer(x, places(), source=memory[:, order]), layer(x, places(), source=memory))


def test_a_bias_on_keys_would_not_change_the_weights():
    """It adds q·b to every score of a row alike, and softmax does not see it: Whisper leaves it out."""
    layer, x = Attention(D, heads=H), torch.randn(B, T, D)
    before = layer(x, places(T, T))
    with torch.no_grad():
        layer.k_proj.bias += torch.randn(D)
    close(layer(x, places(T, T)), before)
    assert Attention(D, heads=H, key_bias=False).k_proj.bias is None


# ---- bad use --------------------------------------------------------------------------------------------------------


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="3 heads do not divide a width of 16; choose a divisor or set head_dim"):
        Attention(D, heads=3)
    assert Attention(D, heads=Heads.of(D, 3, head_dim=4)).q_proj.out_features == 12


@pytest.mark.parametrize("count", [0, -2])
def test_there_is_at_least_one_head(count):
    with pytest.raises(ValueError, match=f"{count} heads"):
        Heads.of(D, count)


@pytest.mark.parametrize("groups", [3, 0, 8, -1])
def test_groups_must_divide_the_heads(groups):
    with pytest.raises(ValueError, match=f"{groups} key/value heads cannot be shared evenly by 4 heads"):
        Heads.of(D, 4, kv_count=groups)


@pytest.mark.parametrize("kernel", [attend, attend_fused, Additive(8)], ids=["attend", "attend_fused", "additive"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_mask_that_is_not_boolean_is_refused(kernel, dtype):
    """Fused attention would take a float mask for a bias and let everybody look everywhere."""
    q = torch.randn(B, H, T, 8)
    with pytest.raises(TypeError, match="mask must be boolean with True = may look"):
        kernel(q, q, q, mask=torch.ones(T, T, dtype=dtype))

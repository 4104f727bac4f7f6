"""Position schemes: each one against the formula of its paper, worked out independently."""

import math

import pytest
import torch

from clearformer.model.attention_context import AttentionContext
from clearformer.model.positions import (
    Alibi,
    Buckets,
    Grid,
    Learned,
    NoPosition,
    Relative,
    Rotary,
    Shaw,
    Sinusoidal,
    SplitSinusoidal,
    Tensor2TensorSinusoidal,
)

B, H, T, S, K = 2, 4, 5, 7, 8
WAVES = [Sinusoidal, SplitSinusoidal, Tensor2TensorSinusoidal]


def a_context():
    """Queries that stand at the last places of the keys, rows that differ, as with left padding and a cache."""
    keys = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 2, 3, 4]])
    return AttentionContext(keys[:, -T:], keys)


def test_shapes():
    context, q, k = a_context(), torch.randn(B, H, T, K), torch.randn(B, H, S, K)
    for scheme in (*(waves(16) for waves in WAVES), Learned(10, 16)):
        assert scheme.embed(context.queries).shape == (B, T, 16)
    assert Rotary(K).rotate_queries(q, context).shape == q.shape
    assert Rotary(K).rotate_keys(k, context).shape == k.shape
    for scheme in (Alibi(H), Buckets(H), Shaw(K), Relative(16, heads=H, head_dim=K)):
        assert torch.broadcast_shapes(scheme.bias(q, k, context).shape, (B, H, T, S)) == (B, H, T, S)


def test_what_a_scheme_does_not_override_does_nothing():
    context, q = a_context(), torch.randn(B, H, T, K)
    scheme = NoPosition()
    assert scheme.embed(context.queries) is None
    assert scheme.bias(q, q, context) is None
    assert scheme.rotate_queries(q, context) is q
    assert scheme.rotate_keys(q, context) is q


# ---- waves ----------------------------------------------------------------------------------------------------------


def test_waves_by_the_formula():
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(…): also far out, where float32 angles would be wrong."""
    for place in (0, 1, 7, 511, 100_003):
        expected = [
            (math.sin if feature % 2 == 0 else math.cos)(place / 10_000 ** ((feature - feature % 2) / 12))
            for feature in range(12)
        ]
        actual = Sinusoidal(12).embed(torch.tensor([[place]]))[0, 0]
        torch.testing.assert_close(actual, torch.tensor(expected), rtol=0, atol=1e-6)


def test_base_waves_have_size_16():
    """256 pairs with sin² + cos² = 1 each: norm √256 = 16 and rms √½ at every position of the base model."""
    waves = Sinusoidal(512).embed(torch.arange(5000)[None])[0]
    torch.testing.assert_close(waves.norm(dim=-1), torch.full((5000,), 16.0))
    torch.testing.assert_close(waves.square().mean(dim=-1).sqrt(), torch.full((5000,), 0.7071), rtol=0, atol=1e-4)


@pytest.mark.parametrize("scheme", WAVES)
@pytest.mark.parametrize("step", [1, 3, 50])
def test_a_shift_is_one_matrix(scheme, step):
    """PE(p + k) = M·PE(p) for every p, where M turns each pair by k·frequency and knows nothing of p."""
    waves, pairs = scheme(16), torch.arange(8)
    feature = waves.arrange(pairs, pairs + 8).argsort()  # where the layout puts the sines, then the cosines
    angles = step * waves.frequencies(pairs.device).float()
    matrix = torch.zeros(16, 16)
    matrix[feature[:8], feature[:8]] = matrix[feature[8:], feature[8:]] = angles.cos()
    matrix[feature[:8], feature[8:]], matrix[feature[8:], feature[:8]] = angles.sin(), -angles.sin()
    places = torch.arange(200)[None]
    torch.testing.assert_close(waves.embed(places) @ matrix.mT, waves.embed(places + step), rtol=0, atol=1e-5)


def test_the_three_layouts():
    """Split is the paper's with the sines moved to the front; tensor2tensor's slowest wave is 1/base exactly."""
    places = torch.arange(9)[None]
    paper, split = Sinusoidal(12).embed(places), SplitSinusoidal(12).embed(places)
    torch.testing.assert_close(split, torch.cat((paper[..., 0::2], paper[..., 1::2]), dim=-1), rtol=0, atol=0)
    frequencies = Tensor2TensorSinusoidal(12).frequencies(places.device)
    torch.testing.assert_close(frequencies, 10_000.0 ** -(torch.arange(6).double() / 5))
    torch.testing.assert_close(Sinusoidal(12).frequencies(places.device), 10_000.0 ** -(torch.arange(6).double() / 6))


def test_waves_need_an_even_width():
    with pytest.raises(ValueError, match="the width must be even, not 7"):
        Sinusoidal(7)


# ---- learned --------------------------------------------------------------------------------------------------------


def test_a_learned_table_is_looked_up_behind_its_offset():
    scheme = Learned(4, 8, offset=2)
    assert scheme.table.weight.shape == (6, 8)
    torch.testing.assert_close(scheme.embed(torch.tensor([[0, 3]]))[0], scheme.table.weight[[2, 5]])


@pytest.mark.parametrize("offset", [0, 2])
def test_past_the_limit_the_error_names_it(offset):
    scheme = Learned(4, 8, offset=offset)
    scheme.embed(torch.arange(4)[None])
    with pytest.raises(ValueError, match="the input is 5 tokens long, but this model learned only 4 positions"):
        scheme.embed(torch.arange(5)[None])


# ---- rotary ---------------------------------------------------------------------------------------------------------

ROTARY = [
    {"pairs": pairs, "scaling": scaling, "factor": factor}
    for pairs in ("neighbours", "halves")
    for scaling, factor in (("none", 1.0), ("linear", 4.0), ("ntk", 4.0))
]


def turned(scheme, x, place):
    """x: K, as it would stand at a position."""
    at = torch.tensor([[place]])
    return scheme.rotate_queries(x[None, None, None], AttentionContext(at, at))[0, 0, 0]


@pytest.mark.parametrize("options", ROTARY)
def test_rotary_scores_see_the_distance_only(options):
    scheme, q, k = Rotary(K, **options), torch.randn(K), torch.randn(K)
    for distance in (0, 1, 5, -3):
        scores = [turned(scheme, q, place + distance) @ turned(scheme, k, place) for place in (3, 10, 77, 500)]
        torch.testing.assert_close(torch.stack(scores), scores[0].expand(4), rtol=0, atol=1e-5)
    assert (turned(scheme, q, 9) @ turned(scheme, k, 3) - turned(scheme, q, 8) @ turned(scheme, k, 3)).abs() > 1e-3


@pytest.mark.parametrize("options", ROTARY)
def test_rotary_turns_and_never_stretches(options):
    scheme, x = Rotary(K, **options), torch.randn(K)
    torch.testing.assert_close(turned(scheme, x, 0), x)
    torch.testing.assert_close(turned(scheme, x, 123).norm(), x.norm())


def test_rotary_by_hand():
    """Four features, position 1: angles of 1 and 1/100. The layouts differ in which features make a pair."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def turn(a, b, angle):
        return a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)

    (a, b), (c, d) = turn(1, 2, 1.0), turn(3, 4, 0.01)
    torch.testing.assert_close(turned(Rotary(4, pairs="neighbours"), x, 1), torch.tensor([a, b, c, d]))
    (a, c), (b, d) = turn(1, 3, 1.0), turn(2, 4, 0.01)
    torch.testing.assert_close(turned(Rotary(4, pairs="halves"), x, 1), torch.tensor([a, b, c, d]))


def test_rotary_scaling():
    """Linear puts position 12 where 3 was; NTK leaves the fastest wave alone and slows the slowest by the factor."""
    x = torch.randn(K)
    plain, linear, ntk = Rotary(K), Rotary(K, scaling="linear", factor=4.0), Rotary(K, scaling="ntk", factor=4.0)
    torch.testing.assert_close(turned(linear, x, 12), turned(plain, x, 3))

    def angles(scheme, place):
        cos, sin = scheme.turn(torch.tensor([[place]]))
        return torch.atan2(sin, cos).flatten()

    torch.testing.assert_close(angles(ntk, 1)[0], angles(plain, 1)[0])
    torch.testing.assert_close(angles(ntk, 1)[-1], angles(plain, 1)[-1] / 4)


def test_rotary_turns_only_what_is_new():
    """With a cache the keys so far are turned already: the new ones take the positions in context.fresh."""
    keys, scheme, k = torch.arange(6)[None], Rotary(K), torch.randn(1, H, 6, K)
    whole = scheme.rotate_keys(k, AttentionContext(keys, keys))
    last = scheme.rotate_keys(k[:, :, 4:], AttentionContext(keys[:, 4:], keys, fresh=keys[:, 4:]))
    torch.testing.assert_close(last, whole[:, :, 4:])


def test_rotary_needs_pairs():
    with pytest.raises(ValueError, match="head_dim must be even, not 5"):
        Rotary(5)


# ---- ALiBi ----------------------------------------------------------------------------------------------------------


def test_alibi_slopes_of_eight_heads():
    assert Alibi(8).slopes().tolist() == [2.0**-i for i in range(1, 9)]


def test_alibi_slopes_of_twelve_heads():
    """The paper: the eight slopes of eight heads, then every other slope of sixteen."""
    assert Alibi(12).slopes().tolist() == pytest.approx(
        [2.0**-i for i in range(1, 9)] + [2.0 ** -(i + 0.5) for i in range(4)]
    )


@pytest.mark.parametrize("heads", range(1, 34))
def test_alibi_slopes_of_any_number_of_heads(heads):
    def paper(count):
        if math.log2(count).is_integer():
            start = 2 ** (-8 / count)
            return [start * start**i for i in range(count)]
        below = 2 ** math.floor(math.log2(count))
        return paper(below) + paper(2 * below)[0::2][: count - below]

    assert Alibi(heads).slopes().tolist() == pytest.approx(paper(heads))


def test_alibi_by_hand():
    context = AttentionContext(torch.tensor([[2, 3]]), torch.tensor([[0, 1, 2, 3]]))
    bias = Alibi(2).bias(torch.zeros(1, 2, 2, K), torch.zeros(1, 2, 4, K), context)
    distances = [[2, 1, 0, 1], [3, 2, 1, 0]]
    expected = [[[-slope * distance for distance in row] for row in distances] for slope in (1 / 16, 1 / 256)]
    assert bias[0].tolist() == expected


# ---- T5 -------------------------------------------------------------------------------------------------------------


def t5_bucket(distance, *, buckets, max_distance, bidirectional):
    """The definition in whole numbers: half the buckets exact, the other half by the logarithm of the distance.

    bucket = exact + ⌊log(d/exact) / log(max/exact) · wide⌋, where ⌊·⌋ ≥ n means (d/exact)^wide ≥ (max/exact)^n.
    """
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if distance < 0 else 0
        distance = abs(distance)
    distance, exact = max(distance, 0), buckets // 2
    if distance < exact:
        return first + distance
    wide = buckets - exact
    steps = sum(distance**wide >= max_distance**n * exact ** (wide - n) for n in range(1, wide))
    return first + exact + steps


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (8, 20), (16, 64), (32, 1000)])
def test_buckets_by_the_definition(buckets, max_distance, bidirectional):
    scheme = Buckets(H, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    distances = range(-3 * max_distance, 3 * max_distance)
    expected = [
        t5_bucket(d, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional) for d in distances
    ]
    assert scheme.bucket(torch.tensor(distances)).tolist() == expected
    unused = {buckets // 2} if bidirectional else set()  # T5's own waste: distance 0 counts as the past
    assert set(range(buckets)) - set(expected) == unused


def test_a_bucket_has_a_bias_for_each_head():
    scheme, context = Buckets(H), a_context()
    bias = scheme.bias(torch.zeros(B, H, T, K), torch.zeros(B, H, S, K), context)
    query, key = context.queries[1, 3], context.keys[1, 2]
    torch.testing.assert_close(bias[1, :, 3, 2], scheme.table(scheme.bucket(query - key)))


# ---- relative, matched by the query ---------------------------------------------------------------------------------


def test_grid_tells_rows_and_columns_apart():
    """Of patches alone: one step right is the same bias everywhere, and another one than a step down."""
    grid, places = Grid(H, side=3), torch.arange(10)[None]
    index = grid.index(places, places)[0]
    patch = {(y, x): 1 + 3 * y + x for y in range(3) for x in range(3)}
    right = {int(index[patch[y, x], patch[y, x + 1]]) for y in range(3) for x in range(2)}
    down = {int(index[patch[y, x], patch[y + 1, x]]) for y in range(2) for x in range(3)}
    assert len(right) == len(down) == 1
    assert right != down
    assert set(index[1:, 1:].flatten().tolist()) == set(range(25))
    from_class, to_class, itself = index[0, 1:], index[1:, 0], index[0, 0]
    assert set(from_class.tolist()) | set(to_class.tolist()) | {int(itself)} == {25, 26, 27}
    context = AttentionContext(places, places)
    bias = grid.bias(torch.zeros(1, H, 10, K), torch.zeros(1, H, 10, K), context)
    torch.testing.assert_close(bias[0, 2, 4, 7], grid.table.weight[index[4, 7], 2])


def test_shaw_by_the_formula():
    """q·a(clip(distance)) / √K (Shaw et al., 2018, eq. 4)."""
    scheme, context, q = Shaw(K, max_distance=2), a_context(), torch.randn(B, H, T, K)
    bias = scheme.bias(q, torch.zeros(B, H, S, K), context)
    for b, t, s in ((0, 0, 0), (0, 4, 6), (1, 2, 4), (1, 0, 6)):
        clipped = max(-2, min(2, int(context.queries[b, t] - context.keys[b, s])))
        torch.testing.assert_close(bias[b, :, t, s], q[b, :, t] @ scheme.table.weight[clipped + 2] / math.sqrt(K))


@pytest.mark.parametrize("groups", [4, 2, 1])
def test_relative_by_the_formula(groups):
    """(q·Wr + u·k + v·Wr) / √K, with R the wave of the distance: terms (b), (c) and (d) of Dai et al., 2019."""
    scheme, context = Relative(16, heads=H, head_dim=K), a_context()
    q, k = torch.randn(B, H, T, K), torch.randn(B, groups, S, K)
    u, v = (torch.nn.init.normal_(p) for p in (scheme.content_bias, scheme.distance_bias))
    bias = scheme.bias(q, k, context)
    for b, h, t, s in ((0, 0, 0, 0), (0, 3, 4, 6), (1, 2, 2, 4), (1, 1, 0, 6)):
        distance = context.queries[b, t] - context.keys[b, s]
        r = scheme.r_proj(SplitSinusoidal(16).embed(distance)).view(H, K)[h]
        expected = q[b, h, t] @ r + u[h] @ k[b, h * groups // H, s] + v[h] @ r
        torch.testing.assert_close(bias[b, h, t, s], expected / math.sqrt(K))


def test_relative_counts_distances_without_data():
    """On the meta device nobody can ask for the largest distance; the lengths bound it."""
    with torch.device("meta"):
        scheme, places = Relative(16, heads=H, head_dim=K), torch.arange(S)[None]
        bias = scheme.bias(torch.zeros(B, H, S, K), torch.zeros(B, H, S, K), AttentionContext(places, places))
    assert bias.shape == (B, H, S, S)

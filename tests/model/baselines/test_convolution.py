"""The convolutional baseline keeps the promises of the Transformer's interface, and sees as far as its layers reach."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from clearformer.model import families
from clearformer.model.attention_context import Memory
from clearformer.model.baselines.convolution import (
    ConvolutionalEncoderLayer,
    GatedConvolution,
    HopAttention,
    Lineup,
    ProjectedSource,
)
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, DropoutConfig, EmbeddingConfig
from clearformer.model.trace import trace

V, DIM, B, S, T = 13, 16, 3, 6, 5
CONFIG = families.convolution(vocab_size=V, dim=DIM, layers=2, max_len=40)


def make(**changes):
    torch.manual_seed(0)
    return build(replace(CONFIG, **changes)).eval()


@pytest.fixture(params=[3, 5, 1], ids=lambda kernel: f"kernel {kernel}")
def model(request):
    return make(kernel=request.param)


def draw(length, seed=1):
    return torch.randint(1, V, (B, length), generator=torch.Generator().manual_seed(seed))


SOURCE, TARGET = draw(S), draw(T, seed=2)
SHORT = torch.tensor([[True] * S, [True] * 4 + [False] * 2, [True] * 2 + [False] * 4])  # rows of 6, 4 and 2 tokens


def close(mine, other):
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=0)


def pad(tokens, left, right):
    """Tokens with junk on both sides, and which of them are real."""
    keep = torch.ones_like(tokens, dtype=torch.bool)
    return F.pad(tokens, (left, right), value=7), F.pad(keep, (left, right), value=False)


def test_shapes(model):
    memory = model.encode(SOURCE)
    assert memory.states.shape == (B, S, 2 * DIM)  # a vector to be found by, and one to be found
    assert memory.keep is None
    assert model.decode(TARGET, memory).shape == (B, T, V)
    assert model(SOURCE, TARGET).shape == (B, T, V)


def test_a_gated_convolution_is_two_sums_over_neighbours():
    gated, x = GatedConvolution(DIM, 3), torch.randn(1, 5, DIM)
    weight, bias = gated.conv.weight, gated.conv.bias  # 2D D 3
    for t in range(3):
        mixed = sum(weight[:, :, offset] @ x[0, t + offset] for offset in range(3)) + bias
        close(gated(x)[0, t], mixed[:DIM] * mixed[DIM:].sigmoid())


def test_the_encoder_adds_the_embedding_to_what_is_found():
    model = make()
    embedded = model.encoder.front(SOURCE).x
    x = embedded
    for layer in model.encoder.layers:
        edge = torch.zeros(B, 1, DIM)
        x = (x + layer.gated(torch.cat((edge, x, edge), dim=1))) * math.sqrt(0.5)
    close(model.encode(SOURCE).states, torch.cat((x, (x + embedded) * math.sqrt(0.5)), dim=-1))


def test_attention_is_a_plain_dot_product_scaled_by_the_root_of_the_number_of_tokens():
    torch.manual_seed(0)
    attention = HopAttention(DIM)
    x, embedded, memory = torch.randn(1, 1, DIM), torch.randn(1, 1, DIM), Memory(torch.randn(1, 4, 2 * DIM))
    keys, values = memory.states[0].chunk(2, dim=-1)
    query = (attention.q_proj(x[0, 0]) + embedded[0, 0]) * math.sqrt(0.5)
    found = (keys @ query).softmax(dim=0) @ values
    close(attention(x, embedded, ProjectedSource.of(memory))[0, 0], attention.out_proj(found * math.sqrt(4)))


def test_an_encoder_layer_sees_its_neighbours_and_a_stack_their_neighbours():
    length, layers, kernel = 15, 2, 5
    model = make(kernel=kernel, layers=layers)
    source = torch.full((1, length), 3)
    changed = source.clone()
    changed[0, 7] = 4
    moved = (model.encode(source).states != model.encode(changed).states).any(dim=-1)[0].nonzero().flatten()
    reach = layers * (kernel // 2)
    assert moved.tolist() == list(range(7 - reach, 7 + reach + 1))


def test_the_decoder_sees_n_layers_times_kernel_less_one_back_and_nothing_ahead():
    length, layers, kernel = 12, 2, 3
    model = make(kernel=kernel, layers=layers)
    memory = model.encode(SOURCE[:1])
    target = torch.full((1, length), 3)
    changed = target.clone()
    changed[0, 4] = 4
    moved = (model.decode(target, memory) != model.decode(changed, memory)).any(dim=-1)[0].nonzero().flatten()
    assert moved.tolist() == list(range(4, 4 + layers * (kernel - 1) + 1))


@pytest.mark.parametrize(("left", "right"), [(0, 1), (0, 5), (1, 0), (4, 0), (2, 3)])
def test_padding_changes_nothing(model, left, right):
    plain = model(SOURCE, TARGET)
    source, source_keep = pad(SOURCE, left, right)
    target, target_keep = pad(TARGET, left, right)
    padded = model(source, target, source_keep=source_keep, target_keep=target_keep)
    close(padded[:, left : left + T], plain)


def test_rows_of_unequal_length_do_not_know_each_other(model):
    together = model(SOURCE, TARGET, source_keep=SHORT)
    for row in range(B):
        alone = model(SOURCE[row : row + 1, SHORT[row]], TARGET[row : row + 1])
        close(together[row : row + 1], alone)


def test_changing_the_source_changes_every_layer_and_output():
    model, changed = make(), SOURCE.clone()
    changed[:, 2] = (changed[:, 2] + 1) % V
    with trace(model) as seen:
        before, after = model(SOURCE, TARGET), model(changed, TARGET)
    assert (before != after).any(dim=-1).all()
    for layer in range(2):
        first, second = seen.history(f"decoder.layers.{layer}.output")
        assert (first != second).any(dim=-1).all()


@pytest.mark.parametrize("pieces", [[1] * T, [2, 3], [T], [1, 3, 1]], ids=str)
def test_cached_steps_equal_the_full_pass(model, pieces):
    memory = model.encode(SOURCE, keep=SHORT)
    cache = model.start_cache(room=2)
    steps = [model.decode(part, memory, cache=cache) for part in TARGET.split(pieces, dim=1)]
    close(torch.cat(steps, dim=1), model.decode(TARGET, memory))


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_cache_goes_on_after_padded_beginnings(model, side):
    """Beginnings of 3, 2 and 1 tokens, then two tokens more, give what each row gives alone."""
    memory = model.encode(SOURCE)
    lengths = [3, 2, 1]
    begin, keep = torch.full((B, 3), 7), torch.zeros(B, 3, dtype=torch.bool)
    for row, length in enumerate(lengths):
        slots = slice(3 - length, 3) if side == "left" else slice(0, length)
        begin[row, slots], keep[row, slots] = TARGET[row, :length], True
    cache = model.start_cache()
    model.decode(begin, memory, keep=keep, cache=cache)
    more = draw(2, seed=3)
    together = torch.cat([model.decode(more[:, t : t + 1], memory, cache=cache) for t in range(2)], dim=1)
    for row, length in enumerate(lengths):
        written = torch.cat((TARGET[row : row + 1, :length], more[row : row + 1]), dim=1)
        close(together[row : row + 1], model.decode(written, memory.select(torch.tensor([row])))[:, -2:])


def test_a_lineup_puts_the_past_between_padding_and_new_tokens():
    keep = torch.tensor([[True, False, True], [False, True, False]])
    past = torch.tensor([[1.0, 2.0], [1.0, 2.0]])[..., None]
    x = torch.tensor([[3.0, 0.0, 4.0], [0.0, 3.0, 0.0]])[..., None]
    lineup = Lineup(keep, reach=2)
    ordered = lineup.arrange(past, x)[..., 0]
    assert ordered.tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 3]]
    # A convolution that returns the newest of what it sees gives each real token itself.
    restored = lineup.restore(ordered[:, 2:, None])[..., 0]
    assert restored[keep].tolist() == [3, 4, 3]


def test_select_reorders_repeats_and_drops_rows(model):
    memory, rows = model.encode(SOURCE, keep=SHORT), torch.tensor([2, 0, 0, 2])
    cache = model.start_cache()
    model.decode(TARGET[:, :3], memory, cache=cache)
    chosen, chosen_memory = cache.select(rows), memory.select(rows)
    continued = model.decode(TARGET[rows, 3:], chosen_memory, cache=chosen)
    close(continued, model.decode(TARGET[rows], chosen_memory)[:, 3:])
    close(model.decode(TARGET[:, 3:], memory, cache=cache), model.decode(TARGET, memory)[:, 3:])  # the old one lives on


def test_trace_shows_the_weights_of_every_layer():
    model = make()
    plain = model(SOURCE, TARGET, source_keep=SHORT)
    with trace(model) as seen:
        logits = model(SOURCE, TARGET, source_keep=SHORT)
    close(logits, plain)
    assert torch.equal(seen["logits"], logits)
    for layer in range(2):
        weights = seen[f"decoder.layers.{layer}.cross_attn.weights"]
        assert weights.shape == (B, 1, T, S)
        close(weights.sum(dim=-1), torch.ones(B, 1, T))
        assert not weights.masked_select(~SHORT[:, None, None]).any()


def test_sums_keep_their_size_through_the_layers():
    """Six residual sums of independent things without the √0.5 would have grown about eightfold."""
    torch.manual_seed(0)
    x = torch.randn(4, 30, 64)
    for _ in range(6):
        x = ConvolutionalEncoderLayer(64, kernel=3)(x, None)
    assert 0.5 < x.std().item() < 2.5


def test_every_parameter_learns_and_an_empty_source_harms_nobody():
    model = make(dropout=DropoutConfig.everywhere(0.2)).train()
    keep = SHORT.clone()
    keep[2] = False
    target_keep = torch.tensor([[True] * T, [False] * 2 + [True] * 3, [False] * T])
    logits = model(SOURCE, TARGET, source_keep=keep, target_keep=target_keep)
    assert logits.isfinite().all()
    logits.logsumexp(dim=-1).mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_it_learns_to_reverse():
    torch.manual_seed(0)
    model = build(replace(CONFIG, dim=32, dropout=DropoutConfig.everywhere(0.0)))
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)

    def batch():
        source = torch.randint(1, V, (32, 6))
        reversed_source = source.flip(1)
        return source, F.pad(reversed_source[:, :-1], (1, 0)), reversed_source

    for _ in range(120):
        source, given, wanted = batch()
        loss = F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    source, given, wanted = batch()
    assert (model(source, given).argmax(dim=-1) == wanted).float().mean() > 0.9


def test_heads_are_honoured():
    single, double = make(), make(attention=AttentionConfig(heads=2))
    double.load_state_dict(single.state_dict())
    with trace(double) as seen:
        assert not torch.allclose(double(SOURCE, TARGET), single(SOURCE, TARGET))
    assert seen["decoder.layers.0.cross_attn.weights"].shape == (B, 2, T, S)


def test_untied_tables_may_have_a_vocabulary_each():
    model = make(embedding=EmbeddingConfig(tie="none"), target_vocab_size=V + 2)
    assert model(SOURCE, TARGET).shape == (B, T, V + 2)


def test_parameter_names_are_a_file_format():
    names = {name for name, _ in make(layers=1).named_parameters()}
    ends = ("weight", "bias")
    assert names == {
        "encoder.front.embed.weight",
        "encoder.front.position.table.weight",
        "decoder.front.position.table.weight",
        *(f"encoder.layers.0.gated.conv.{end}" for end in ends),
        *(f"decoder.layers.0.gated.conv.{end}" for end in ends),
        *(f"decoder.layers.0.cross_attn.{part}.{end}" for part in ("q_proj", "out_proj") for end in ends),
    }


def test_bad_use_gets_a_sentence():
    model = make()
    with pytest.raises(ValueError, match="the kernel must be odd, not 4"):
        make(kernel=4)
    with pytest.raises(ValueError, match="41 tokens long, but this model learned only 40 positions"):
        model.encode(torch.ones(1, 41, dtype=torch.long))
    with pytest.raises(ValueError, match="token 99 is outside the vocabulary of 13"):
        model.encode(torch.full((1, 2), 99))
    with pytest.raises(TypeError, match="keep must be boolean"):
        model.decode(TARGET, model.encode(SOURCE), keep=torch.ones_like(TARGET))
    with pytest.raises(ValueError, match="3 heads do not divide a width of 16"):
        HopAttention(16, heads=3)

"""The recurrent baseline keeps the promises of the Transformer's interface, with attention and without."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from clearformer.model import families
from clearformer.model.attention_context import Memory
from clearformer.model.baselines.lstm import unroll_fused
from clearformer.model.baselines.recurrent import AttentiveDecoder, PlainDecoder, RecurrentEncoder
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, DropoutConfig, EmbeddingConfig
from clearformer.model.trace import trace

V, DIM, B, S, T = 13, 16, 3, 6, 5
CONFIG = families.lstm(vocab_size=V, dim=DIM, layers=2)


def make(cross=True, **changes):
    torch.manual_seed(0)
    return build(replace(CONFIG, attention=AttentionConfig(heads=1, cross=cross), **changes)).eval()


@pytest.fixture(params=[True, False], ids=["attention", "no attention"])
def cross(request):
    return request.param


@pytest.fixture
def model(cross):
    return make(cross)


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
    assert memory.states.shape == (B, S, DIM)
    assert memory.keep is None
    assert model.decode(TARGET, memory).shape == (B, T, V)
    assert model(SOURCE, TARGET).shape == (B, T, V)


def test_attention_is_a_part_and_its_absence_another_class():
    assert isinstance(make(True).decoder, AttentiveDecoder)
    assert isinstance(make(False).decoder, PlainDecoder)


def test_the_encoder_is_torch_lstm_and_its_ends_are_the_final_states(model):
    encoder = model.encoder
    memory = encoder(SOURCE, keep=SHORT)
    states, last = unroll_fused(encoder.lstm, encoder.front(SOURCE, SHORT).x, keep=SHORT)
    close(memory.states, states)
    close(model.decoder.bridge.ends(memory), torch.cat((last.hidden[-2], last.hidden[-1]), dim=-1))


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


def test_the_future_never_changes_the_past(model):
    memory, changed = model.encode(SOURCE), TARGET.clone()
    changed[:, 3] = (changed[:, 3] + 1) % V
    before, after = model.decode(TARGET, memory), model.decode(changed, memory)
    assert torch.equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).any(dim=-1).all()  # but the past changes every step that follows


def test_changing_the_source_changes_every_output(model):
    changed = SOURCE.clone()
    changed[:, 2] = (changed[:, 2] + 1) % V
    assert (model(SOURCE, TARGET) != model(changed, TARGET)).any(dim=-1).all()


def test_only_attention_sees_the_middle_of_the_source(cross, model):
    """Without it, all of the source has to fit into the two ends of the memory."""
    memory = model.encode(SOURCE)
    middle, ends = memory.states.clone(), memory.states.clone()
    middle[:, 1:-1] += 1
    ends[:, [0, -1]] += 1
    plain = model.decode(TARGET, memory)
    assert torch.equal(model.decode(TARGET, Memory(middle)), plain) is not cross
    assert not torch.equal(model.decode(TARGET, Memory(ends)), plain)


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


def test_select_reorders_repeats_and_drops_rows(model):
    memory, rows = model.encode(SOURCE, keep=SHORT), torch.tensor([2, 0, 0, 2])
    cache = model.start_cache()
    model.decode(TARGET[:, :3], memory, cache=cache)
    chosen, chosen_memory = cache.select(rows), memory.select(rows)
    continued = model.decode(TARGET[rows, 3:], chosen_memory, cache=chosen)
    close(continued, model.decode(TARGET[rows], chosen_memory)[:, 3:])
    close(model.decode(TARGET[:, 3:], memory, cache=cache), model.decode(TARGET, memory)[:, 3:])  # the old one lives on


def test_an_empty_cache_can_be_selected(model):
    memory, rows = model.encode(SOURCE), torch.tensor([1, 1])
    close(
        model.decode(TARGET[rows], memory.select(rows), cache=model.start_cache().select(rows)),
        model.decode(TARGET, memory)[rows],
    )


def test_input_feeding_takes_what_was_found_to_the_next_step():
    model = make()
    memory = model.encode(SOURCE)
    cache = model.start_cache()
    model.decode(TARGET[:, :1], memory, cache=cache)
    forgetful = cache.select(torch.arange(B))
    forgetful.fed = torch.zeros_like(cache.fed)
    fed = model.decode(TARGET[:, 1:2], memory, cache=cache)
    assert (fed != model.decode(TARGET[:, 1:2], memory, cache=forgetful)).any(dim=-1).all()


def test_trace_shows_weights_gates_and_logits_of_the_same_computation():
    model = make()
    plain = model(SOURCE, TARGET, source_keep=SHORT)
    with trace(model) as seen:
        logits = model(SOURCE, TARGET, source_keep=SHORT)
    close(logits, plain)
    assert torch.equal(seen["logits"], logits)
    weights = seen["decoder.cross_attn.weights"]  # one record for the whole pass, though it went step by step
    assert weights.shape == (B, 1, T, S)
    close(weights.sum(dim=-1), torch.ones(B, 1, T))
    assert not weights.masked_select(~SHORT[:, None, None]).any()
    assert seen["encoder.output"].shape == (B, S, DIM)
    assert seen["encoder.lstm.l1_reverse.forget_gate"].shape == (B, S, DIM // 2)
    assert seen["decoder.lstm.l0.input_gate"].shape == (B, T, DIM)
    with trace(model) as steps:
        memory, cache = model.encode(SOURCE, keep=SHORT), model.start_cache()
        for t in range(T):
            model.decode(TARGET[:, t : t + 1], memory, cache=cache)
    close(torch.cat(steps.history("decoder.cross_attn.weights"), dim=2), weights)


def test_the_scores_are_bahdanaus():
    """score(query, key) = w · tanh(W query + U key + b), and what is found is the average of the states themselves."""
    attention = make().decoder.cross_attn
    x, states = torch.randn(1, 1, DIM), torch.randn(1, 3, DIM)
    query = attention.q_proj.weight @ x[0, 0]
    keys = [attention.k_proj.weight @ state + attention.k_proj.bias for state in states[0]]
    weights = torch.stack([attention.score.weight @ torch.tanh(query + key) for key in keys]).softmax(dim=0)
    close(attention(x, *attention.project(states), None)[0, 0], weights @ states[0])


def test_every_parameter_learns_and_an_empty_source_harms_nobody(cross):
    model = make(cross, dropout=DropoutConfig.everywhere(0.2)).train()
    keep = SHORT.clone()
    keep[2] = False
    model(SOURCE, TARGET, source_keep=keep).logsumexp(dim=-1).mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_it_learns_to_reverse():
    torch.manual_seed(0)
    model = build(replace(CONFIG, dim=32, layers=1, dropout=DropoutConfig.everywhere(0.0)))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)

    def batch():
        source = torch.randint(1, V, (32, 5))
        reversed_source = source.flip(1)
        return source, F.pad(reversed_source[:, :-1], (1, 0)), reversed_source

    for _ in range(200):
        source, given, wanted = batch()
        loss = F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    source, given, wanted = batch()
    assert (model(source, given).argmax(dim=-1) == wanted).float().mean() > 0.9


def test_one_table_serves_three_places_or_three_tables_do():
    tied, untied = make(), make(embedding=EmbeddingConfig(tie="none"), target_vocab_size=V + 2)
    assert tied.encoder.front.embed.weight is tied.decoder.front.embed.weight is tied.head.table
    assert untied(SOURCE, TARGET).shape == (B, T, V + 2)
    assert untied.head.table is not untied.decoder.front.embed.weight


def test_parameter_names_are_a_file_format():
    names = {name for name, _ in make(layers=1).named_parameters()}
    lstm = {f"{kind}_l0" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    assert names == {
        "encoder.front.embed.weight",
        *(f"encoder.lstm.{name}{direction}" for name in lstm for direction in ("", "_reverse")),
        "decoder.bridge.cell_proj.weight",
        "decoder.bridge.cell_proj.bias",
        *(f"decoder.lstm.{name}" for name in lstm),
        "decoder.cross_attn.q_proj.weight",
        "decoder.cross_attn.k_proj.weight",
        "decoder.cross_attn.k_proj.bias",
        "decoder.cross_attn.score.weight",
        "decoder.combine.weight",
    }


def test_bad_use_gets_a_sentence(model):
    with pytest.raises(ValueError, match="must be even, not 7"):
        RecurrentEncoder(torch.nn.Identity(), 7, layers=1)
    with pytest.raises(ValueError, match="token 99 is outside the vocabulary of 13"):
        model.encode(torch.full((1, 2), 99))
    with pytest.raises(TypeError, match="keep must be boolean"):
        model.encode(SOURCE, keep=SHORT.long())
    with pytest.raises(ValueError, match=r"keep has shape \(3, 6\), but the input is \(3, 5\)"):
        model.decode(TARGET, model.encode(SOURCE), keep=SHORT)
    with pytest.raises(ValueError, match="3 heads do not divide a width of 16"):
        replace(CONFIG, attention=AttentionConfig(heads=3))

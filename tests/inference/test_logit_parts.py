"""What each part adds to a logit: the sum is the model's own number, and each part is what the weights say."""

import pytest
import torch

from clearformer.inference.logit_lens import run_traced
from clearformer.inference.logit_parts import logit_parts, part_names, parts_of
from clearformer.model.adapters import adapt
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, EmbeddingConfig, HeadConfig, NormConfig, PositionConfig
from clearformer.model.families import bert, gpt2, llama, transformer, transformer_xl
from clearformer.model.layers import DecoderLayer
from clearformer.model.trace import note

SIZES = {"vocab_size": 40, "dim": 16, "hidden_dim": 24, "layers": 3, "heads": 4, "max_len": 32}
IDS = [3, 7, 1, 38, 7, 0]
SUMS = {
    "gpt2": gpt2(**SIZES),
    "gpt2 with a bias per token": gpt2(**SIZES, head=HeadConfig(bias=True)),
    "llama": llama(**SIZES),
    "grouped heads": llama(**SIZES, kv_heads=2),
    "one key/value head, biases": llama(**SIZES, kv_heads=1, attention=AttentionConfig(bias=True), bias=True),
    "wide heads": llama(**SIZES, head_dim=6),
    "one layer, three times": llama(**SIZES, share_layers=True),
    "alibi": gpt2(**SIZES, position=PositionConfig(kind="alibi")),
    "scaled embeddings and waves": gpt2(
        **SIZES, position=PositionConfig(kind="sinusoidal"), embedding=EmbeddingConfig(scale=True)
    ),
    "normalised embeddings": gpt2(**SIZES, embedding=EmbeddingConfig(norm=True)),
    "a head that shrinks": gpt2(**SIZES, head=HeadConfig(shrink=True)),
    "no final norm": gpt2(**SIZES, norm=NormConfig(place="pre", final=False)),
    "batch norm": gpt2(**SIZES, norm=NormConfig(place="pre", kind="batch")),
}


class ParallelLayer(DecoderLayer):
    """Attention and feed-forward side by side, from one norm (GPT-J; Wang and Komatsuzaki, 2021)."""

    def forward(self, x, context, **others):
        x = self.ffn_residual(x, lambda y: self.self_attn(y, context) + self.ffn(y))
        note(self, "output", x)
        return x


def loud(config):
    """A random model whose numbers differ from one another, biases and gains too."""
    torch.manual_seed(1)
    model = build(config).eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):  # as if it had seen data
            buffer += torch.rand_like(buffer)
    return model


@pytest.mark.parametrize("name", SUMS)
def test_the_parts_add_up_to_the_logit(name):
    model = loud(SUMS[name])
    with torch.inference_mode():
        own = model(torch.tensor([IDS]))[0]
    values = run_traced(model, IDS, part_names(model))
    for position in range(len(IDS)):
        for token in (0, 7, 39):
            found = parts_of(model, values, token, position=position)
            assert found.total == pytest.approx(float(own[position, token]), abs=1e-4)
            assert found.heads.shape == (3, 4)
            difference = parts_of(model, values, token, against=5, position=position)
            assert difference.total == pytest.approx(float(own[position, token] - own[position, 5]), abs=1e-4)


def test_blocks_side_by_side_are_a_sum_too():
    """Nothing needs to know how a layer is wired: what its parts add is recorded."""
    model = loud(gpt2(**SIZES))
    for layer in model.decoder.layers:
        layer.__class__ = ParallelLayer
    with torch.inference_mode():
        own = float(model(torch.tensor([IDS]))[0, -1, 7])
    assert logit_parts(model, IDS, 7).total == pytest.approx(own, abs=1e-4)


def test_adapters_are_a_part_of_what_a_head_adds():
    model = loud(llama(**SIZES, kv_heads=2))
    adapt(model, rank=2, scale=1.0)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    with torch.inference_mode():
        own = float(model.eval()(torch.tensor([IDS]))[0, -1, 7])
    assert logit_parts(model, IDS, 7).total == pytest.approx(own, abs=1e-4)


@torch.no_grad()
def test_a_head_adds_its_slice_of_the_output_matrix():
    """By hand: what the head gathered × its columns of W_O, minus the mean, ÷ the last state's deviation, × γ × E."""
    model = loud(gpt2(**SIZES))
    values = run_traced(model, IDS, part_names(model))
    found = parts_of(model, values, 7, position=4)
    state, norm = values["decoder.layers.2.output"][4], model.decoder.norm
    for layer in range(3):
        for head in range(4):
            columns = model.decoder.layers[layer].self_attn.out_proj.weight[:, 4 * head : 4 * head + 4]
            added = columns @ values[f"decoder.layers.{layer}.self_attn.heads"][head, 4]
            scaled = (added - added.mean()) / (state.var(unbiased=False) + norm.eps).sqrt() * norm.weight
            assert float(found.heads[layer, head]) == pytest.approx(float(scaled @ model.head.table[7]), abs=1e-5)


def test_without_a_norm_a_part_that_is_taken_away_takes_its_number_with_it():
    """Nothing stands behind the last feed-forward and the last attention bias but the head: an experiment says so."""
    model = loud(SUMS["no final norm"])
    before = logit_parts(model, IDS, 7)
    last = model.decoder.layers[-1].ffn.down_proj
    last.weight.data.zero_()
    last.bias.data.zero_()
    after = logit_parts(model, IDS, 7)
    assert before.logit - after.logit == pytest.approx(float(before.feed_forwards[-1]), abs=1e-5)
    assert float(after.feed_forwards[-1]) == 0


def test_positions_stand_apart_where_they_are_added():
    assert logit_parts(loud(SUMS["gpt2"]), IDS, 7).position is not None
    assert logit_parts(loud(SUMS["llama"]), IDS, 7).position is None
    assert logit_parts(loud(SUMS["normalised embeddings"]), IDS, 7).position is None  # the norm has mixed them


def test_a_token_against_itself_is_nothing():
    found = logit_parts(loud(SUMS["gpt2"]), IDS, 7, against=7)
    assert found.total == found.logit == 0
    assert not found.heads.any()


def test_against_is_the_difference_part_by_part():
    model = loud(SUMS["gpt2 with a bias per token"])
    one, other, both = (logit_parts(model, IDS, *pair[:1], against=pair[1]) for pair in ((7, None), (2, None), (7, 2)))
    torch.testing.assert_close(both.heads, one.heads - other.heads)
    assert both.constant == pytest.approx(one.constant - other.constant)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (transformer_xl(**SIZES), "normalises after each part"),
        (gpt2(**SIZES, head=HeadConfig(transform=True)), "a layer of its own before the vocabulary"),
        (transformer(**SIZES), "needs a decoder-only language model"),
        (bert(**SIZES), "needs a decoder-only language model"),
    ],
)
def test_what_is_no_sum_is_refused_with_its_reason(config, reason):
    with pytest.raises(ValueError, match=reason):
        logit_parts(build(config).eval(), IDS, 7)


def test_a_sum_that_lacks_a_part_is_refused():
    """A family may come with a part that nothing here knows of: wrong numbers must not be shown for it."""
    model = loud(SUMS["gpt2"])
    model.decoder.layers[1].ffn_residual.register_forward_hook(lambda part, given, total: total + 5.0)
    model.decoder.layers[1].self_attn.register_forward_hook(lambda part, given, output: output * 3.0)
    with pytest.raises(ValueError, match="away from the model's own"):
        logit_parts(model, IDS, 7)


@pytest.mark.parametrize("token", [-1, 40])
def test_a_token_outside_the_vocabulary_is_refused(token):
    model = loud(SUMS["llama"])
    for given in ({"token": token}, {"token": 1, "against": token}):
        with pytest.raises(ValueError, match=f"token {token} is outside the vocabulary of 40"):
            logit_parts(model, IDS, **given)

"""Trace: what is shown is what the model computed, under the name of the place where it was computed."""

import itertools
import threading

import pytest
import torch

from clearformer.model.attention import Additive, Attention, attend_fused
from clearformer.model.attention_context import AttentionContext, Memory
from clearformer.model.trace import trace
from model.specimens import DIM, HEADS, VOCAB, close, sentences, specimen

TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def seen_in(model, *inputs, only=None, **more):
    with torch.no_grad(), trace(model, only) as seen:
        output = model(*inputs, **more)
    return seen, output


@pytest.mark.parametrize("family", ["transformer", "t5", "bert", "albert", "vit", "gpt2", "llama", "transformer-xl"])
def test_looking_does_not_change_what_is_seen(family):
    """A traced pass takes the readable path of attention, an ordinary one the fused path: the logits agree."""
    model = specimen(family)
    inputs = {"transformer": (TOKENS, TOKENS), "t5": (TOKENS, TOKENS), "vit": (torch.randn(2, 3, 8, 8),)}
    given = inputs.get(family, (TOKENS,))
    seen, output = seen_in(model, *given)
    close(output, model(*given))
    torch.testing.assert_close(seen["logits"], output, rtol=0, atol=0)


def test_a_fused_model_shows_its_weights_on_demand():
    """The fast kernel never stores weights; while somebody looks, the readable one runs in its place."""
    model = specimen("gpt2")
    attention = model.decoder.layers[0].self_attn
    assert attention.kernel is attend_fused
    seen, _ = seen_in(model, TOKENS)
    weights = seen["decoder.layers.0.self_attn.weights"]
    close(weights.sum(dim=-1), torch.ones(2, HEADS, 5))
    assert (weights.triu(1) == 0).all()
    assert attention.kernel is attend_fused


def test_another_scorer_is_seen_as_itself():
    """Additive attention is shown with its own scores, not with dot products."""
    layer = Attention(DIM, heads=HEADS, kernel=Additive(DIM // HEADS))
    x, context = torch.randn(1, 3, DIM), AttentionContext(torch.arange(3)[None], torch.arange(3)[None])
    with trace(layer) as seen:
        close(layer(x, context), seen["output"])
    pairs = seen["q"][:, :, :, None] + seen["k"][:, :, None]
    close(seen["scores"], pairs.tanh() @ layer.kernel.weight)
    close(seen["weights"], seen["scores"].softmax(dim=-1))


def test_names_say_where_and_what():
    seen, _ = seen_in(specimen("transformer"), TOKENS, TOKENS)
    inside = ("q", "k", "v", "scores", "scaled", "masked", "weights", "heads", "output")
    expected = {"encoder.output", "decoder.output", "logits"}
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "cross_attn"])):
        expected |= {f"{side}.front.{label}" for label in ("embeddings", "scaled", "positions", "output")}
        for place in (f"{side}.layers.0", f"{side}.layers.1"):
            expected |= {f"{place}.{sub}.{label}" for sub in attentions for label in inside}
            expected |= {f"{place}.ffn.hidden", f"{place}.ffn.output", f"{place}.output"}
            for residual in (f"{place}.{sub}_residual" for sub in (*attentions, "ffn")):
                expected |= {f"{residual}.before", f"{residual}.sum", f"{residual}.after"}
    assert set(seen) == expected


def test_every_value_follows_from_the_ones_before_it():
    """A whole decoder layer worked out again from what was seen."""
    model, keep = specimen("transformer"), torch.tensor([[True, True, True, True, False], [True] * 5])
    seen, logits = seen_in(model, TOKENS, TOKENS, source_keep=keep, target_keep=keep)
    front, table = model.decoder.front, model.decoder.front.embed.weight
    torch.testing.assert_close(seen["decoder.front.embeddings"], table[TOKENS])
    torch.testing.assert_close(seen["decoder.front.scaled"], table[TOKENS] * DIM**0.5)
    torch.testing.assert_close(
        seen["decoder.front.output"], seen["decoder.front.scaled"] + seen["decoder.front.positions"]
    )

    x = seen["decoder.front.output"]
    for name in ("self_attn", "cross_attn"):
        layer, place = model.decoder.layers[0], f"decoder.layers.0.{name}"
        attention, residual = getattr(layer, name), getattr(layer, f"{name}_residual")
        source = x if name == "self_attn" else seen["encoder.output"]
        q, k, v = (seen[f"{place}.{part}"] for part in "qkv")
        assert q.shape == (2, HEADS, 5, DIM // HEADS)
        close(q.transpose(1, 2).flatten(2), attention.q_proj(x))
        close(k.transpose(1, 2).flatten(2), attention.k_proj(source))
        close(v.transpose(1, 2).flatten(2), attention.v_proj(source))
        close(seen[f"{place}.scores"], q @ k.mT)
        close(seen[f"{place}.scaled"], seen[f"{place}.scores"] / (DIM // HEADS) ** 0.5)
        allowed = keep[:, None, None].expand(2, HEADS, 5, 5)
        allowed = allowed.tril() if name == "self_attn" else allowed
        masked, weights = seen[f"{place}.masked"], seen[f"{place}.weights"]
        torch.testing.assert_close(masked[allowed], seen[f"{place}.scaled"][allowed], rtol=0, atol=0)
        assert (masked[~allowed] < -1e30).all()
        close(masked.softmax(dim=-1), weights)
        close(seen[f"{place}.heads"], weights @ v)
        output = attention.out_proj(seen[f"{place}.heads"].transpose(1, 2).flatten(2))
        close(seen[f"{place}.output"], output)
        close(seen[f"{place}_residual.sum"], x + output)
        x = seen[f"{place}_residual.after"]
        close(x, residual.after(seen[f"{place}_residual.sum"]))
    hidden = torch.relu(layer.ffn.up_proj(x))
    close(seen["decoder.layers.0.ffn.hidden"], hidden)
    close(seen["decoder.layers.0.ffn_residual.sum"], x + layer.ffn.down_proj(hidden))
    close(seen["decoder.layers.0.output"], layer.ffn_residual.after(seen["decoder.layers.0.ffn_residual.sum"]))
    close(logits, seen["decoder.output"] @ front.embed.weight.mT)


@pytest.mark.parametrize("kind", ["alibi", "buckets", "shaw", "relative", "disentangled"])
def test_a_bias_is_seen_where_there_is_one(kind):
    seen, _ = seen_in(specimen("gpt2", kind), TOKENS)
    place = "decoder.layers.1.self_attn"
    assert seen[f"{place}.bias"].shape == (2, HEADS, 5, 5)
    visible = torch.ones(5, 5, dtype=torch.bool).tril().expand(2, HEADS, 5, 5)
    close(seen[f"{place}.masked"][visible], (seen[f"{place}.scaled"] + seen[f"{place}.bias"])[visible])


def test_only_records_what_was_asked_for():
    model = specimen("transformer")
    seen, _ = seen_in(model, TOKENS, TOKENS, only=["encoder.layers.1.*", "decoder.*.weights"])
    assert {name.rsplit(".", 1)[1] for name in seen if name.startswith("decoder")} == {"weights"}
    assert all(name.startswith(("encoder.layers.1.", "decoder.")) for name in seen)
    assert "logits" not in seen


def test_a_shared_layer_has_a_name_for_every_time_it_runs():
    """ALBERT runs one layer twelve times; each run is seen at its own place, and they differ."""
    model = specimen("albert", layers=12)
    seen, output = seen_in(model, TOKENS)
    names = [f"encoder.layers.{layer}.output" for layer in range(12)]
    assert [name for name in seen if name in names] == names
    for before, after in itertools.pairwise(names):
        assert (seen[after] - seen[before]).abs().max() > 1e-4
    torch.testing.assert_close(seen[names[-1]], output, rtol=0, atol=0)
    weights = {f"encoder.layers.{layer}.self_attn.weights" for layer in range(12)}
    assert weights <= set(seen)


def test_steps_of_a_decoder_are_all_kept():
    model, tokens = specimen("gpt2"), sentences(4)[0][None]
    with torch.no_grad(), trace(model, only=["*.self_attn.weights", "logits"]) as seen:
        cache = model.start_cache()
        logits = [model(token[:, None], cache=cache) for token in tokens.unbind(1)]
    shapes = [weights.shape for weights in seen.history("decoder.layers.0.self_attn.weights")]
    assert shapes == [(1, HEADS, 1, length) for length in (1, 2, 3, 4)]
    torch.testing.assert_close(torch.stack(seen.history("logits")), torch.stack(logits), rtol=0, atol=0)
    torch.testing.assert_close(seen["logits"], logits[-1], rtol=0, atol=0)


def test_nothing_is_recorded_outside_the_block():
    model = specimen("gpt2")
    seen, _ = seen_in(model, TOKENS)
    before = {name: len(seen.history(name)) for name in seen}
    model(TOKENS)
    assert {name: len(seen.history(name)) for name in seen} == before


def test_an_error_ends_the_looking():
    model = specimen("gpt2")
    with pytest.raises(ValueError, match="outside the vocabulary"), trace(model) as seen:
        model(TOKENS + VOCAB)
    model(TOKENS)
    assert "logits" not in seen


def test_other_models_and_other_threads_are_not_recorded():
    model, other = specimen("gpt2"), specimen("gpt2")
    with torch.no_grad(), trace(model) as seen:
        other(TOKENS)
        thread = threading.Thread(target=lambda: model(TOKENS))
        thread.start()
        thread.join()
    assert len(seen) == 0


def test_the_inner_of_two_looks_wins_and_the_outer_goes_on_after_it():
    model = specimen("gpt2")
    with torch.no_grad(), trace(model) as outer:
        with trace(model) as inner:
            model(TOKENS)
        assert len(outer) == 0
        model(TOKENS)
    assert set(outer) == set(inner)


def test_what_was_seen_is_a_copy():
    """Decoders bar tokens by writing into the logits: that must not change the record, which also holds no graph."""
    model = specimen("gpt2")
    with trace(model) as seen:
        logits = model(TOKENS)
    before = logits.clone()
    logits.detach().fill_(-torch.inf)
    torch.testing.assert_close(seen["logits"], before.detach(), rtol=0, atol=0)
    assert not any(value.requires_grad for value in seen.values())


def test_a_part_can_be_looked_at_alone():
    """Names are those of the module that is traced."""
    model = specimen("transformer")
    memory = Memory(torch.randn(2, 3, DIM))
    with torch.no_grad(), trace(model.decoder) as seen:
        model.decode(TOKENS, memory)
    assert seen["layers.0.cross_attn.weights"].shape == (2, HEADS, 5, 3)


def test_a_wrong_name_is_answered_with_right_ones():
    seen, _ = seen_in(specimen("gpt2"), TOKENS)
    with pytest.raises(KeyError, match=r"nothing was recorded as 'layers\.0\.weights'; names of that kind: decoder"):
        seen["layers.0.weights"]
    assert "layers.0.weights" not in seen

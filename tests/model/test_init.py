"""How models begin: signals keep their size, tied tables give calm logits, deep sums do not grow."""

import math

import pytest
import torch
from torch import nn

from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig
from clearformer.model.trace import trace
from model.specimens import READERS, SPEAKERS, VOCAB, WRITERS, configured


def fresh(family, **choices):
    return build(configured(family, **{"dim": 64, "hidden_dim": 128, "heads": 4, "max_len": 64} | choices)).eval()


def spread(weight):
    return weight.detach().std().item()


def test_the_2017_recipe():
    """Xavier for matrices, 1/√D for tables, zeros for biases."""
    model = fresh("transformer", vocab_size=500)
    layer = model.encoder.layers[0]
    assert spread(layer.self_attn.q_proj.weight) == pytest.approx(math.sqrt(2 / (64 + 64)), rel=0.05)
    assert spread(layer.ffn.up_proj.weight) == pytest.approx(math.sqrt(2 / (64 + 128)), rel=0.05)
    assert spread(model.encoder.front.embed.weight) == pytest.approx(64**-0.5, rel=0.05)
    assert all((module.bias == 0).all() for module in model.modules() if isinstance(module, nn.Linear))


def test_one_deviation_and_smaller_ends_of_residual_branches():
    """GPT-2: 0.02 everywhere, and what is added to the stream is smaller by √(2·layers)."""
    model = fresh("gpt2", layers=8, vocab_size=500)
    layer = model.decoder.layers[3]
    for weight in (layer.self_attn.q_proj.weight, layer.ffn.up_proj.weight, model.decoder.front.embed.weight):
        assert spread(weight) == pytest.approx(0.02, rel=0.05)
    for weight in (layer.self_attn.out_proj.weight, layer.ffn.down_proj.weight):
        assert spread(weight) == pytest.approx(0.02 / 4, rel=0.05)


def test_an_untied_output_table_is_drawn_too():
    """An empty tensor holds whatever lay in memory."""
    assert spread(fresh("llama", vocab_size=500).head.table) == pytest.approx(0.02, rel=0.05)
    untied = fresh("transformer", vocab_size=500, embedding=EmbeddingConfig(scale=True, tie="none"))
    assert spread(untied.head.table) == pytest.approx(math.sqrt(2 / (500 + 64)), rel=0.05)


@pytest.mark.parametrize("family", [*WRITERS, *READERS, *SPEAKERS])
def test_fresh_attention_is_not_saturated(family):
    """Scores of a fresh model spread by about one at most, or softmax would pick one key and learn nothing. T5 does not
    divide them by √K, and draws its queries smaller instead."""
    torch.manual_seed(0)
    model, tokens = fresh(family, kv_heads=4), torch.randint(VOCAB, (4, 16))
    with torch.no_grad(), trace(model, only=["*.layers.0.*attn.scaled"]) as seen:
        model(*((tokens, tokens) if family in WRITERS else (tokens,)))
    assert seen
    for name, scores in seen.items():
        assert scores.std() < 1.8, name


@pytest.mark.parametrize("family", [*WRITERS, *SPEAKERS])
def test_a_fresh_model_believes_nothing(family):
    """Its loss is near that of guessing, log V: the tied table must not start with logits of size √D."""
    torch.manual_seed(0)
    model, tokens = fresh(family), torch.randint(VOCAB, (8, 16))
    with torch.no_grad():
        logits = model(tokens, tokens) if family in WRITERS else model(tokens)
    loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    assert loss.item() == pytest.approx(math.log(VOCAB), rel=0.35)


def test_the_same_seed_draws_the_same_model():
    models = []
    for _ in range(2):
        torch.manual_seed(7)
        models.append(fresh("transformer").state_dict())
    assert all(torch.equal(value, models[1][name]) for name, value in models[0].items())

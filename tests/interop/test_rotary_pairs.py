"""Another order of the rotated pairs: another file, the same model."""

import torch

from clearformer.interop.rotary_pairs import in_halves
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, PositionConfig
from clearformer.model.weights import put_weights, weights_of
from model.specimens import VOCAB, configured, specimen


@torch.inference_mode()
def test_the_moved_model_says_the_same():
    given = {
        "position": PositionConfig(kind="rotary", pairs="neighbours"),
        "attention": AttentionConfig(heads=4, kv_heads=2, head_dim=6, bias=True),
    }
    torch.manual_seed(1)
    model = specimen("llama", **given)
    config, weights = in_halves(configured("llama", **given), weights_of(model))
    assert config.position.pairs == "halves"
    other = build(config).eval()
    put_weights(other, weights)
    tokens = torch.randint(VOCAB, (2, 9))
    torch.testing.assert_close(other(tokens), model(tokens), rtol=1e-5, atol=1e-5)
    first = "decoder.layers.0.self_attn.q_proj.weight"
    assert not torch.equal(weights[first], weights_of(model)[first])


def test_what_is_in_halves_stays():
    config = configured("llama")
    weights = weights_of(build(config))
    assert in_halves(config, weights) == (config, weights)

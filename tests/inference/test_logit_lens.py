"""The logit lens: each row is what the model would say if it ended there."""

import pytest
import torch

from clearformer.inference.logit_lens import lens_names, lens_of, logit_lens, ranks, run_traced
from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig, HeadConfig, NormConfig, PositionConfig
from clearformer.model.families import bert, gpt2, llama, transformer, transformer_xl

SIZES = {"vocab_size": 40, "dim": 16, "hidden_dim": 24, "layers": 3, "heads": 4, "max_len": 32}
IDS = [3, 7, 1, 38, 7, 0]
DECODERS = {
    "gpt2": gpt2(**SIZES),
    "llama": llama(**SIZES, kv_heads=2),
    "one layer, three times": llama(**SIZES, share_layers=True),
    "a head with a layer of its own": gpt2(**SIZES, head=HeadConfig(transform=True, bias=True)),
    "no final norm": gpt2(**SIZES, norm=NormConfig(place="pre", final=False)),
    "post-norm": transformer_xl(**SIZES),
    "waves": gpt2(**SIZES, position=PositionConfig(kind="sinusoidal"), embedding=EmbeddingConfig(scale=True)),
}


def loud(config):
    """A random model whose numbers differ from one another, biases and gains too."""
    torch.manual_seed(1)
    model = build(config).eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("name", DECODERS)
def test_the_last_row_is_the_model_s_own_bit_for_bit(name):
    model = loud(DECODERS[name])
    with torch.inference_mode():
        own = model(torch.tensor([IDS]))[0]
    seen = run_traced(model, IDS, lens_names(model))
    for position in range(len(IDS)):
        found = lens_of(model, seen, position=position)
        assert found.shape == (SIZES["layers"] + 1, SIZES["vocab_size"])
        assert torch.equal(found[-1], seen["logits"][position])
        torch.testing.assert_close(found[-1], own[position], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", DECODERS)
def test_a_row_is_what_a_model_of_so_many_layers_says(name):
    """The reference knows nothing of the lens: the same model, with the layers behind it taken away."""
    model = loud(DECODERS[name])
    lens = logit_lens(model, IDS, position=3)
    layers = list(model.decoder.layers)
    for count in range(len(layers) + 1):
        model.decoder.layers = torch.nn.ModuleList(layers[:count])
        with torch.inference_mode():
            shorter = model(torch.tensor([IDS]))[0, 3]
        torch.testing.assert_close(lens[count], shorter, rtol=1e-5, atol=1e-5)


def test_what_comes_later_changes_nothing():
    model = loud(DECODERS["llama"])
    torch.testing.assert_close(logit_lens(model, IDS, position=2), logit_lens(model, IDS[:3]), rtol=1e-5, atol=1e-5)


def test_ranks_count_from_one_and_equals_share_a_place():
    logits = torch.tensor([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]])
    assert ranks(logits, 0) == [3, 1]
    assert ranks(logits, 1) == [1, 1]


@pytest.mark.parametrize("config", [transformer(**SIZES), bert(**SIZES), gpt2(**SIZES, head=HeadConfig(kind="states"))])
def test_other_models_are_refused_with_a_sentence(config):
    with pytest.raises(ValueError, match="needs a decoder-only language model, such as GPT-2 or Llama"):
        logit_lens(build(config).eval(), IDS)


def test_a_text_without_tokens_is_refused():
    with pytest.raises(ValueError, match="no tokens to look at"):
        logit_lens(loud(DECODERS["gpt2"]), [])


def test_a_model_that_goes_another_way_to_its_logits_is_refused():
    """A family may come whose last state is changed before the head: wrong numbers must not be shown for it."""
    model = loud(DECODERS["gpt2"])
    model.head.register_forward_hook(lambda head, given, logits: logits.tanh() if logits.size(1) == len(IDS) else None)
    with pytest.raises(ValueError, match="away from the model's own"):
        logit_lens(model, IDS)

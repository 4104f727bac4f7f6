from dataclasses import replace

import pytest
import torch
from torch import nn

from clearformer.model import families
from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig, HeadConfig
from clearformer.model.weights import put_weights, start_from, thin_out, weights_of


class Tied(nn.Module):
    """A table used twice under two names, a saved statistic, and a buffer that is not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.output = nn.Linear(3, 5, bias=False)
        self.output.weight = self.table.weight
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scratch", torch.zeros(2), persistent=False)


def test_every_tensor_once_and_only_what_is_saved():
    names = set(weights_of(Tied()))
    assert names == {
        "table.weight",
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    }


def test_out_and_in_is_identity_and_tied_tables_stay_tied():
    torch.manual_seed(1)
    source, target = Tied(), Tied()
    source.norm.num_batches_tracked.fill_(123_456_789)
    put_weights(target, {name: weight.clone() for name, weight in weights_of(source).items()})
    for name, weight in weights_of(source).items():
        assert torch.equal(weights_of(target)[name], weight), name
    assert target.output.weight is target.table.weight


def test_weights_are_copied_not_shared():
    source, target = Tied(), Tied()
    put_weights(target, weights_of(source))
    with torch.no_grad():
        source.table.weight.add_(1)
    assert not torch.equal(target.table.weight, source.table.weight)


def test_half_precision_is_widened():
    model = Tied()
    put_weights(model, {name: w.half() if w.is_floating_point() else w for name, w in weights_of(Tied()).items()})
    assert model.table.weight.dtype == torch.float32


def test_a_missing_an_unexpected_and_a_misshapen_tensor_are_named():
    weights = weights_of(Tied())
    with pytest.raises(ValueError, match=r"missing table\.weight, unexpected none"):
        put_weights(Tied(), {name: w for name, w in weights.items() if name != "table.weight"})
    with pytest.raises(ValueError, match=r"missing none, unexpected a, b, c and 1 more"):
        put_weights(Tied(), weights | {name: torch.zeros(1) for name in "abcd"})
    with pytest.raises(ValueError, match=r"table\.weight is \(4, 3\), but the model has \(5, 3\)"):
        put_weights(Tied(), weights | {"table.weight": torch.zeros(4, 3)})


def test_nothing_is_changed_by_weights_that_do_not_fit():
    model = Tied()
    before = {name: weight.clone() for name, weight in weights_of(model).items()}
    wrong = {name: torch.ones_like(weight) for name, weight in before.items()} | {"norm.bias": torch.zeros(7)}
    with pytest.raises(ValueError, match=r"norm\.bias is \(7,\)"):
        put_weights(model, wrong)
    assert all(torch.equal(weight, before[name]) for name, weight in weights_of(model).items())


def deep(layers, decoder_layers):
    torch.manual_seed(layers)
    sizes = {"dim": 8, "hidden_dim": 8, "heads": 2}
    return build(families.transformer(vocab_size=11, layers=layers, decoder_layers=decoder_layers, **sizes))


@pytest.mark.parametrize(
    ("depths", "encoder", "decoder"), [((3, 1), [0, 2, 5], [0]), ((2, 2), [0, 5], [0, 3]), ((6, 4), range(6), range(4))]
)
def test_a_shallower_model_takes_layers_at_even_distances(depths, encoder, decoder):
    given, model = deep(6, 4), deep(*depths)
    put_weights(model, thin_out(weights_of(given), model))
    source, own = weights_of(given), weights_of(model)
    for stack, places in (("encoder", encoder), ("decoder", decoder)):
        for place, origin in enumerate(places):
            name = "ffn.up_proj.weight"
            assert torch.equal(own[f"{stack}.layers.{place}.{name}"], source[f"{stack}.layers.{origin}.{name}"])
    rest = [name for name in own if ".layers." not in name]
    assert rest
    assert all(torch.equal(own[name], source[name]) for name in rest)


def test_a_deeper_model_has_nowhere_to_take_its_layers_from():
    model = deep(6, 4)
    with pytest.raises(ValueError, match="missing decoder"):
        put_weights(model, thin_out(weights_of(deep(6, 2)), model))


def test_new_token_types_begin_like_the_first():
    """So a model that is told more about each token says at first what the other one said."""
    torch.manual_seed(1)
    few, many = (build(replace(families.bert(vocab_size=11, dim=8, hidden_dim=8, layers=1, heads=2),
                               embedding=EmbeddingConfig(types=types, norm=True))) for types in (2, 5))  # fmt: skip
    assert start_from(many, weights_of(few)) == []
    ids = torch.randint(0, 11, (2, 4))
    few.eval(), many.eval()
    told = torch.tensor([[0, 2, 3, 4]] * 2)
    torch.testing.assert_close(many(ids, types=told), few(ids))


def test_a_decoder_begins_like_the_encoder_that_had_none():
    """Evenly spaced layers of it; what looks across is new, and an encoder-decoder lends nothing."""
    sizes = {"vocab_size": 20, "dim": 16, "hidden_dim": 32, "heads": 2, "max_len": 12}
    torch.manual_seed(1)
    start = build(families.bert(**sizes, layers=3))
    both = replace(families.bert(**sizes, layers=3), shape="encoder-decoder", decoder_layers=2, head=HeadConfig())
    model = build(both)
    new = start_from(model, weights_of(start))
    given, own = weights_of(start), weights_of(model)
    for mine, theirs in ((0, 0), (1, 2)):
        name = "self_attn.q_proj.weight"
        assert torch.equal(own[f"decoder.layers.{mine}.{name}"], given[f"encoder.layers.{theirs}.{name}"])
    assert torch.equal(own["encoder.layers.1.ffn.up_proj.weight"], given["encoder.layers.1.ffn.up_proj.weight"])
    assert new
    assert all("cross_attn" in name for name in new)
    assert start_from(build(both), weights_of(model)) == []

"""What a model says of itself in a line."""

from types import SimpleNamespace

from torch import nn

from clearformer.folder.bundle import Bundle
from clearformer.inference.plain_network import Network
from clearformer.inference.predictor import describe, size
from clearformer.model.build import build
from clearformer.model.families import transformer


def test_the_size_counts_every_parameter_once():
    tied = nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4, bias=False))
    assert size(tied) == 3 * 4 + 4 + 3 * 4
    tied[1].weight = tied[0].weight
    assert size(tied) == 3 * 4 + 4


def test_a_line_names_the_class_the_family_and_the_size():
    config = transformer(vocab_size=50, dim=8, hidden_dim=8, layers=1, heads=2)
    made = Bundle(config=config, model=build(config))
    assert describe(Network(made)) == f"Network(transformer, {size(made.model) / 1e6:.1f} M parameters)"
    assert describe(SimpleNamespace(bundle=made), "reads 5 tokens").endswith(" M parameters, reads 5 tokens)")

"""Scorers at several widths."""

from clearformer.lab.experiments.trained_scorers import VARIANTS, compare_by_addition
from clearformer.model.attention import Additive, Attention
from clearformer.model.build import build
from clearformer.model.families import gpt2


def test_the_claim_is_about_the_widest(had_it_been):
    alike = {one.name: {"loss": 3.0} for one in VARIANTS}
    wide = {**alike, "unscaled-512": {"loss": 4.0}}
    assert had_it_been("trained-scorers", wide) == "holds with a condition"
    assert had_it_been("trained-scorers", {**alike, "unscaled-512": {"loss": 2.0}}) == "does not hold"


def test_addition_is_everywhere():
    model = build(gpt2(vocab_size=10, dim=16, hidden_dim=32, layers=2, heads=2, max_len=8))
    compare_by_addition(model)
    parts = [part for part in model.modules() if isinstance(part, Attention)]
    assert all(isinstance(part.kernel, Additive) for part in parts)

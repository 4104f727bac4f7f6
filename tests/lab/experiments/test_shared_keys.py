"""One matrix for queries and keys."""

from clearformer.lab.experiments.shared_keys import share_matrix
from clearformer.model.build import build
from clearformer.model.families import gpt2


def test_tokens_look_at_themselves_more_even_after_some_training(found, had_it_been):
    _, findings = found("shared-keys")
    [beside] = findings.conditions
    assert beside.values[0] > 0.1
    assert had_it_been("shared-keys", {"own": {"loss": 3.0}, "shared": {"loss": 3.5}}).startswith("holds")
    assert had_it_been("shared-keys", {"own": {"loss": 3.5}, "shared": {"loss": 3.0}}) == "does not hold"


def test_the_matrix_really_is_one():
    model = build(gpt2(vocab_size=10, dim=16, hidden_dim=32, layers=1, heads=2, max_len=8))
    before = sum(one.numel() for one in model.parameters())
    share_matrix(model)
    assert before - sum(one.numel() for one in model.parameters()) == 16 * 17

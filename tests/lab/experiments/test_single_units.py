"""What moves a unit most."""

import torch

from clearformer.lab.experiments.single_units import STRONGEST, _different


def test_units_are_choosy_and_few_know_one_word(found):
    values, findings = found("single-units")
    assert findings.verdict == "holds with a condition"
    assert all(1 <= layer["different"] <= STRONGEST for layer in values["layers"])
    assert values["random"] > 5


def test_pieces_are_counted_once():
    places = torch.tensor([[0, 0], [1, 2], [3, 4]])  # three places of two units
    assert _different(["a", "a", "b", "a", "c"], places).tolist() == [1, 3]

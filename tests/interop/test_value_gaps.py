"""A difference counts by the size of the values, and what is no number differs from everything."""

import pytest
import torch

from clearformer.interop.value_gaps import DisagreementError, difference, fault


def test_padding_does_not_count():
    mine, theirs = torch.tensor([[1.0, 9.0]]), torch.tensor([[1.5, 0.0]])
    assert difference(mine, theirs, torch.tensor([[True, False]])) == (0.5, 1.5)


def test_the_first_value_that_is_apart_is_named():
    near, far = difference(torch.tensor([100.0]), torch.tensor([100.001])), difference(torch.ones(1), torch.zeros(1))
    assert fault({"near": near}) == ""
    assert fault({"near": near, "far": far}).startswith("far differs by 1.0e+00")
    assert "is not a number" in fault({"lost": difference(torch.tensor([torch.nan]), torch.ones(1))})


def test_other_shapes_are_refused():
    with pytest.raises(DisagreementError, match=r"returns \(2,\) where the model has \(1,\)"):
        difference(torch.ones(1), torch.ones(2))

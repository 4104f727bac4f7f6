"""Tiny numbers are zero inside, and what they were outside."""

import pytest
import torch

from clearformer.training.process_settings import suited_to_training, tiny_is_zero


def test_they_are_zero_inside_and_numbers_again_behind():
    assert not tiny_is_zero()
    with suited_to_training():
        assert tiny_is_zero()
        assert float(torch.tensor([1e-30]) * torch.tensor([1e-10])) == 0.0
    assert not tiny_is_zero()
    assert float(torch.tensor([1e-30]) * torch.tensor([1e-10])) > 0.0


def test_somebody_s_own_setting_is_kept():
    torch.set_flush_denormal(True)
    try:
        with suited_to_training():
            pass
        assert tiny_is_zero()
    finally:
        torch.set_flush_denormal(False)


def test_an_error_gives_it_back():
    with pytest.raises(ValueError, match="oops"), suited_to_training():
        raise ValueError("oops")
    assert not tiny_is_zero()

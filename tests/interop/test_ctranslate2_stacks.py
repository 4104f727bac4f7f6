"""Tables and files that a conversion is made of."""

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from clearformer.foundation.storage import DamagedError
from clearformer.interop.ctranslate2_stacks import Weights, places_known, waves
from clearformer.model import families
from clearformer.model.config import PositionConfig
from clearformer.model.positions import Sinusoidal, SplitSinusoidal, Tensor2TensorSinusoidal


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [("sinusoidal", Sinusoidal), ("split-sinusoidal", SplitSinusoidal), ("tensor2tensor", Tensor2TensorSinusoidal)],
)
def test_waves_are_those_of_the_model(kind, scheme):
    expected = scheme(24, 500.0).embed(torch.arange(1000) + 3)
    found = waves(PositionConfig(kind=kind, base=500.0, offset=3), 1000, 24)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)


def test_a_weight_that_nobody_uses_is_named_unless_it_is_used_elsewhere(tmp_path):
    save_file({"head.x": np.ones(2, np.float16), "encoder.y": np.ones(1, np.float32)}, tmp_path / "w.safetensors")
    weights = Weights(tmp_path / "w.safetensors")
    with pytest.raises(DamagedError, match=r"has encoder\.y, which config\.json does not ask for"):
        weights.finish(but="head.")
    weights.take("encoder.y")
    weights.finish(but="head.")
    with pytest.raises(DamagedError, match=r"has head\.x"):
        weights.finish()
    assert weights.below("head.")["head.x"].dtype == np.float32
    weights.finish()


def test_a_model_that_only_reads_has_a_place_for_all_that_it_reads():
    waved = PositionConfig(kind="sinusoidal")
    assert places_known(families.bert(vocab_size=9, max_len=3000, position=waved))["source"] == 3000
    assert places_known(families.transformer(vocab_size=9, max_len=3000))["source"] == 1024  # PyTorch takes the rest
    assert places_known(families.bert(vocab_size=9, max_len=77))["source"] == 77

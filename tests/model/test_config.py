"""Configurations are data: frozen, by keyword, and complete."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from clearformer.model.config import AttentionConfig, DropoutConfig, ModelConfig

TOKENS = {"vocab_size": 10, "dim": 16, "hidden_dim": 32, "layers": 2, "attention": AttentionConfig(heads=4)}


def test_configurations_are_frozen_and_take_keywords_only():
    config = ModelConfig(**TOKENS)
    with pytest.raises(FrozenInstanceError):
        config.dim = 8
    with pytest.raises(TypeError):
        ModelConfig("transformer")
    parts = [getattr(config, field.name) for field in fields(config) if is_dataclass(getattr(config, field.name))]
    assert len(parts) == 9
    for part in parts:
        with pytest.raises(FrozenInstanceError):
            setattr(part, fields(part)[0].name, None)


def test_one_rate_everywhere():
    assert set(vars(DropoutConfig.everywhere(0.3)).values()) == {0.3}
    assert set(vars(DropoutConfig())) == {"embedding", "attention", "activation", "residual"}  # the four sites

"""The [model] section: a preset, a family or a folder, and values laid over it."""

import pytest

import clearformer as cf
from clearformer.folder.bundle import Bundle
from clearformer.model.families import FAMILIES
from clearformer.tasks.model_section import merge, model_config


def test_the_model_section_lays_values_over_a_preset():
    config = model_config(
        {"preset": "tiny", "layers": 2, "attention": {"heads": 8}, "position": {"kind": "rotary"}},
        {"vocab_size": 123},
    )
    assert (config.vocab_size, config.dim, config.layers, config.attention.heads) == (123, 128, 2, 8)
    assert config.position.kind == "rotary"
    assert config.dropout.residual == 0.3  # the preset's own


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_named(family):
    config = model_config({"family": family, "dim": 96}, {"vocab_size": 50})
    assert (config.dim, config.vocab_size) == (96, 50)


def test_a_model_section_without_a_known_base_is_refused():
    with pytest.raises(ValueError, match=r"the \[model\] section needs a preset \(tiny, .* or a family"):
        model_config({"dim": 5}, {"vocab_size": 5})
    with pytest.raises(ValueError, match="there is no model family 'mamba'"):
        model_config({"family": "mamba"}, {"vocab_size": 5})
    with pytest.raises(ValueError, match="there is no preset 'huge'"):
        model_config({"preset": "huge"}, {"vocab_size": 5})
    with pytest.raises(ValueError, match=r"there is no setting model\.layer; did you mean model\.layers\?"):
        model_config({"preset": "tiny", "layer": 5}, {"vocab_size": 5})


def test_what_the_data_decides_wins():
    """A recipe that names a vocabulary of its own could not be trained."""
    config = model_config({"family": "vit", "head": {"kind": "class", "labels": 7}}, {"head": {"labels": 3}})
    assert (config.head.kind, config.head.labels) == ("class", 3)


def test_a_folder_keeps_its_widths_and_takes_the_head_that_the_data_decide(tmp_path):
    config = FAMILIES["transformer"](vocab_size=40, dim=16, hidden_dim=32, layers=2, heads=2)
    cf.save(Bundle(config=config, model=cf.build(config)), tmp_path / "m")
    begun = model_config({"from": str(tmp_path / "m"), "dropout": {"residual": 0.25}}, {})
    assert (begun.vocab_size, begun.dim, begun.dropout.residual) == (40, 16, 0.25)
    other = model_config({"from": str(tmp_path / "m")}, {"head": {"bias": True}})
    assert (other.dim, other.head.bias) == (16, True)


def test_nested_values_are_laid_over_one_by_one():
    assert merge({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}) == {
        "a": {"b": 1, "c": 4},
        "d": {"e": 5},
    }

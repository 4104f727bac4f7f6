from importlib import resources
from pathlib import Path

import pytest
import torch

from clearformer.foundation import settings
from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from clearformer.run.recipe import DataConfig, Recipe, find_recipe, model_config, read_recipe, turned_round

SHIPPED = sorted(Path(str(resources.files("clearformer") / "recipes")).glob("*.toml"))
SMALL = '[data]\ntrain_source = "a"\ntrain_target = "b"\ndev_source = "c"\ndev_target = "d"\n'


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_recipe_parses_builds_and_survives_its_own_toml(path, tmp_path):
    recipe = read_recipe(path)
    (tmp_path / "again.toml").write_text(settings.to_toml(settings.to_plain(recipe)), encoding="utf-8")
    assert read_recipe(tmp_path / "again.toml") == recipe
    with torch.device("meta"):
        build(model_config(recipe.model, vocab_size=1000, target_vocab_size=None if recipe.joint else 900))


def test_there_are_recipes():
    assert len(SHIPPED) >= 8


def test_changes_win_over_the_file(tmp_path):
    (tmp_path / "r.toml").write_text(SMALL)
    recipe = read_recipe(tmp_path / "r.toml", ["training.steps=7", "model.dim=64", "training.schedule.peak=1e-3"])
    assert (recipe.training.steps, recipe.model, recipe.training.schedule.peak) == (7, {"dim": 64}, 1e-3)
    assert recipe.data.train_source == "a"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.step=7", r"r\.toml with .*: there is no setting training\.step; did you mean training\.steps\?"),
        ("training.steps=many", r"r\.toml with .*: training\.steps: .* not 'many'"),
        ("training.steps=0", r"r\.toml with .*: training\.steps must be at least 1, not 0"),
        ("training.schedule.kind=steep", r"r\.toml with .*: training\.schedule\.kind: .* not 'steep'"),
        ("decoding.nbest=9", r"r\.toml with .*: decoding\.nbest is 9, but a beam of 4"),
        ("data.train_source=3", r"r\.toml with .*: data\.train_source: .* not 3"),
    ],
)
def test_mistakes_name_the_file_the_key_and_the_value(tmp_path, change, message):
    (tmp_path / "r.toml").write_text(SMALL)
    with pytest.raises(ValueError, match=message):
        read_recipe(tmp_path / "r.toml", [change])


def test_a_recipe_needs_data(tmp_path):
    (tmp_path / "r.toml").write_text('name = "x"\n')
    with pytest.raises(ValueError, match=r"r\.toml: data is missing; add it"):
        read_recipe(tmp_path / "r.toml")


def test_recipes_are_found_by_file_and_by_name(tmp_path):
    assert find_recipe(SHIPPED[0].stem) == SHIPPED[0]
    assert find_recipe(str(tmp_path / "x.toml")) == tmp_path / "x.toml"
    with pytest.raises(ValueError, match=f"no recipe file nonsense .* shipped are .*{SHIPPED[0].stem}"):
        find_recipe("nonsense")


def test_the_model_section_lays_values_over_a_preset():
    config = model_config(
        {"preset": "tiny", "layers": 2, "attention": {"heads": 8}, "position": {"kind": "rotary"}},
        vocab_size=123,
        target_vocab_size=None,
    )
    assert (config.vocab_size, config.dim, config.layers, config.attention.heads) == (123, 128, 2, 8)
    assert config.position.kind == "rotary"
    assert config.dropout.residual == 0.3  # the preset's own


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_named(family):
    config = model_config({"family": family, "dim": 96}, vocab_size=50, target_vocab_size=None)
    assert (config.dim, config.vocab_size) == (96, 50)


def test_a_model_section_without_a_known_base_is_refused():
    with pytest.raises(ValueError, match=r"the \[model\] section needs a preset \(tiny, .* or a family"):
        model_config({"dim": 5}, vocab_size=5, target_vocab_size=None)
    with pytest.raises(ValueError, match="there is no model family 'mamba'"):
        model_config({"family": "mamba"}, vocab_size=5, target_vocab_size=None)
    with pytest.raises(ValueError, match="there is no preset 'huge'"):
        model_config({"preset": "huge"}, vocab_size=5, target_vocab_size=None)
    with pytest.raises(ValueError, match=r"\[model\]: there is no setting layer; did you mean layers\?"):
        model_config({"preset": "tiny", "layer": 5}, vocab_size=5, target_vocab_size=None)


def test_a_recipe_is_the_same_after_a_round_trip(tmp_path):
    recipe = Recipe(data=read_recipe(SHIPPED[0]).data, model={"preset": "tiny", "attention": {"heads": 2}, "x": {}})
    (tmp_path / "r.toml").write_text(settings.to_toml(settings.to_plain(recipe)), encoding="utf-8")
    assert read_recipe(tmp_path / "r.toml") == recipe


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_splitting_pieces_is_a_chance(rate):
    with pytest.raises(ValueError, match=r"data\.split_pieces is a chance"):
        DataConfig(split_pieces=rate)


def test_turned_round_everything_changes_sides_and_nothing_else():
    there = read_recipe(find_recipe("multi30k-en-de"))
    back = turned_round(there)
    assert (back.data.source_language, back.data.target_language) == ("de", "en")
    for part in ("train", "dev", "test"):
        assert getattr(back.data, f"{part}_source") == getattr(there.data, f"{part}_target")
        assert getattr(back.data, f"{part}_target") == getattr(there.data, f"{part}_source")
    assert back.name == "multi30k-en-de-reverse"
    again = turned_round(back)
    assert again.data == there.data
    assert again.training == there.training

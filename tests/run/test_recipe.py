"""A recipe: read, checked before anything is prepared, kept, turned round."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
import torch

import clearformer as cf
from clearformer.folder.bundle import Bundle
from clearformer.folder.fetched import place_of
from clearformer.foundation import settings
from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from clearformer.run.recipe import (
    find_recipe,
    keep_recipe,
    parse_recipe,
    read_recipe,
    trainable,
    turned_round,
    with_start,
)
from clearformer.tasks.model_section import model_config

SHIPPED = sorted(Path(str(resources.files("clearformer") / "recipes")).glob("*.toml"))
ALONE = [path for path in SHIPPED if "from" not in settings.read_toml(path)["model"]]  # tests/test_recipes.py has all
SIZES = {"picture-classification": {}}  # what the data decides; a vocabulary for all others
SMALL = 'task = "translation"\n[data]\ntrain_source = "a"\ntrain_target = "b"\ndev_source = "c"\ndev_target = "d"\n'


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_every_shipped_recipe_parses_builds_and_survives_its_own_toml(path, tmp_path):
    recipe = read_recipe(path)
    (tmp_path / "again.toml").write_text(settings.to_toml(settings.to_plain(recipe)), encoding="utf-8")
    assert read_recipe(tmp_path / "again.toml") == recipe
    with torch.device("meta"):
        build(model_config(recipe.model, SIZES.get(recipe.task, {"vocab_size": 1000})))


def test_there_are_recipes():
    assert len(SHIPPED) >= 8


def test_changes_win_over_the_file(tmp_path):
    (tmp_path / "r.toml").write_text(SMALL)
    recipe = read_recipe(
        tmp_path / "r.toml",
        [
            "training.steps=7",
            "model.preset=tiny",
            "model.dim=64",
            "training.schedule.peak=1e-3",
            "training.schedule.warmup=0.5",
        ],
    )
    assert (recipe.training.steps, recipe.model, recipe.training.schedule.peak) == (
        7,
        {"preset": "tiny", "dim": 64},
        1e-3,
    )
    assert recipe.data.train_source == "a"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.step=7", r"r\.toml with .*: there is no setting training\.step; did you mean training\.steps\?"),
        ("training.steps=many", r"^training\.steps must be a whole number, not 'many'$"),
        ("training.steps=0", r"r\.toml with .*: training\.steps must be at least 1, not 0"),
        ("training.schedule.kind=steep", r"^training\.schedule\.kind must be 'inverse-sqrt', .*, not 'steep'$"),
        ("use.nbest=9", r"r\.toml with .*: \w+\.nbest is 9, but a beam of 4"),
        ("data.train_source=3", r"^data\.train_source must be text or a list, not 3$"),
    ],
)
def test_mistakes_name_the_file_the_key_and_the_value(tmp_path, change, message):
    (tmp_path / "r.toml").write_text(SMALL)
    with pytest.raises(ValueError, match=message):
        read_recipe(tmp_path / "r.toml", [change])


def test_a_wrong_type_names_the_file_only_where_it_stands_in_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"^model\.dim must be a whole number, not 'wide'$"):
        read_recipe(find_recipe("sample"), ["model.dim=wide"])
    (tmp_path / "r.toml").write_text(SMALL + '[training]\nsteps = "many"\n')
    with pytest.raises(ValueError, match=r"r\.toml with training\.seed=2: training\.steps must be a whole number"):
        read_recipe(tmp_path / "r.toml", ["training.seed=2"])


def test_a_recipe_begins_with_its_task(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('name = "x"\n')
    with pytest.raises(ValueError, match=r"r\.toml: task is missing; begin with a line such as task = 'translation'"):
        read_recipe(path)
    for task, message in (
        ("translaton", "there is no task 'translaton'; did you mean translation?"),
        (7, "task must be the name of a task, not 7"),
        ("embedding", "models for embedding can be imported but not trained yet"),
    ):
        with pytest.raises(ValueError, match=rf"r\.toml with .*: {re.escape(message)}"):
            read_recipe(path, [f"task={task}"])


def test_the_task_decides_which_settings_there_are(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('task = "language-model"\n[data]\ntrain = "a.txt"\n[training]\nschedule = {warmup = 0.1}\n')
    assert read_recipe(path, ["data.context=64"]).data.context == 64
    with pytest.raises(ValueError, match=r"there is no setting data\.train_source"):
        read_recipe(path, ["data.train_source=a"])
    with pytest.raises(ValueError, match=r"there is no setting objective\.r_drop"):
        read_recipe(path, ["objective.r_drop=1.0"])
    with pytest.raises(ValueError, match=r"there is no setting data\.context"):
        read_recipe(path, ["task=translation", "data={context=64}"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model.heads=3", r"there is no setting model\.heads"),
        ("model.attention.heads=3", "3 heads do not divide a width of 128"),
        ("model.preset=huge", "there is no preset 'huge'"),
        ("model.from=nowhere", "there is no model folder nowhere"),
    ],
)
def test_a_model_that_cannot_be_built_is_found_in_the_recipe(change, message):
    with pytest.raises(ValueError, match=rf"sample\.toml with {re.escape(change)}: .*({message})"):
        read_recipe(find_recipe("sample"), [change])


@pytest.mark.parametrize("task", ["translation", "language-model", "picture-classification"])
def test_the_warm_up_follows_the_number_of_steps(task):
    """A share stays a share; a number of steps that the run does not have is refused here."""
    path = next(path for path in ALONE if read_recipe(path).task == task and "wmt" not in path.stem)
    recipe = read_recipe(path)
    share = recipe.training.schedule.warmup
    assert 0 < share < 1
    for steps in (100, 1000):
        changed = read_recipe(path, [f"training.steps={steps}"]).training
        assert changed.schedule.warmup_steps(steps) == round(share * steps)
    with pytest.raises(ValueError, match=r"training\.schedule\.warmup is 500 steps, but the run has 500"):
        read_recipe(path, ["training.steps=500", "training.schedule.warmup=500"])


def test_a_model_to_begin_with_stands_beside_the_recipe(tmp_path, monkeypatch):
    """Also where the command line names it, with a folder in its name, and from whatever folder one calls."""
    config = FAMILIES["transformer"](vocab_size=40, dim=16, hidden_dim=32, layers=2, heads=2)
    cf.save(Bundle(config=config, model=cf.build(config)), tmp_path / "first" / "model")
    (tmp_path / "r.toml").write_text(SMALL)
    monkeypatch.chdir("/")
    recipe = read_recipe(tmp_path / "r.toml", ["model.from=first/model"])
    assert with_start(recipe, tmp_path).model["from"] == str(tmp_path / "first" / "model")


def test_a_model_to_begin_with_may_be_one_that_was_fetched_by_name(tmp_path, monkeypatch):
    """The run's own recipe then names its folder, so that it is resumed on the same one."""
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "r.toml").write_text(SMALL)
    with pytest.raises(ValueError, match="clearformer models get somebody/tiny"):
        read_recipe(tmp_path / "r.toml", ["model.from=somebody/tiny"])
    config = FAMILIES["transformer"](vocab_size=40, dim=16, hidden_dim=32, layers=2, heads=2)
    cf.save(Bundle(config=config, model=cf.build(config)), place_of("somebody/tiny"))
    recipe = read_recipe(tmp_path / "r.toml", ["model.from=somebody/tiny"])
    assert with_start(recipe, tmp_path).model["from"] == str(place_of("somebody/tiny"))


def test_the_recipe_of_a_run_names_what_differs_on_resume(tmp_path, caplog):
    (tmp_path / "r.toml").write_text(SMALL)
    recipe = read_recipe(tmp_path / "r.toml")
    out = tmp_path / "runs" / "x"
    out.mkdir(parents=True)
    keep_recipe(recipe, out, base=tmp_path, resume=False)
    kept = read_recipe(out / "recipe.toml")
    assert (out / kept.data.train_source).resolve() == (tmp_path / "a").resolve()
    keep_recipe(kept, out, base=out, resume=True)  # seen from its own folder it is the same
    assert not caplog.text
    keep_recipe(replace(kept, name="other"), out, base=out, resume=True)
    assert 'not the one that this run was started with; now it says: name = "other"' in caplog.text


def test_recipes_are_found_by_file_and_by_name(tmp_path, monkeypatch):
    assert find_recipe(SHIPPED[0].stem) == SHIPPED[0]
    assert find_recipe(str(tmp_path / "x.toml")) == tmp_path / "x.toml"
    (tmp_path / SHIPPED[0].stem).mkdir()  # the folder of a run with its recipe's name
    monkeypatch.chdir(tmp_path)
    assert find_recipe(SHIPPED[0].stem) == SHIPPED[0]
    with pytest.raises(ValueError, match=f"no recipe file nonsense .* shipped are .*{SHIPPED[0].stem}"):
        find_recipe("nonsense")


def test_a_misspelt_recipe_is_answered_with_the_nearest_one():
    with pytest.raises(ValueError, match="did you mean sample"):
        find_recipe("sampel")
    with pytest.raises(ValueError, match=r"shipped are .*tiny-shakespeare"):
        find_recipe("qqqq")


def test_a_recipe_is_the_same_after_a_round_trip(tmp_path):
    values = settings.read_toml(find_recipe("sample")) | {"model": {"preset": "tiny", "attention": {"heads": 2}}}
    recipe = parse_recipe(values, "made")
    (tmp_path / "r.toml").write_text(settings.to_toml(settings.to_plain(recipe)), encoding="utf-8")
    assert read_recipe(tmp_path / "r.toml") == recipe


def test_only_what_can_be_trained_is_trained():
    with pytest.raises(ValueError, match="models for embedding can be imported but not trained yet"):
        trainable("embedding")


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


def test_not_every_task_has_another_direction():
    with pytest.raises(ValueError, match="language-model has no other direction; leave --reverse out"):
        turned_round(read_recipe(find_recipe("tiny-shakespeare")))

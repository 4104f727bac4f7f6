"""`hub:owner/name` is fetched once, keeps its commit, and is found without a network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clearformer as cf
from clearformer.folder import fetched
from clearformer.folder.bundle import load
from clearformer.folder.description import find_model
from clearformer.folder.fetched import asked_of_hub, lasting_name, pinned_name, place_of
from clearformer.interop.hub_models import here
from clearformer.run.recipe import begun_with, read_recipe, with_start
from interop.folders import bert_folder
from support.hub_server import COMMIT, send

NAME, PINNED = "hub:somebody/bert", f"hub:somebody/bert@{COMMIT}"
RECIPE = 'task = "text-classification"\n[model]\nfrom = "hub:somebody/bert"\nhead = {kind = "class", labels = 2}\n'

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def published(hub, tmp_path):
    bert_folder(tmp_path / "bert")
    hub.put("somebody/bert", tmp_path / "bert")
    return hub


def without_network(command: str) -> subprocess.CompletedProcess[str]:
    """A program that was told to stay off the hub, and could not reach it either."""
    surroundings = os.environ | {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    return subprocess.run([sys.executable, "-c", command], env=surroundings, capture_output=True, text=True)


def test_a_model_is_fetched_once_and_then_needs_nobody(published):
    first = cf.load(NAME).embed("two dogs")
    asked = list(published.asked)
    assert (cf.load(NAME).embed("two dogs") == first).all()
    assert published.asked == asked
    published.close()
    found = without_network(f"import clearformer as cf; print(cf.load({NAME!r}).embed('two dogs').shape[1])")
    assert found.stdout == "16\n", found.stderr


def test_its_commit_is_written_down_and_is_a_name_of_it(published):
    """The branch may move; what was fetched stays what it was, and its commit finds it again."""
    place = find_model(here(NAME))
    assert load(place).provenance["commit"] == COMMIT
    assert pinned_name(place) == lasting_name(place) == PINNED
    published.close()
    assert find_model(here(PINNED)) == find_model(NAME) == place
    assert pinned_name(place.parent) is None


def test_a_commit_is_fetched_by_its_own_name_where_another_one_lies(published):
    here(NAME)
    other = "f" * 40
    published.repos["somebody/bert"].commit = other
    place = find_model(here(f"{NAME}@{other}"))
    assert load(place).provenance["commit"] == other
    assert place != find_model(NAME)


def test_a_recipe_begins_with_it_and_a_run_remembers_the_commit(published, tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE)
    recipe = read_recipe(tmp_path / "r.toml")
    assert with_start(recipe, tmp_path).model["from"] == PINNED
    assert begun_with(recipe, NAME).model["from"] == PINNED
    published.close()
    assert read_recipe(tmp_path / "r.toml", [f"model.from={PINNED}"]).model["from"] == PINNED


def test_it_is_imported_into_a_folder_of_one_s_own(published, tmp_path):
    assert cf.import_checkpoint(NAME, tmp_path / "mine").embed("two dogs").shape == (1, 16)
    assert load(tmp_path / "mine").provenance["commit"] == COMMIT
    with pytest.raises(ValueError, match=r"opened with cf\.load"):
        cf.import_checkpoint(NAME)


def test_what_arrived_before_a_break_is_not_sent_again(published, monkeypatch):
    weights = "/store/somebody/bert/model.safetensors"
    size = len(published.repos["somebody/bert"].files["model.safetensors"])
    published.instead[weights] = lambda request: send(request, 404)
    with pytest.raises(Exception, match="404"):
        here(NAME)
    assert not fetched.fetched_models().exists() or not list(fetched.fetched_models().iterdir())
    sent = dict(published.sent)
    published.instead.clear()
    cf.load(NAME)
    assert published.sent["model.safetensors"] == size
    assert published.sent["vocab.txt"] == sent["vocab.txt"]


def test_a_model_that_is_not_open_to_everybody_says_what_to_do(published):
    published.instead["/api/models/somebody/bert"] = lambda request: send(request, 403, X_Error_Code="GatedRepo")
    with pytest.raises(ValueError, match=r"accept its terms at .*hf auth login"):
        here(NAME)


def test_a_model_that_nobody_has_is_refused(published):
    with pytest.raises(ValueError, match="has no model somebody/bort"):
        here("hub:somebody/bort")
    assert find_model_error("hub:somebody/bort") == (
        "somebody/bort of the hub is not on this machine yet; fetch it with `clearformer models get somebody/bort`"
    )


def find_model_error(name: str) -> str:
    with pytest.raises(ValueError, match="models get") as told:
        find_model(name)
    return str(told.value)


def test_offline_what_was_not_fetched_is_refused_in_a_sentence(published):
    told = without_network(f"import clearformer as cf; cf.load({NAME!r})").stderr.strip().splitlines()[-1]
    assert told == (
        "ValueError: somebody/bert is not on this machine yet and cannot be fetched while HF_HUB_OFFLINE is set; "
        "unset it"
    )


@pytest.mark.parametrize("name", ["hub:", "hub:gpt2", "hub:a/b/c", "hub:../../x", "hub:a--b/c", "hub:a/b@"])
def test_a_name_that_the_hub_cannot_have(name):
    with pytest.raises(ValueError, match="write hub:OWNER/NAME"):
        here(name)


def test_other_names_and_folders_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("hub:somebody").mkdir()
    Path("hub:somebody/bert").mkdir()
    for name in ("en-de", "somebody/bert", tmp_path, NAME):
        assert here(name) == name
    assert asked_of_hub("en-de") is None
    assert place_of("en-de") is None


@pytest.mark.parametrize(
    "config", ["", "[]", '{"provenance": 3}', '{"provenance": {"imported_from": 1, "commit": []}}']
)
def test_a_folder_that_says_no_origin_has_no_pinned_name(config, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    place = place_of(NAME)
    place.mkdir(parents=True)
    (place / "config.json").write_text(config)
    assert pinned_name(place) is None
    assert place_of(PINNED) != place

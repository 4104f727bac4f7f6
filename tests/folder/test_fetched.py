"""Names of models that can be fetched, and the folders they become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.folder.fetched import HubName, fetched_models, hub_name, names_here, place_of, published_table

WORDS = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,20}[A-Za-z0-9_])?", fullmatch=True)
REVISIONS = st.none() | st.from_regex(r"[A-Za-z0-9._/-]{1,30}", fullmatch=True)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    return tmp_path


def test_a_name_on_the_hub_has_an_owner_and_perhaps_a_revision():
    assert hub_name("openai-community/gpt2") == HubName("openai-community/gpt2", None)
    assert hub_name("a/b@refs/pr/1") == HubName("a/b", "refs/pr/1")
    assert str(hub_name("a/b@v1.0")) == "a/b@v1.0"


@pytest.mark.parametrize(
    "name",
    ["", "gpt2", "minilm", "a/b/c", "../x", "a/..", "a/../b", "/a/b", "a/b/", "a//b", "a/b@", "a--b/c", "a/b.git",
     "a/b@x y", "a/b\n", "a\\b/c", "a/" + "b" * 100, "~/x", "./runs/x", "a/-b", ".a/b"],
)  # fmt: skip
def test_what_cannot_be_a_name_on_the_hub(name):
    assert hub_name(name) is None


@given(owner=WORDS, name=WORDS, revision=REVISIONS)
def test_a_place_is_a_folder_of_its_own_directly_in_the_cache(owner, name, revision):
    """Whatever a name says, it never leads out of the folder of fetched models, and the name can be read off it."""
    full = HubName(f"{owner}/{name}", revision)
    if hub_name(str(full)) is None:
        return
    place = place_of(str(full))
    assert place.resolve().parent == fetched_models().resolve()
    place.mkdir(parents=True, exist_ok=True)
    assert str(full) in names_here()
    place.rmdir()


def test_two_names_never_share_a_folder():
    names = ["a/b", "a/b@c/d", "a/b@c--d", "a/b@c%2Fd", "a-b/c", "a/b-c", "minilm"]
    places = [place for place in map(place_of, names) if place is not None]
    assert len(set(places)) == len(places) == 6  # a percent sign is not part of a revision


def test_a_short_name_is_one_of_the_table():
    assert place_of("minilm") == fetched_models() / "minilm"
    assert place_of("maxilm") is None


def test_other_folders_in_the_cache_are_no_models(cache):
    (cache / "models" / ".writing-minilm-12").mkdir(parents=True)
    (cache / "models" / "mine").mkdir()
    (cache / "models" / "smollm2").mkdir()
    assert names_here() == ["smollm2"]


def test_no_published_name_can_be_mistaken_for_a_model_that_ships():
    from clearformer.folder.description import shipped_names

    assert not published_table().keys() & set(shipped_names())

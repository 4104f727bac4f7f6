"""The pages under docs/ that are made from the source are what the source says now, in both languages."""

import argparse
import ast
import importlib
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import recipe_reference  # noqa: E402 - tools/ is no package
from recipe_words import EXAMPLE  # noqa: E402

from clearformer.cli.main import VERBS  # noqa: E402
from clearformer.foundation import settings  # noqa: E402
from clearformer.run.recipe import find_recipe, parse_recipe, read_recipe  # noqa: E402
from test_imports import FLOOR, MAY_IMPORT  # noqa: E402

RECIPES = sorted(path.stem for path in (ROOT / "src" / "clearformer" / "recipes").glob("*.toml"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_reference_is_what_the_tool_prints(language):
    committed = recipe_reference.PAGES[language].read_text(encoding="utf-8")
    assert committed == recipe_reference.Page(language).text(), "run python tools/recipe_reference.py"


def test_every_key_is_explained_in_both_languages():
    assert recipe_reference.missing() == []


def test_a_key_without_a_comment_would_be_found(tmp_path, monkeypatch):
    """The comment may stand behind a field or above it, and a field's neighbour never lends its own."""
    module = tmp_path / "silent_keys.py"
    module.write_text(
        "from dataclasses import dataclass\n\n"
        "@dataclass(frozen=True, kw_only=True)\nclass Silent:\n"
        "    told: int = 1  # behind\n    silent: int = 2\n    # above\n    also: int = 3\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    import silent_keys

    meanings = {key.name: key.meaning for key in recipe_reference.keys_of(silent_keys.Silent)}
    assert meanings == {"told": "behind", "silent": "", "also": "above"}


@pytest.mark.parametrize("name", RECIPES)
def test_every_key_of_a_shipped_recipe_is_on_the_page(name):
    page = recipe_reference.PAGES["en"].read_text(encoding="utf-8")
    for key in _leaves(settings.read_toml(find_recipe(name))):
        assert f"| `{key}` |" in page, key


def test_the_keys_that_model_reads_itself_are_listed():
    """tasks/model_section.py takes some keys off [model] before it becomes a ModelConfig."""
    source = ROOT / "src" / "clearformer" / "tasks" / "model_section.py"
    calls = [node for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    taken = {ast.literal_eval(call.args[0]) for call in calls if getattr(call.func, "attr", "") == "pop"}
    assert taken == set(recipe_reference.MODEL_KEYS)


def test_the_example_is_a_recipe(tmp_path):
    text = EXAMPLE.removeprefix("```toml\n").rstrip().removesuffix("```")
    recipe = parse_recipe(tomllib.loads(text), "the example")
    assert recipe.training.steps == 2000
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    assert read_recipe(file, ["training.steps=500", "model.layers=2"]).model == {"preset": "tiny", "layers": 2}


def _leaves(values):
    for name, value in values.items():
        yield from _leaves(value) if isinstance(value, dict) else [name]


PAIRS = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.md"))


@pytest.mark.parametrize("name", PAIRS)
def test_both_languages_name_the_same_files(name):
    """A path that one language names and the other does not is one that somebody forgot to change."""
    english, chinese = (_paths(folder / name) for folder in (ROOT / "docs", ROOT / "docs" / "zh"))
    assert english == chinese


def _paths(page: Path) -> set[str]:
    return set(re.findall(r"`((?:src|tests|examples|benchmarks|tools)/[\w/.-]+)`", page.read_text(encoding="utf-8")))


GUIDES = (ROOT / "docs" / "guide.md", ROOT / "docs" / "zh" / "guide.md")


def test_both_guides_type_the_same():
    """What somebody types, and what is printed, does not depend on the language that explains it."""
    english, chinese = (_typed(page) for page in GUIDES)
    assert english == chinese


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_the_pages_type_is_understood(page, request, monkeypatch):
    """Every verb exists and knows the options that a page gives it; the changes to a recipe that ships fit it."""
    for verb, words in _commands(page):
        parser = argparse.ArgumentParser()
        importlib.import_module(f"clearformer.cli.{verb}{'_' if verb == 'import' else ''}").add_arguments(parser)
        known = {flag for action in parser._actions for flag in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= known | {"--help"}, words
        shipped = [word for word in words if word in RECIPES]
        if verb in ("train", "distill") and shipped:
            if "from" in settings.read_toml(find_recipe(shipped[0]))["model"]:
                monkeypatch.setenv("CLEARFORMER_CACHE", str(request.getfixturevalue("published")))
            read_recipe(find_recipe(shipped[0]), [word for word in words if re.match(r"[a-z_.]+=", word)])


def _commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """What the lines of blocks type. A verb with a colon behind it begins an error that is quoted."""
    for line in _typed(page):
        if found := re.match(r"(?:\$ )?clearformer (\w+)(?!:)\b(.*)", line):
            verb, rest = found.groups()
            if verb in VERBS:
                yield verb, shlex.split(rest.partition("  #")[0])


def _typed(page: Path) -> list[str]:
    """The lines of all blocks, without the remarks behind commands."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line.partition("   #")[0].rstrip() for block in blocks for line in block.splitlines()]


DESIGNS = (ROOT / "docs" / "design.md", ROOT / "docs" / "zh" / "design.md")
PACKAGE = ROOT / "src" / "clearformer"


@pytest.mark.parametrize("page", DESIGNS, ids=["en", "zh"])
def test_the_design_names_files_that_exist(page):
    """`cli/main.py` is below the package; a bare `translation.py` is a task, or a file of tasks/automatic."""
    named = set(re.findall(r"`([a-z0-9_/]+\.py)`", page.read_text(encoding="utf-8")))
    homes = (ROOT, PACKAGE, PACKAGE / "tasks", PACKAGE / "tasks" / "automatic")
    assert [name for name in named if not any((home / name).is_file() for home in homes)] == []


@pytest.mark.parametrize("page", DESIGNS, ids=["en", "zh"])
def test_the_design_shows_every_room(page):
    house = page.read_text(encoding="utf-8").split("```")[1]
    rooms = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()]
    assert [room for room in rooms if not re.search(rf"\b{room}\b  ", house)] == []


@pytest.mark.parametrize("page", DESIGNS, ids=["en", "zh"])
def test_the_design_draws_the_arrows_that_are_allowed(page):
    """The rows that name their targets one by one name exactly those of tests/test_imports.py, but for the floor."""
    picture = page.read_text(encoding="utf-8").split("```")[3]
    rows = re.findall(r"^(\w+) +-> ([a-z, ]+)$", picture, re.MULTILINE)
    named = {part: set(targets.split(", ")) for part, targets in rows}
    drawn = {part: targets for part, targets in named.items() if targets <= MAY_IMPORT.keys()}
    assert len(drawn) >= 6
    assert drawn == {part: MAY_IMPORT[part] - FLOOR for part in drawn}

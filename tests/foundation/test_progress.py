"""Progress is told in one way everywhere, so that a bar can be drawn for any long work."""

import ast
from pathlib import Path

import pytest

import clearformer
from clearformer.foundation.progress import unwatched


def asked_for(text):
    """Each parameter or field named on_progress: its type and its default as written; no default is None."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "on_progress":
            yield ast.unparse(node.annotation), node.value and ast.unparse(node.value)
        elif isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            defaults = [None] * (len(plain) - len(node.defaults)) + node.defaults
            for one, default in zip([*plain, *node.kwonlyargs], [*defaults, *node.kw_defaults], strict=True):
                if one.arg == "on_progress":
                    yield one.annotation and ast.unparse(one.annotation), default and ast.unparse(default)


def test_whoever_reports_progress_takes_the_same_function_and_by_default_nobody_watches():
    seen = 0
    for file in Path(clearformer.__file__).parent.rglob("*.py"):
        for kind, default in asked_for(file.read_text(encoding="utf-8")):
            seen += 1
            assert kind == "OnProgress", f"{file}: on_progress is of type {kind}"
            assert default in (None, "unwatched"), f"{file}: on_progress is by default {default}"
    assert seen > 10


@pytest.mark.parametrize(
    "line",
    ["def f(on_progress=print): ...", "def f(*, on_progress: Callable = unwatched): ...", "on_progress: int = 3"],
)
def test_another_way_is_found(line):
    assert list(asked_for(line)) != [("OnProgress", "unwatched")]
    assert list(asked_for(line))


def test_nobody_minds_how_far_it_is():
    assert unwatched(3, 10) is unwatched(3, 0) is None

"""Names and sizes: a name means one thing in the whole package, and nothing is too long to be read at once."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "clearformer"

# A name that is defined twice needs a reason.
SHARED_STEMS = {
    "app": "two web applications, each the only one in its folder: studio and serving",
    "parallel": "one kind of data: two files, line by line. data/readers reads it, text/doctor examines it",
}
SHARED_CLASSES: dict[str, str] = {}

LONGEST_FILE, LONGEST_FUNCTION, WIDEST_SIGNATURE = 400, 50, 8  # lines, lines, parameters
EXCEPTIONS = 3  # functions longer, and signatures wider: where splitting would read worse
ROOT = {"__init__", "__main__", "api"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files() -> dict[str, str]:
    return {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}


def functions() -> Iterator[tuple[str, Function]]:
    """Every function of the package, methods and inner ones included, as "file:line name"."""
    for file, text in files().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{file}:{node.lineno} {node.name}", node


def parameters(function: Function) -> list[str]:
    """The names that a caller may give; self and cls are not given by callers."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def twice(homes: dict[str, list[str]], shared: dict[str, str]) -> list[str]:
    return [f"{name}: {', '.join(places)}" for name, places in homes.items() if len(places) > 1 and name not in shared]


def stems() -> dict[str, list[str]]:
    """Modules by stem, without those of the command line: a verb's file may be called as the module that it runs."""
    homes: dict[str, list[str]] = defaultdict(list)
    for file in files():
        path = Path(file)
        if path.stem not in ("__init__", "__main__") and path.parts[0] != "cli":
            homes[path.stem].append(file)
    return homes


def classes() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = defaultdict(list)
    for file, text in files().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(file)
    return homes


def test_a_module_s_name_means_one_thing():
    found = twice(stems(), SHARED_STEMS)
    assert not found, "several modules of one name; rename, or say why in SHARED_STEMS:\n  " + "\n  ".join(found)


def test_a_class_s_name_means_one_thing():
    found = twice(classes(), SHARED_CLASSES)
    assert not found, "several classes of one name; rename all but one:\n  " + "\n  ".join(found)


def test_the_reasons_are_still_needed():
    gone = [name for name in SHARED_STEMS if len(stems()[name]) < 2]
    gone += [name for name in SHARED_CLASSES if len(classes()[name]) < 2]
    assert not gone, f"defined once by now, take out the reason: {', '.join(gone)}"


def test_the_package_s_root_is_not_a_place_for_modules():
    """A new file that finds no room shows that a room is missing."""
    assert {path.stem for path in SOURCE.glob("*.py")} == ROOT


@pytest.mark.parametrize("file", files())
def test_a_file_is_read_in_one_sitting(file):
    lines = len(files()[file].splitlines())
    assert lines <= LONGEST_FILE, f"{file} has {lines} lines; which two questions does it answer?"


def test_functions_are_short():
    long = [f"{name} ({lines})" for name, node in functions() if (lines := _lines(node)) > LONGEST_FUNCTION]
    assert len(long) <= EXCEPTIONS, f"over {LONGEST_FUNCTION} lines:\n  " + "\n  ".join(long)


def test_signatures_are_narrow():
    """Past eight parameters a part or a configuration is missing."""
    wide = [f"{name} ({count})" for name, node in functions() if (count := len(parameters(node))) > WIDEST_SIGNATURE]
    assert len(wide) <= EXCEPTIONS, f"over {WIDEST_SIGNATURE} parameters:\n  " + "\n  ".join(wide)


def _lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_what_is_counted():
    [method] = ast.parse("class A:\n def f(self, a, /, b, *rest, c=1, **more):\n  pass").body[0].body
    assert parameters(method) == ["a", "b", "c"]
    assert _lines(method) == 2
    assert twice({"one": ["a.py"], "two": ["a.py", "b.py"], "three": ["c.py", "d.py"]}, {"three": "why"}) == [
        "two: a.py, b.py"
    ]

"""What a measurement depends on, as a key: change any of it, and the measurement is made anew.

That is the code that `measure` reaches inside its own file, and the source of every file of the package that this
file imports, directly or not. Texts, tables and figures of an experiment are not part of it, so a better sentence
costs no new run.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import clearformer

PACKAGE = Path(clearformer.__file__).parent
ENTRY = "measure"
TRAINER = PACKAGE / "lab" / "trained_networks.py"  # what trains depends on the recipes beside it, too


def dependency_key(file: Path) -> str:
    """A checksum over everything that the measurements of an experiment's file depend on."""
    return code_key(file, ENTRY)


def code_key(file: Path, entry: str) -> str:
    """A checksum over everything that one function of a file depends on."""
    digest = hashlib.sha256(clearformer.__version__.encode())
    digest.update(reached_code(file.read_text(encoding="utf-8"), entry).encode())
    imported = imported_files(file)
    recipes = PACKAGE.joinpath("lab").glob("small_*.toml") if TRAINER in (file, *imported) else ()
    for path in sorted([*imported, *recipes]):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def reached_code(text: str, entry: str = ENTRY) -> str:
    """The top-level definitions that a function (`measure`) uses, directly or not, without remarks and layout."""
    tree = ast.parse(text)
    defined: dict[str, ast.stmt] = {name: node for node in tree.body for name in _names(node)}
    wanted, seen = [entry], {entry: True}
    while wanted:
        node = defined.get(wanted.pop())
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.Name) and part.id in defined and part.id not in seen:
                seen[part.id] = True
                wanted.append(part.id)
    return "\n".join(ast.unparse(defined[name]) for name in sorted(seen) if name in defined)


def imported_files(file: Path) -> frozenset[Path]:
    """Every file of the package that a file imports, directly or not; without the lab's own framework."""
    found: set[Path] = set()
    left = [file]
    while left:
        for path in _imports(left.pop()):
            if path not in found and path != file:
                found.add(path)
                left.append(path)
    return frozenset(found)


FRAME = {"bilingual.py", "experiment.py", "verdicts.py", "drawing.py"}  # say and show, and measure nothing


@lru_cache(maxsize=1024)
def _imports(file: Path) -> tuple[Path, ...]:
    """The files of ours that one file names in its imports, at the top or inside functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = (module for node in ast.walk(tree) for module in _modules(node))
    paths = {path for module in modules if (path := _file_of(module)) is not None}
    return tuple(sorted(path for path in paths if path.parent != PACKAGE / "lab" or path.name not in FRAME))


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(module: str) -> Path | None:
    words = module.split(".")
    if words[0] != "clearformer":
        return None
    plain = PACKAGE.joinpath(*words[1:])
    if len(words) > 1 and plain.with_suffix(".py").is_file():
        return plain.with_suffix(".py")
    return plain / "__init__.py" if (plain / "__init__.py").is_file() else None


def _names(node: ast.stmt) -> Iterator[str]:
    """What a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))

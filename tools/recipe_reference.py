"""Write docs/recipes.md and docs/zh/recipes.md: what every key of a recipe means, taken from the dataclasses.

The explanation of a key is the `# comment` behind its field (or on the lines right above it), or the field's
`metadata["help"]`: so it stands beside the code that it explains, and the page cannot drift away from it. Chinese is
kept in recipe_words.py, by the name of class and field. `tests/test_docs.py` checks that both pages are what this
prints and that no key lacks a sentence in either language.

    python tools/recipe_reference.py            write both pages
    python tools/recipe_reference.py --missing  list the keys without an explanation or without Chinese
"""

import ast
import inspect
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from recipe_words import CHINESE, MODEL_NOTE, OPENING, WORDS

from clearformer.model.config import ModelConfig
from clearformer.model.families import FAMILIES
from clearformer.model.presets import PRESETS
from clearformer.run.recipe import Recipe
from clearformer.tasks import all_tasks
from clearformer.tasks.task import Task
from clearformer.training.loop import TrainingConfig

ROOT = Path(__file__).parent.parent
PAGES = {"en": ROOT / "docs" / "recipes.md", "zh": ROOT / "docs" / "zh" / "recipes.md"}

# [model] is laid over a preset, a family or a folder by tasks/model_section.py; these keys are no field of ModelConfig.
MODEL_KEYS = {
    "preset": ("a published or small size to begin with: {}", PRESETS),
    "family": ("a published family to begin with, at its default sizes: {}", FAMILIES),
    "from": ("a model folder whose weights, sizes and vocabulary training begins with (fine-tuning)", ()),
}


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a recipe. home: class and field, as the table of Chinese names it."""

    name: str
    kind: Any
    default: Any
    meaning: str
    home: str


@cache
def _explanations(owner: type) -> dict[str, str]:
    """The comments behind, or right above, the fields that a class itself declares."""
    text = Path(str(inspect.getsourcefile(owner))).read_text(encoding="utf-8")
    comments = {
        token.start[0]: (token.string.lstrip("# ").strip(), token.line.lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    classes = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    found: dict[str, str] = {}
    for node in classes[owner.__name__].body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            behind, _ = comments.get(int(node.end_lineno or node.lineno), ("", False))
            found[node.target.id] = behind or _above(node.lineno, comments)
    return found


def _above(line: int, comments: dict[int, tuple[str, bool]]) -> str:
    lines: list[str] = []
    while (before := comments.get(line - 1 - len(lines))) is not None and before[1]:
        lines.insert(0, before[0])
    return " ".join(lines)


def keys_of(section: type) -> list[Key]:
    """The keys of a section, with what the source says of each."""
    hints = get_type_hints(section)
    return [
        Key(
            name=one.name,
            kind=hints[one.name],
            default=_default(one),
            meaning=one.metadata.get("help", "") or _explanations(_home(section, one.name)).get(one.name, ""),
            home=f"{_home(section, one.name).__name__}.{one.name}",
        )
        for one in fields(section)
    ]


def _home(section: type, name: str) -> type:
    """The class that declares a field."""
    return next(one for one in section.__mro__ if name in inspect.get_annotations(one))


def _default(one: Field[Any]) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default


def sections(task: Task) -> dict[str, type]:
    """The sections that a task reads in its own way."""
    assert task.training is not None
    training = task.training
    return {
        "data": training.data, "objective": training.objective, "use": task.verb.options, "scoring": training.scoring
    }  # fmt: skip


def trained_tasks() -> list[Task]:
    """The tasks that can be trained, in the order of their table."""
    return [task for task in all_tasks() if task.training is not None]


def inner(key: Key) -> type | None:
    """The dataclass of a key that is a table of its own."""
    options = get_args(key.kind) if get_origin(key.kind) in (UnionType, Union) else (key.kind,)
    return next((one for one in options if is_dataclass(one) and isinstance(one, type)), None)


def all_keys() -> Iterator[Key]:
    """Every key that some recipe may have; the same field once."""
    waiting: list[type] = [TrainingConfig, ModelConfig]
    waiting += [kind for task in trained_tasks() for kind in sections(task).values()]
    met: set[type] = set()
    yield from (key for key in keys_of(Recipe) if key.name in ("task", "name"))
    while waiting:
        section = waiting.pop(0)
        if section in met:
            continue
        met.add(section)
        for key in keys_of(section):
            yield key
            if (below := inner(key)) is not None:
                waiting.append(below)


class Page:
    """One language's page."""

    def __init__(self, language: Literal["en", "zh"]) -> None:
        self.language, self.words = language, WORDS[language]

    def text(self) -> str:
        """The whole page."""
        words, plain = self.words, ("task", "name")
        lines = [f"# {words['title']}", "", f"<!-- {words['made']} -->", "", OPENING[self.language]]
        lines += [f"## {words['shared']}", "", *self._rows([key for key in keys_of(Recipe) if key.name in plain]), ""]
        lines += self._section("[training]", TrainingConfig, "###")
        lines += [*self._section("[model]", ModelConfig, "###", before=self._model_keys())]
        shown: set[type] = set()
        for task in trained_tasks():
            lines += [f'## task = "{task.name}"', ""]
            for name, kind in sections(task).items():
                lines += self._section(f"[{name}]", kind, "###", shown=shown)
        return "\n".join(lines).rstrip() + "\n"

    def _model_keys(self) -> list[str]:
        rows = [
            f"| `{name}` | {self.words['str']} | {self.words['none']} | "
            f"{self._say(f'model.{name}', says).format(', '.join(f'`{one}`' for one in known))} |"
            for name, (says, known) in MODEL_KEYS.items()
        ]
        return [MODEL_NOTE[self.language], "", self.words["table"], "|---|---|---|---|", *rows]

    def _section(
        self, name: str, kind: type, marks: str, *, before: list[str] | None = None, shown: set[type] | None = None
    ) -> list[str]:
        """A section, and behind it the tables inside it. shown: sections of which the reader has seen the table."""
        keys = [key for key in keys_of(kind) if before is None or key.name not in MODEL_KEYS]
        lines = [f"{marks} `{name}`", "", self._say(kind.__name__, _first_sentence(kind)), ""]
        rows = self._rows(keys) if keys else []
        lines += [*before, *rows[2:], ""] if before is not None else [*rows, ""]
        for key in keys:
            below = inner(key)
            if below is None or key.default is None:
                continue
            path = f"{name[:-1]}.{key.name}]"
            if shown is not None and below in shown:
                lines += [f"{marks}# `{path}`", "", self._differences(below, key.default), ""]
            else:
                lines += self._section(path, below, f"{marks}#")
            if shown is not None:
                shown.add(below)
        return lines

    def _differences(self, kind: type, default: Any) -> str:
        """Where this section's defaults are others than those of the one that was shown."""
        usual = kind()
        other = [
            f"`{one.name} = {_toml(getattr(default, one.name))}`"
            for one in fields(kind)
            if getattr(default, one.name) != getattr(usual, one.name)
        ]
        return self.words["other"].format(self.words["comma"].join(other)) if other else self.words["same"]

    def _rows(self, keys: list[Key]) -> list[str]:
        rows = [
            f"| `{key.name}` | {self._kind(key.kind)} | {self._default(key)} | {self._say(key.home, key.meaning)} |"
            for key in keys
            if inner(key) is None or key.default is None  # the others are sections that follow
        ]
        return [self.words["table"], "|---|---|---|---|", *rows]

    def _say(self, home: str, english: str) -> str:
        said = english if self.language == "en" else CHINESE.get(home, english)
        return said.replace("|", "\\|")

    def _kind(self, kind: Any) -> str:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (UnionType, Union):
            return self.words["or"].join(self._kind(one) for one in arguments if one is not NoneType)
        if origin is Literal:
            return ", ".join(f"`{_toml(one)}`" for one in arguments)
        if origin in (tuple, list):
            return self.words["list"].format(self._kind(arguments[0]))
        if is_dataclass(kind):
            return self.words["section"]
        return self.words[kind.__name__]

    def _default(self, key: Key) -> str:
        if key.default is MISSING:
            return self.words["required"]
        if key.default is None:
            return self.words["none"]
        if is_dataclass(key.default):
            return ""
        if key.default in ("", ()):
            return self.words["empty"]
        return f"`{_toml(key.default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _first_sentence(kind: type) -> str:
    """What the docstring of a section says first."""
    first = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    end = first.find(". ")
    return first if end < 0 else first[: end + 1]


def missing() -> list[str]:
    """Keys without an explanation, and explanations without Chinese; and Chinese for keys that are gone."""
    found = {key.home: key.meaning for key in all_keys() if key.meaning or inner(key) is None}
    found |= {f"model.{name}": says for name, (says, _) in MODEL_KEYS.items()}
    kinds = {kind for task in trained_tasks() for kind in sections(task).values()} | {TrainingConfig, ModelConfig}
    kinds |= {below for key in all_keys() if (below := inner(key)) is not None}
    named = {kind.__name__: _first_sentence(kind) for kind in kinds}
    silent = [f"{home} has no comment that explains it" for home, says in (found | named).items() if not says]
    foreign = [f"{home} has no Chinese in tools/recipe_words.py" for home in found | named if home not in CHINESE]
    gone = [f"{home} is in tools/recipe_words.py but is no key" for home in CHINESE if home not in found | named]
    return silent + foreign + gone


def main() -> None:
    """Write the pages, or say what is missing."""
    if "--missing" in sys.argv:
        print("\n".join(missing()))
        sys.exit(1 if missing() else 0)
    for language, path in PAGES.items():
        path.write_text(Page(language).text(), encoding="utf-8")  # type: ignore[arg-type]
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

"""From plain data (TOML, JSON, key=value) to configuration dataclasses, with errors that name the key.

Python is the truth: the dataclasses stand beside the code that they configure. Here pydantic checks that what somebody
wrote down fits them; unknown keys and wrong types are errors, never ignored.
"""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

C = TypeVar("C")


def parse(kind: type[C], values: Mapping[str, Any], where: str) -> C:
    """A configuration of the given dataclass. where: what to call the origin in an error, usually a file name."""
    _refuse_unknown(kind, values, where, "")
    try:
        return TypeAdapter(kind).validate_python(values, strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if not str(part).startswith("function-"))
        reason = first["msg"].removeprefix("Value error, ")
        at = f"{where}: {key}" if key else where
        given = f", not {first['input']!r}" if key and not isinstance(first["input"], dict) else ""
        raise ValueError(f"{at}: {reason}{given}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as nested dictionaries."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None


def overlay(values: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Lay `key.path=value` changes over nested values; a value is read as TOML, and as plain text where it is none."""
    result = dict(values)
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals or not path.strip():
            raise ValueError(f"{change!r} is not of the form key.path=value")
        result = lay(result, path.strip(), _value(text))
    return result


def lay(values: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of nested values with one of them, named by its dotted path, replaced."""
    key, _, rest = path.partition(".")
    if not rest:
        return {**values, key: value}
    inner = values.get(key, {})
    if not isinstance(inner, Mapping):
        raise ValueError(f"{path}: {key} is a value, not a table, so it has no {rest}")
    return {**values, key: lay(inner, rest, value)}


def to_plain(config: Any) -> Any:
    """A configuration as nested dictionaries for TOML and JSON; None is left out, as TOML has no word for it."""
    if is_dataclass(config):
        items = ((field.name, getattr(config, field.name)) for field in fields(config))
        return {name: to_plain(value) for name, value in items if value is not None}
    if isinstance(config, Mapping):
        return {str(name): to_plain(value) for name, value in config.items() if value is not None}
    if isinstance(config, list | tuple):
        return [to_plain(value) for value in config]
    return str(config) if isinstance(config, Path) else config


def to_toml(values: Mapping[str, Any], prefix: str = "") -> str:
    """Nested dictionaries as TOML: values first, then tables."""
    lines = [f"{key} = {_literal(value)}" for key, value in values.items() if not isinstance(value, Mapping)]
    text = "\n".join(lines) + "\n" if lines else ""
    for key, value in values.items():
        if isinstance(value, Mapping):
            body = to_toml(value, f"{prefix}{key}.")
            text += f"\n[{prefix}{key}]\n{body}" if any(not isinstance(v, Mapping) for v in value.values()) else body
    return text


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False)  # strings, whole numbers and booleans are written alike in both


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _refuse_unknown(kind: Any, values: Any, where: str, path: str) -> None:
    target = _dataclass_in(kind)
    if target is None or not isinstance(values, Mapping):
        return
    hints = get_type_hints(target)
    known = [field.name for field in fields(target)]
    for key, value in values.items():
        if key not in known:
            close = difflib.get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {path}{close[0]}?" if close else f"; known are {', '.join(known)}"
            raise ValueError(f"{where}: there is no setting {path}{key}{hint}")
        _refuse_unknown(hints[key], value, where, f"{path}{key}.")


def _dataclass_in(kind: Any) -> Any:
    """The dataclass in a type, also behind `| None`."""
    if get_origin(kind) is UnionType:
        return next((found for part in get_args(kind) if (found := _dataclass_in(part))), None)
    return kind if is_dataclass(kind) else None

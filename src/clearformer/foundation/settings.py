"""From plain data (TOML, JSON, key=value) to configuration dataclasses, with errors that name the key.

Python is the truth: the dataclasses stand beside the code that they configure. Here pydantic checks that what somebody
wrote down fits them; unknown keys and wrong types are errors, never ignored.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

C = TypeVar("C")


# What a value should have been, by the first word of pydantic's name for the mistake.
EXPECTED = {
    "int": "a whole number", "float": "a number", "finite": "a finite number", "bool": "true or false",
    "string": "text", "path": "a file name", "list": "a list", "tuple": "a list", "dict": "a table of settings",
    "dataclass": "a table of settings",
}  # fmt: skip


class SettingError(ValueError):
    """A value of the wrong kind. key: its dotted key; sentence: the same without where it was found."""

    def __init__(self, where: str, key: str, sentence: str) -> None:
        super().__init__(": ".join(part for part in (where, sentence) if part))
        self.key, self.sentence = key, sentence


def parse(kind: type[C], values: Mapping[str, Any], where: str, *, within: str = "") -> C:
    """A configuration of the given dataclass. where: what to call the origin in an error, usually a file name.

    within: the table that the values stand in, for the keys that an error names.
    """
    from pydantic import TypeAdapter, ValidationError  # here: a program that reads no configuration need not wait

    _refuse_unknown(kind, values, where, f"{within}." if within else "")
    try:
        # As JSON, pydantic is strict about numbers and words ("5" and true are no integers) and still takes an array
        # for a tuple and a table for a dataclass.
        return TypeAdapter(kind).validate_json(json.dumps(to_plain(values), default=str), strict=True)
    except ValidationError as error:
        raise _refusal(values, error.errors(), where, within) from None


def _refusal(values: Mapping[str, Any], errors: Sequence[Any], where: str, within: str) -> ValueError:
    """What pydantic found first, in a sentence."""
    first = errors[0]
    key = _dotted(within, _key(values, first["loc"], missing=first["type"] == "missing"))
    if first["type"] == "missing":
        return ValueError(": ".join(part for part in (where, f"{key} is missing; add it") if part))
    if first["type"] == "value_error":  # our own checks
        reason = first["msg"].removeprefix("Value error, ")
        if reason.startswith(f"{key}."):  # which name the setting in full
            key = ""
        elif isinstance(first["input"], Mapping) and reason.partition(" ")[0] in first["input"]:  # or inside its table
            key, reason = "", _dotted(key, reason)
        return ValueError(": ".join(part for part in (where, key, reason) if part))
    # of a setting that may be of several kinds, each is refused
    same = [one for one in errors if one["input"] == first["input"] and one["loc"][:-1] == first["loc"][:-1]]
    expected = " or ".join(dict.fromkeys(filter(None, map(_expected, same or [first]))))
    return SettingError(where, key, f"{key or 'it'} must be {expected}, not {_shown(first['input'])}")


def _dotted(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _expected(error: Any) -> str:
    if error["type"] == "literal_error":
        return str(error["ctx"]["expected"])
    kind = error["type"].partition("_")[0]
    return "" if kind == "none" else EXPECTED.get(kind) or error["msg"].removeprefix("Input should be ")


def _shown(value: Any) -> str:
    """As TOML spells it, where Python would not."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


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
        if not equals or not all(path.strip().split(".")):
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
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    text = "".join(f"{_name(key)} = {_literal(value)}\n" for key, value in plain.items())
    for key, table in tables.items():
        name = f"{prefix}{_name(key)}"
        only_tables = table and all(isinstance(value, Mapping) for value in table.values())
        text += ("" if only_tables else f"\n[{name}]\n") + to_toml(table, f"{name}.")
    return text


def _name(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _literal(key)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):  # within a list, where a table has no heading
        return "{" + ", ".join(f"{_name(key)} = {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float):
        return repr(value)  # 1e-09, 0.1, inf and nan are the same in both
    # Words, whole numbers and booleans are written as in JSON, but for one character that TOML wants spelled out.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(text: str) -> Any:
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if len(found) == 1 else text  # a line of its own would smuggle in a second setting


def _key(values: Any, path: Iterable[Any], *, missing: bool) -> str:
    """The dotted key of an error, without what pydantic puts between (which of several types it tried)."""
    names: list[str] = []
    for part in path:
        if not isinstance(values, Mapping):
            break
        if part in values or missing:
            names.append(str(part))
            values = values.get(part)
    return ".".join(names)


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
            raise ValueError(": ".join(part for part in (where, f"there is no setting {path}{key}{hint}") if part))
        _refuse_unknown(hints[key], value, where, f"{path}{key}.")


def _dataclass_in(kind: Any) -> Any:
    """The dataclass in a type, also behind `| None`."""
    if get_origin(kind) is UnionType:
        return next((found for part in get_args(kind) if (found := _dataclass_in(part))), None)
    return kind if is_dataclass(kind) else None

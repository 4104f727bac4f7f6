import dataclasses
import tomllib
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.foundation import settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 0.1
    kind: Literal["round", "square"] = "round"
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError(f"inner.rate must not be negative, but is {self.rate}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    count: int = 3
    on: bool = False
    names: tuple[str, ...] = ()
    several: str | tuple[str, ...] = ""
    inner: Inner = dataclasses.field(default_factory=Inner)
    maybe: Inner | None = None
    free: dict[str, object] = dataclasses.field(default_factory=dict)


def parse(**values):
    return settings.parse(Outer, {"name": "x"} | values, "my.toml")


def test_plain_data_becomes_the_dataclass():
    given = {
        "names": ["a", "b"],
        "inner": {"rate": 2, "kind": "square"},
        "maybe": {"limit": 5},
        "free": {"a": {"b": 1}},
    }
    assert parse(**given) == Outer(
        name="x",
        names=("a", "b"),
        inner=Inner(rate=2.0, kind="square"),
        maybe=Inner(limit=5),
        free={"a": {"b": 1}},
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cuont": 1}, "my.toml: there is no setting cuont; did you mean count?"),
        ({"inner": {"rat": 1}}, "my.toml: there is no setting inner.rat; did you mean inner.rate?"),
        ({"maybe": {"limits": 1}}, "my.toml: there is no setting maybe.limits; did you mean maybe.limit?"),
        ({"inner": {"colour": 1}}, "my.toml: there is no setting inner.colour; known are rate, kind, limit"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(values, message):
    with pytest.raises(ValueError) as caught:
        parse(**values)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"count": "many"}, ["my.toml: count must be a whole number, not 'many'"]),
        ({"count": "5"}, ["my.toml: count must be a whole number, not '5'"]),
        ({"count": True}, ["my.toml: count must be a whole number, not true"]),
        ({"count": 2.5}, ["my.toml: count must be a whole number, not 2.5"]),
        ({"on": 1}, ["my.toml: on must be true or false, not 1"]),
        ({"on": "yes"}, ["my.toml: on must be true or false, not 'yes'"]),
        ({"name": 5}, ["my.toml: name must be text, not 5"]),
        ({"names": "a"}, ["my.toml: names must be a list, not 'a'"]),
        ({"names": ["a", 5]}, ["my.toml: names must be text, not 5"]),
        ({"several": 3}, ["my.toml: several must be text or a list, not 3"]),
        ({"inner": {"rate": "fast"}}, ["my.toml: inner.rate must be a number, not 'fast'"]),
        ({"inner": {"kind": "oval"}}, ["my.toml: inner.kind must be 'round' or 'square', not 'oval'"]),
        ({"maybe": {"kind": "oval"}}, ["my.toml: maybe.kind must be 'round' or 'square', not 'oval'"]),
        ({"inner": 7}, ["my.toml: inner must be a table of settings, not 7"]),
        ({"inner": {"rate": -1.0}}, ["my.toml: inner.rate must not be negative, but is -1.0"]),
    ],
)
def test_a_wrong_type_or_value_is_named_with_key_and_value(values, parts):
    with pytest.raises(ValueError) as caught:
        parse(**values)
    message = str(caught.value)
    assert all(part in message for part in parts), message
    assert "\n" not in message


def test_the_table_that_values_stand_in_is_part_of_the_key():
    with pytest.raises(settings.SettingError, match=r"^outer\.count must be a whole number, not 'x'$") as caught:
        settings.parse(Outer, {"name": "x", "count": "x"}, "", within="outer")
    assert caught.value.key == "outer.count"
    with pytest.raises(ValueError, match=r"^there is no setting outer\.coun; did you mean outer\.count\?$"):
        settings.parse(Outer, {"name": "x", "coun": 1}, "", within="outer")


def test_a_missing_setting_is_named():
    with pytest.raises(ValueError, match=r"my\.toml: name is missing; add it$"):
        settings.parse(Outer, {}, "my.toml")


def test_changes_are_laid_over_by_their_path():
    values = {"name": "x", "inner": {"rate": 1.0, "kind": "round"}}
    laid = settings.overlay(
        values, ["inner.rate=2e-3", "count=5", "maybe.limit=7", "name=a=b", "on=true", "names=['p']"]
    )
    assert laid == {
        "name": "a=b",
        "inner": {"rate": 0.002, "kind": "round"},
        "count": 5,
        "maybe": {"limit": 7},
        "on": True,
        "names": ["p"],
    }
    assert values == {"name": "x", "inner": {"rate": 1.0, "kind": "round"}}


@pytest.mark.parametrize("change", ["count", "=5", ".count=5", "inner.=5", "inner..rate=5", ""])
def test_what_is_no_change_is_refused(change):
    with pytest.raises(ValueError, match=r"is not of the form key\.path=value"):
        settings.overlay({}, [change])


def test_a_value_has_no_settings_inside():
    with pytest.raises(ValueError, match=r"count\.x: count is a value, not a table"):
        settings.overlay({"count": 3}, ["count.x=1"])


def test_a_change_cannot_smuggle_in_a_second_one():
    assert settings.overlay({}, ["name=1\nother = 2"]) == {"name": "1\nother = 2"}


KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS
TABLES = st.recursive(
    st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=3), max_size=4),
    lambda inner: st.dictionaries(TEXTS, SCALARS | inner | st.lists(inner, max_size=2), max_size=4),
    max_leaves=10,
)


@given(TABLES)
def test_every_table_of_plain_values_survives_toml(table):
    """Empty tables, keys with spaces and quotes, control characters, tables in lists, infinity: all of it."""
    assert tomllib.loads(settings.to_toml(table)) == table


@given(st.dictionaries(KEYS, SCALARS, max_size=3), KEYS, KEYS, SCALARS)
def test_a_laid_value_is_there_and_everything_else_stays(table, outer, inner, value):
    change = f"new_{outer}.{inner}={settings.to_toml({'v': value}).removeprefix('v = ').strip()}"
    laid = settings.overlay(table, [change])
    assert laid == table | {f"new_{outer}": {inner: value}}


def test_a_configuration_survives_toml(tmp_path):
    config = Outer(name="näme", names=("a",), several=("b", "c"), maybe=Inner(rate=1e-9), free={"x": {"y": [1, 2]}})
    (tmp_path / "c.toml").write_text(settings.to_toml(settings.to_plain(config)), encoding="utf-8")
    assert settings.parse(Outer, settings.read_toml(tmp_path / "c.toml"), "c") == config


def test_paths_are_written_as_text():
    assert settings.to_plain({"where": Path("a/b"), "none": None}) == {"where": "a/b"}


def test_a_file_that_is_missing_or_no_toml_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no\.toml does not exist"):
        settings.read_toml(tmp_path / "no.toml")
    for content in (b"a = = 1", b"\xff\xfe"):
        (tmp_path / "bad.toml").write_bytes(content)
        with pytest.raises(ValueError, match=r"bad\.toml is not valid TOML: "):
            settings.read_toml(tmp_path / "bad.toml")

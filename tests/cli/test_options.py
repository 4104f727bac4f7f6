"""A dataclass becomes flags and the flags become the dataclass again: declared once, with help, choices and bounds."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from clearformer.cli.options import add_options, read_options
from clearformer.cli.parser import CommandParser
from clearformer.cli.usage import UsageError
from clearformer.foundation.forms import check_bounds


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """One of each kind."""

    width: int = field(default=4, metadata={"help": "how wide", "least": 1, "most": 9})
    top_share: float | None = field(default=None, metadata={"help": "at most 100 % of it", "least": 0})
    kind: Literal["round", "square"] = field(default="round", metadata={"help": "which shape"})
    names: tuple[str, ...] = field(default=("a", "b"), metadata={"help": "whose"})
    where: Path | None = field(default=None, metadata={"help": "a folder"})
    loud: bool = field(default=False, metadata={"help": "say more"})

    def __post_init__(self) -> None:
        check_bounds(self, "knobs")
        if self.top_share == 0:
            raise ValueError("top_share and where belong together")


def parser(**more) -> CommandParser:
    made = CommandParser(prog="clearformer try")
    add_options(made, Knobs, **more)
    return made


def chosen(*words, usual=None):
    return read_options(parser().read(words), Knobs, usual)


def test_without_flags_it_is_the_default_or_what_is_usual():
    assert chosen() == Knobs()
    assert chosen(usual=Knobs(width=7)) == Knobs(width=7)


def test_every_flag_is_followed():
    words = ["--width", "5", "--top-share", "0.5", "--kind", "square", "--names", "x", "--names", "y"]
    words += ["--where", "here", "--loud"]
    expected = Knobs(width=5, top_share=0.5, kind="square", names=("x", "y"), where=Path("here"), loud=True)
    found = chosen(*words)
    assert (found.width, found.top_share, found.kind, found.where, found.loud) == (
        expected.width,
        expected.top_share,
        expected.kind,
        expected.where,
        expected.loud,
    )
    assert tuple(found.names) == expected.names
    assert chosen("--no-loud", usual=Knobs(loud=True)).loud is False


def test_help_has_the_defaults_and_the_choices():
    shown = parser().format_help()
    for said in (
        "how wide (4)",
        "--top-share X",
        "{round,square}",
        "which shape (round)",
        "whose (a b)",
        "100 % of it",
    ):
        assert said in shown
    assert "as the recipe says, or 4" in parser(default="as the recipe says, or {}").format_help()


def test_only_some_fields_become_flags():
    made = parser(only=["width"])
    assert "--kind" not in made.format_help()
    assert read_options(made.read(["--width", "2"]), Knobs, Knobs(kind="square")) == Knobs(width=2, kind="square")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--width", "0"], "--width must be at least 1, not 0"),
        (["--width", "10"], "--width must be at most 9, not 10"),
        (["--top-share", "nan"], "--top-share must be a number, not nan"),
        (["--top-share", "0"], "--top-share and where belong together"),
        (["--kind", "oval"], "--kind cannot be 'oval'; choose round or square"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_the_name_of_its_flag(words, sentence):
    with pytest.raises(UsageError, match=sentence):
        chosen(*words)

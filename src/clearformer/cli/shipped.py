"""What ships for a verb: a model that is used if none is named, and pictures or recordings to try it on."""

import argparse
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.tasks.verbs import Verb

EXAMPLE = "example"  # the word that stands for them


def is_example(name: str) -> bool:
    """Whether a word stands for what ships; somebody's own file or folder of that name comes first."""
    return name == EXAMPLE and not Path(name).exists()


def shipped_examples(folder: str) -> Path:
    """Where pictures or recordings of a kind lie: digits, blood, nuclei, speech."""
    return Path(str(resources.files("clearformer") / "examples" / folder))


def files_help(what: str) -> str:
    """For --help: which files a verb takes."""
    return (
        f"{what}, or folders of them; the word {EXAMPLE} stands for some that ship; without them and without --input, "
        "standard input names them"
    )


def note_of_knowledge(
    arguments: argparse.Namespace, verb: "Verb", usual: str = "", remedy: str = "--model names another"
) -> Callable[[], None]:
    """A small model that was not asked for by name knows one kind of thing, and sees it in everything. Returns what
    says so, once, and is called before each result: where the files are refused, the refusal stands alone.

    usual: the model that is taken where none is named (the verb's default).
    """
    usual = usual or verb.default or ""
    due = arguments.model == usual and not all(is_example(name) for name in arguments.text)

    def say() -> None:
        nonlocal due
        if due:
            print(f"note: {usual}, which ships, knows {verb.knows} alone; {remedy}", file=sys.stderr)
        due = False

    return say

"""The contenders: the rows of benchmarks/contenders.toml, each with the command that starts it or why it cannot start.

The programs live in the source repository beside the package, not in it: they import the peers, which users
of this package need not install.
"""

import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.foundation import settings
from clearformer.foundation.machine import cache_folder

REASON = "setup.json"  # in a peer's environment: null, or why it could not be installed


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A row of the tables. The fields are explained at the top of contenders.toml."""

    name: str
    title: str
    package: str
    tasks: tuple[str, ...]
    program: str | None = None
    requirement: str | None = None
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    imports: str | None = None
    ready: str | None = None
    commands: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """The interpreter whose packages it sees."""
        return sys.executable if self.requirement is None else str(environment(self.name) / "bin" / "python")

    def command(self, folder: Path) -> tuple[str, ...]:
        """How its program is started. -P: a program may have the name of the package that it imports."""
        return (self.python, "-P", str(folder / "contenders" / f"{self.program or self.name}.py"))

    def missing(self) -> str | None:
        """Why it cannot take part, as far as is known without trying; None if it can."""
        if self.requirement is None:
            return None
        verdict = environment(self.name) / REASON
        if not verdict.exists():
            return f"not installed; run: python benchmarks/setup_peers.py {self.name}"
        reason: str | None = json.loads(verdict.read_text(encoding="utf-8"))
        return reason


def environment(name: str) -> Path:
    """Where a peer's own environment is."""
    return cache_folder() / "peers" / name


def benchmarks_folder() -> Path:
    """The folder with the contenders' programs; only a checkout of the repository has it."""
    for root in (Path(__file__).parents[3], Path.cwd()):
        if (root / "benchmarks" / "contenders.toml").exists():
            return root / "benchmarks"
    raise ValueError(
        "the peers' programs are in the folder benchmarks/ of the source repository, which an installed package does "
        "not have; run this from a checkout, or ask for `clearformer bench limits`, which needs no peers"
    )


def read_contenders(folder: Path) -> dict[str, Contender]:
    """All rows, in the order of the file."""
    path = folder / "contenders.toml"
    rows: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: settings.parse(Contender, {"name": name, **row}, f"{path} [{name}]") for name, row in rows.items()}


def choose(known: Mapping[str, Contender], names: Iterable[str] | None, *, task: str) -> list[Contender]:
    """The contenders asked for (all if none is named) that can do the task; this package always takes part."""
    able = {name: contender for name, contender in known.items() if task in contender.tasks}
    if names is None:
        return list(able.values())
    wanted = list(names)
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"there is no peer called {', '.join(unknown)}; there are {', '.join(known)}")
    return [contender for name, contender in able.items() if name in wanted or contender.package == "clearformer"]

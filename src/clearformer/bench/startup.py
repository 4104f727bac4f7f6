"""Start-up times: importing, printing help, translating one sentence from a cold start."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.bench import footprint, idleness
from clearformer.bench.contenders import Contender
from clearformer.bench.race import RaceReading, Turn

IMPORT, READY, HELP, TRANSLATE = "import", "import of the model", "--help", "one sentence from a cold start"


def commands(contender: Contender, model: Path | None) -> dict[str, tuple[str, ...]]:
    """The commands that are timed, by case. model: a folder to translate with, for this package only."""
    found: dict[str, tuple[str, ...]] = {}
    if contender.imports:
        found[IMPORT] = (contender.python, "-c", f"import {contender.imports}")
    if contender.ready:
        found[READY] = (contender.python, "-c", contender.ready)
    for name in contender.commands:
        program = Path(contender.python).parent / name
        if program.exists():
            found[HELP] = (str(program), "--help")
    if contender.package == "clearformer" and model is not None:
        engine = contender.options.get("engine", "torch")
        words = ("translate", "--model", str(model), "--engine", engine, "A dog runs.")
        found[TRANSLATE] = (contender.python, "-m", "clearformer", *words)
    return found


def take_turn(name: str, case: str, command: Sequence[str], *, limit: float) -> Turn:
    """Run a command once, from start to end."""
    started = time.perf_counter()
    try:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, errors="replace", timeout=limit, check=True,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or [f"ended with code {error.returncode}"]
        return Turn(name=name, failure=said[-1])
    except (subprocess.TimeoutExpired, OSError) as error:
        return Turn(name=name, failure=str(error))
    spent = time.perf_counter() - started
    return Turn(name=name, readings=(RaceReading(case=case, unit="starts", count=1, seconds=spent, latency=spent),))


def race(
    timed: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    repeats: int,
    limit: float,
    watch: Callable[[Turn], None] = lambda turn: None,
) -> dict[str, list[Turn]]:
    """Turns by case. All run once, uncounted, to fill the disk's cache, and then take turns.

    timed: commands by contender and case. What fails is reported and not tried again. Idleness is measured over a whole
    round: the kernel counts in hundredths of a second, a quarter of some start-up times.
    """
    turns: dict[str, list[Turn]] = {}
    failed: set[tuple[str, str]] = set()
    for number in range(repeats + 1):
        before, used, taken = idleness.read_busy(), _processor_seconds(), []
        for name, cases in timed.items():
            for case in cases.keys() - {case for who, case in failed if who == name}:
                turn = take_turn(name, case, cases[case], limit=limit)
                if turn.failure is not None:
                    failed.add((name, case))
                if number > 0 or turn.failure is not None:
                    taken.append((case, turn))
                    watch(turn)
        others = idleness.used_by_others(before, idleness.read_busy(), _processor_seconds() - used)
        for case, turn in taken:
            turns.setdefault(case, []).append(replace(turn, others=others))
    return turns


def footprint_of(contender: Contender) -> dict[str, Any]:
    """Packages and bytes of a contender's package, measured in its own environment."""
    done = subprocess.run(
        [contender.python, "-P", footprint.__file__, contender.package], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no answer"]
        return {"failure": said[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _processor_seconds() -> float:
    """CPU time of this program and of those that it started."""
    spent = os.times()
    return spent.children_user + spent.children_system + spent.user + spent.system

"""Training in real processes that are ended with real signals, and what they leave behind on disk."""

import json
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from clearformer.foundation import storage

# One process imports everything and then makes a fresh copy of itself for each run: a start costs milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["clearformer.run.train", "clearformer.tasks.translation", "torch.utils.tensorboard"])
LONGEST = 120.0  # seconds that a test waits for anything
TRIES = 8  # a save takes milliseconds, and a busy machine may sleep through it


def start(folder: Path, out: Path, changes: Iterable[str] = (), poison: Iterable[int] = ()) -> BaseProcess:
    """Train the one recipe of a folder, resuming what is there. poison: places of the plan with an unusable loss."""
    process = PROCESSES.Process(target=_train, args=(folder, out, tuple(changes), frozenset(poison)))
    process.start()
    return process


def finish(process: BaseProcess, code: int = 0) -> None:
    """Wait for the end, which has to be the expected one."""
    process.join(LONGEST)
    assert process.exitcode == code, f"the process ended with {process.exitcode}, expected {code}"


def _train(folder: Path, out: Path, changes: tuple[str, ...], poison: frozenset[int]) -> None:
    import torch

    from clearformer.run import train
    from clearformer.run.recipe import read_recipe, trainable

    os.nice(5)  # whoever waits for a moment of this run should wake in time, also on a busy machine
    torch.set_num_threads(1)
    [path] = folder.glob("*.toml")
    recipe = read_recipe(path, changes)
    task, training = trainable(recipe.task)

    def poisoned_loss(model: Any, batch: Any, objective: Any) -> Any:
        loss = training.loss(model, batch, objective)
        place = torch.initial_seed() // (1_009 * 1_013) - recipe.training.seed * 1_000_003  # the loop seeds by it
        return loss._replace(total=loss.total * torch.nan) if place in poison else loss

    poisoned = replace(training, loss=poisoned_loss)
    train.trainable = lambda name: (replace(task, training=poisoned), poisoned)
    try:
        train.train(recipe, out, resume=out.exists(), base=folder)
    except train.Interrupted:
        os._exit(3)  # as a command line would tell its caller


# --- moments ---------------------------------------------------------------------------------------------------------

Moment = Callable[[Path, int], bool]  # whether it has come for a process, seen from outside


def saving(step: int | None = None) -> Moment:
    """This process (not a dead one before it) is writing a checkpoint, or the one of this step."""
    beginning = ".writing-0" if step is None else f".writing-{step:08d}-"

    def come(out: Path, process: int) -> bool:
        try:
            names = [path.name for path in (out / "checkpoints").iterdir()]
        except FileNotFoundError:
            return False
        return any(name.startswith(beginning) and name.endswith(f"-{process}") for name in names)

    return come


def logged(kind: str, step: int) -> Moment:
    """A record of this kind and step is in the log."""
    key = f'{{"step": {step}, "kind": "{kind}"'.encode()

    def come(out: Path, process: int) -> bool:
        path = out / "metrics.jsonl"
        return path.exists() and key in path.read_bytes()

    return come


def saved(step: int) -> Moment:
    """The checkpoint of a step has its name."""
    return lambda out, process: (out / "checkpoints" / f"{step:08d}").exists()


def after(seconds: float) -> Moment:
    """So many seconds from now."""
    end = time.monotonic() + seconds
    return lambda out, process: time.monotonic() >= end


def signal_when(process: BaseProcess, out: Path, moment: Moment, number: int) -> None:
    """Send a signal as soon as a moment has come."""
    assert process.pid is not None
    while not moment(out, process.pid):
        assert process.is_alive(), "the run was over before the moment came"
        time.sleep(0.0005)
    os.kill(process.pid, number)


def kill_when(process: BaseProcess, out: Path, moment: Moment, *, late: float = 0.0) -> bool:
    """kill -9 as soon as a moment has come, `late` seconds after; returns whether the process was still alive."""
    assert process.pid is not None
    deadline = time.monotonic() + LONGEST
    while process.is_alive() and not moment(out, process.pid):
        assert time.monotonic() < deadline, "the moment never came"
        time.sleep(0.0005)
    time.sleep(late)
    process.kill()
    process.join(LONGEST)
    return process.exitcode == -signal.SIGKILL


def kill_at_each(run: Callable[[], BaseProcess], out: Path, moments: Iterable[Moment]) -> None:
    """Kill one run at each of these moments, resuming it after each; all over again where one was missed."""
    wanted = tuple(moments)
    for _ in range(TRIES):
        if all(_killed_at(run(), out, moment) for moment in wanted):
            return
        shutil.rmtree(out)
    raise AssertionError(f"the run was over before it could be killed, {TRIES} times")


def _killed_at(process: BaseProcess, out: Path, moment: Moment) -> bool:
    hit = kill_when(process, out, moment)
    check_checkpoints(out)
    return hit


# --- what is left ----------------------------------------------------------------------------------------------------


def result(out: Path) -> dict[str, Any]:
    """Every byte that a run is judged by: checkpoints, finished model, log without the time of day."""
    files: dict[str, Any] = {
        str(path.relative_to(out)): path.read_bytes()
        for part in ("checkpoints", "model")
        for path in sorted((out / part).rglob("*"))
        if path.is_file()
    }
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    files["metrics.jsonl"] = [{name: value for name, value in record.items() if name != "time"} for record in records]
    return files


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names of the files that are not the same."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def check_checkpoints(out: Path) -> None:
    """Whatever bears a checkpoint's name is whole, at every moment."""
    for path in (out / "checkpoints").glob("[0-9]*"):
        storage.verify(path)


def newest(out: Path) -> int:
    """The step of the newest checkpoint, -1 if there is none yet."""
    return max((int(path.name) for path in (out / "checkpoints").glob("[0-9]*")), default=-1)

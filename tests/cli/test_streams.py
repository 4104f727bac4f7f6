"""Closed streams and odd locales, with real processes: a result or one sentence, never a stack of frames."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.cli.main import VERBS, main
from clearformer.cli.streams import WRITES_A_FOLDER
from cli.readers import reader
from interop.folders import bert_folder, gpt2_folder

CLEARFORMER = f"{shlex.quote(sys.executable)} -m clearformer"
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # file names and arguments are taken for ASCII


def shell(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        command.replace("clearformer ", f"{CLEARFORMER} ", 1),
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one sentence on stderr of a command that could not."""
    said = done.stderr.decode("utf-8")
    assert done.returncode == 1, said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert said.count("\n") == 1
    return said


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """A folder with models and files of each kind under short names."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "translator").symlink_to(model_folder)
    for kind in ("class", "tags", "span"):
        (folder / f"{kind}-made").mkdir()
        (folder / kind).symlink_to(reader(folder / f"{kind}-made", kind))
    for name, publish in (("states", bert_folder), ("writer", gpt2_folder)):
        publish(folder / f"{name}-published")
        assert main(["import", str(folder / f"{name}-published"), str(folder / name)]) == 0
    for name, text in (("a.en", "two dogs\n"), ("a.de", "zwei Hunde\n"), ("für.txt", "two dogs\n")):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


READS_STANDARD_INPUT = [
    "translate --model translator",
    "classify --model class",
    "tag --model tags",
    "answer --model span",
    "embed --model states",
    "generate --model writer",
    "tokenize --model translator",
]
WRITES_STANDARD_OUTPUT = [
    "translate hello --model translator",
    "classify hello --model class",
    "tag hello --model tags",
    "answer dogs 'two dogs play' --model span",
    "embed hello --model states",
    "generate two --model writer --max-new 2",
    "tokenize hello --model translator",
    "score --source a.en --target a.de --model translator",
    "evaluate --source a.en --reference a.de --model translator",
    "diagnose translator --source a.en --reference a.de",
    "doctor a.en a.de",
    "inspect tiny",
    "data list",
]


@pytest.mark.parametrize("command", READS_STANDARD_INPUT)
def test_closed_standard_input_is_a_sentence(command: str, desk: Path):
    said = complaint(shell(f"clearformer {command} <&-", desk))
    assert "standard input is closed; give texts as arguments or with --input FILE" in said


@pytest.mark.parametrize("command", WRITES_STANDARD_OUTPUT)
def test_closed_standard_output_is_a_sentence(command: str, desk: Path):
    assert "standard output is closed" in complaint(shell(f"clearformer {command} >&-", desk))


def test_what_does_not_need_a_closed_stream_works_without_it(desk: Path, tmp_path: Path):
    done = shell(f"clearformer translate hello --model translator --output {tmp_path}/out.txt <&- >&- 2>&-", desk)
    assert done.returncode == 0
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").count("\n") == 1
    done = shell(f"clearformer export translator {tmp_path}/out --to ctranslate2 >&-", desk)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "out" / "model.bin").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_a_sentence(desk: Path):
    for place in ("> /dev/full", "--output /dev/full"):
        assert complaint(shell(f"clearformer tokenize hello --model translator {place}", desk)) == (
            "clearformer tokenize: No space left on device\n"
        )


def test_closed_standard_error_loses_messages_and_nothing_else(desk: Path):
    done = shell("clearformer translate hello --model translator 2>&-", desk)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 1
    assert shell("clearformer translate --model nowhere hello 2>&-", desk).returncode == 1


def test_the_verbs_that_leave_a_folder_exist():
    assert set(VERBS) >= WRITES_A_FOLDER


@pytest.mark.parametrize(
    "command", ["tokenize 'für 你好' --model translator --json", "tokenize 'für' --model translator"]
)
def test_arguments_are_utf_8_whatever_the_locale(command: str, desk: Path):
    here, there = (shell(f"clearformer {command}", desk, **more) for more in ({}, PLAIN))
    assert here.returncode == there.returncode == 0, there.stderr
    assert here.stdout == there.stdout


def test_standard_input_and_file_names_are_utf_8_whatever_the_locale(desk: Path, tmp_path: Path):
    answers = []
    for more in ({}, PLAIN):
        done = shell("clearformer classify --model class --input für.txt", desk, **more)
        assert done.returncode == 0, done.stderr
        piped = shell("clearformer classify 'dogs für' --model class", desk, **more)
        assert piped.returncode == 0, piped.stderr
        answers.append((done.stdout, piped.stdout))
        named = shell(f"clearformer classify --model class --input {tmp_path}/nö.txt", desk, **more)
        assert "nö.txt" in complaint(named)
    assert answers[0] == answers[1]


def test_an_argument_that_is_not_utf_8_is_refused(desk: Path):
    for more in ({}, PLAIN):
        said = complaint_of_usage(shell(r"clearformer tokenize $(printf 'f\374r') --model translator", desk, **more))
        assert r"is not UTF-8" in said


def complaint_of_usage(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 2, done.stderr
    return done.stderr.decode("utf-8", "replace")

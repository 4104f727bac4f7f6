"""clearformer translate --input FILE: documents keep their structure, and a kill loses nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clearformer.cli.main import main
from support.document_structure import structure
from support.documents import run, word_package, written

PAGE = "# Two dogs\n\nTwo dogs play in `the snow`. See [a book](http://x.org).\n\n- a man\n- a child and 42 cats\n"
SRT = "1\n00:00:01,000 --> 00:00:02,000\ntwo dogs\n"
HTML = "<p title='a'>two <b>dogs</b> play</p>\n"
PO = 'msgid "a man reads %s"\nmsgstr ""\n'
DOCUMENTS = {
    "a.md": PAGE.encode(),
    "a.srt": SRT.encode(),
    "a.html": HTML.encode(),
    "a.po": PO.encode(),
    "a.txt": b"two dogs\r\n\r\n  a man reads a book\r\n",
    "a.docx": word_package(run("two ") + run("dogs", "<w:b/>"), run("a man reads")),
}
FAST = ["--beam", "1", "--max-ratio", "1", "--max-extra", "2"]  # an untrained model never ends by itself


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_format_goes_through(capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path, name: str):
    source, output = written(tmp_path / name, DOCUMENTS[name]), tmp_path / f"out-{name}"
    common = ["translate", "--input", str(source), "--model", str(model_folder), *FAST]
    assert main([*common, "--output", str(output)]) == 0
    assert structure(source, output.read_bytes()) == structure(source, DOCUMENTS[name])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"out-{name}"])
    assert "translated" in capsys.readouterr().err
    assert main([*common, "--json", "--lines"] if name == "a.txt" else [*common, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all({"source", "text"} <= set(one) for one in found)


def test_the_document_is_printed_where_no_output_is_named(model_folder: Path, tmp_path: Path):
    """As bytes: line ends are those of the document."""
    source = written(tmp_path / "a.md", PAGE.replace("\n", "\r\n"))
    command = [
        sys.executable,
        "-m",
        "clearformer",
        "translate",
        "--input",
        str(source),
        "--model",
        str(model_folder),
        *FAST,
    ]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.count(b"\r\n") == PAGE.count("\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


def test_a_killed_translation_is_resumed(model_folder: Path, tmp_path: Path):
    """kill -9 in the middle: the journal stays, the next run takes it up, and the result is that of an unbroken run."""
    text = "".join(f"The {name} reads book {n} {'very ' * (n % 5)}well.\n\n" for n in range(150) for name in ("man",))
    source, output = written(tmp_path / "a.txt", text), tmp_path / "out.txt"
    command = [
        sys.executable,
        "-m",
        "clearformer",
        "translate",
        "--input",
        str(source),
        "--model",
        str(model_folder),
        *FAST,
    ]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    journal = tmp_path / "out.txt.journal"
    with subprocess.Popen([*command, "--output", str(output)], stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 120
        while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < 60):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert journal.exists()
    assert not output.exists()
    done = subprocess.run([*command, "--output", str(output)], capture_output=True, text=True, check=True)
    assert "resuming: " in done.stderr
    assert output.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "out.txt"]


def test_control_c_says_how_to_resume(model_folder: Path, tmp_path: Path):
    source, output = (
        written(tmp_path / "a.txt", "".join(f"A man reads book {n}.\n\n" for n in range(600))),
        tmp_path / "out.txt",
    )
    command = [
        sys.executable,
        "-m",
        "clearformer",
        "translate",
        "--input",
        str(source),
        "--model",
        str(model_folder),
        *FAST,
    ]
    with subprocess.Popen([*command, "--output", str(output)], stderr=subprocess.PIPE, text=True) as process:
        journal = tmp_path / "out.txt.journal"
        until = time.monotonic() + 120
        while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < 60):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        told = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert "of 600 sentences; the same command resumes there" in told
    assert told.rstrip().endswith("clearformer translate: stopped")


@pytest.mark.parametrize(
    ("name", "options", "code", "reason"),
    [
        ("a.docx", [], 2, "a .docx file is not printed; name the result with --output"),
        ("a.docx", ["--output", "b.txt"], 2, "must end in .docx"),
        ("a.md", ["--output", "a.md"], 2, "is the input itself"),
        ("a.md", ["--nbest", "2"], 2, "--nbest shows single texts"),
        ("a.md", ["hello"], 2, "not both"),
        ("a.md", ["--output", "no/where.md"], 1, "no such folder"),
        ("b.md", [], 1, "b.md cannot be read"),
        ("a.pdf", [], 1, ".pdf files are not read"),
        ("latin.txt", [], 1, "latin.txt:2 holds byte 0xe9"),
    ],
)
def test_what_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, model_folder: Path, tmp_path: Path,
    name: str, options: list[str], code: int, reason: str,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for document, content in DOCUMENTS.items():
        written(tmp_path / document, content)
    written(tmp_path / "latin.txt", b"a\ncaf\xe9\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["translate", *options, "--input", name, "--model", str(model_folder)]) == code
    told = capsys.readouterr().err
    assert reason in told
    assert told.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before

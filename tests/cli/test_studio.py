"""clearformer studio, as a process: it says where it is, answers, and ends when asked to."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

from clearformer.cli.main import main


def test_it_prints_its_address_answers_and_ends(model_folder, tmp_path):
    command = [sys.executable, "-m", "clearformer", "studio", "--model", str(model_folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}/api/model") as answer:
            assert json.load(answer)["name"] == "toy"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode in (0, 1)
    assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--port", "70000"], 2, "--port must be between 0 and 65535"),
        (["--runs", "no-such-folder"], 2, "--runs no-such-folder is not a folder"),
        (["--from", "en", "--to", "tlh"], 2, "no translator from English to"),
        (["--model", "no-such-model"], 1, "there is no model folder no-such-model"),
    ],
)
def test_what_cannot_be_done_is_said(model_folder, tmp_path, monkeypatch, capsys, words, code, told):
    monkeypatch.chdir(tmp_path)
    model = [] if {"--model", "--from"} & set(words) else ["--model", str(model_folder)]
    assert main(["studio", *model, *words]) == code
    assert told in capsys.readouterr().err

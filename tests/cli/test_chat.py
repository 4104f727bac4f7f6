"""Messages from arguments, a file or a pipe: answered in order within one conversation."""

import json
import subprocess
import sys

import pytest

from clearformer.cli.main import main
from clearformer.folder.bundle import save
from interop.folders import gpt2_folder
from support.toy_chat import chat_bundle


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat") / "model"
    save(chat_bundle(max_len=256), folder)
    return str(folder)


def said(capsys, *arguments):
    capsys.readouterr()
    assert main(["chat", *arguments]) == 0
    return capsys.readouterr()


def test_messages_are_turns_of_one_conversation(model, capsys):
    both = said(capsys, "Hello!", "And now?", "--model", model, "--max-new", "8", "--json").out.splitlines()
    first, second = map(json.loads, both)
    alone = json.loads(said(capsys, "And now?", "--model", model, "--max-new", "8", "--json").out)
    assert (first["message"], second["message"]) == ("Hello!", "And now?")
    assert second["answer"] != alone["answer"]  # it knows what was said before
    assert (first["tokens"], first["ended"], first["dropped"]) == (8, "length", 0)


def test_a_file_and_a_pipe_are_read_line_by_line(model, capsys, tmp_path):
    file = tmp_path / "in.txt"
    file.write_text("Hello!\n\nAnd now?\n/undo is a message here\n", encoding="utf-8")
    options = ["--model", model, "--max-new", "8", "--json"]
    answers = said(capsys, "--input", str(file), *options).out
    assert [json.loads(line)["message"] for line in answers.splitlines()] == [
        "Hello!",
        "And now?",
        "/undo is a message here",
    ]
    command = [sys.executable, "-m", "clearformer", "chat", *options]
    done = subprocess.run(command, input=file.read_bytes(), capture_output=True, check=True)
    assert done.stdout.decode() == answers


def test_what_is_printed_is_the_answer_alone(model, capsys):
    """Notices go to standard error."""
    shown = said(capsys, "Hello!", "--model", model, "--max-new", "8", "--system", "Be kind.")
    record = json.loads(
        said(capsys, "Hello!", "--model", model, "--max-new", "8", "--system", "Be kind.", "--json").out
    )
    assert shown.out == record["answer"] + "\n"
    assert "cut off after 8 tokens; --max-new allows more" in shown.err


def test_a_full_context_is_said(model, capsys):
    messages = [f"message {number} " + "x" * 50 for number in range(4)]
    shown = said(capsys, *messages, "--model", model, "--max-new", "8")
    assert "(the context is full: the oldest turn is no longer seen by the model)" in shown.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([""], "text 1: the message is empty; write something"),
        (["fine", "x<|im_end|>"], "text 2: a message of the user spells <|im_end|>, a special token of this model"),
        (["x" * 300], "text 1: the message has"),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_place(model, capsys, words, sentence):
    assert main(["chat", *words, "--model", model, "--max-new", "4"]) == 1
    assert f"clearformer chat: {sentence}" in capsys.readouterr().err


def test_a_model_that_only_continues_texts_says_so(tmp_path, capsys):
    gpt2_folder(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    assert main(["chat", "hi", "--model", str(tmp_path / "ours")]) == 1
    assert "this model continues texts and was not made to converse: it has no chat template" in capsys.readouterr().err


@pytest.mark.corpora
def test_stories260k_says_plainly_that_it_does_not_converse(tmp_path, capsys):
    import os
    from pathlib import Path

    source = Path(os.environ["CLEARFORMER_DATA"]) / "pretrained" / "stories260K"
    assert main(["import", str(source), str(tmp_path / "stories")]) == 0
    assert main(["chat", "hi", "--model", str(tmp_path / "stories")]) == 1
    assert "continues texts and was not made to converse" in capsys.readouterr().err


def test_without_a_model_it_says_how_to_get_one(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    assert main(["chat", "hi"]) == 1
    error = capsys.readouterr().err
    assert error == (
        "clearformer chat: the model smollm2 is not on this machine yet; "
        "fetch it with `clearformer models get smollm2`\n"
    )


def test_a_reader_that_goes_away_ends_it_quietly(model):
    """As in `clearformer chat … | head -c 1`."""
    command = [sys.executable, "-m", "clearformer", "chat", *["Hello!"] * 3, "--model", model, "--max-new", "30"]
    talking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    talking.stdout.read(1)
    talking.stdout.close()
    error = talking.stderr.read().decode()
    assert talking.wait(60) == 1
    assert "Traceback" not in error
    assert "internal error" not in error
    talking.stderr.close()

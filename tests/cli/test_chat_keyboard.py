"""At a real terminal: a pseudo-terminal types, Ctrl-C is a real signal, and the program outlives it."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clearformer.cli.chat_keyboard import HELP
from clearformer.folder.bundle import save
from support.toy_chat import chat_bundle


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat") / "model"
    save(chat_bundle(max_len=40_000), folder)
    return str(folder)


class Person:
    """Somebody at a terminal."""

    def __init__(self, *command):
        self.master, slave = pty.openpty()
        environment = os.environ | {"TERM": "dumb", "PYTHONUNBUFFERED": "1"}
        self.program = subprocess.Popen(
            [sys.executable, "-m", "clearformer", "chat", *command],
            stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
            preexec_fn=lambda: _own_terminal(),
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def reads(self, pattern, seconds=90):
        """Wait until something is on the screen; returns all that came up to it."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen, re.DOTALL)):
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self.master, 65536).decode("utf-8", "replace").replace("\r", "")
                except OSError:
                    break  # the terminal is closed
            elif time.monotonic() > end or self.program.poll() is not None:
                break
        assert found or re.search(pattern, self.seen, re.DOTALL), f"never saw {pattern!r} in {self.seen!r}"
        found = found or re.search(pattern, self.seen, re.DOTALL)
        text, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return text

    def types(self, line):
        os.write(self.master, f"{line}\n".encode())

    def presses_ctrl_c(self):
        """Once the program waits for a key, or is at work for a while: what comes between the prompt and the reading of
        keys, Python notices with the next key, and on a busy machine that moment is long."""
        end, asleep = time.monotonic() + 3, 0
        while asleep < 5 and (asleep or time.monotonic() < end):
            time.sleep(0.1)
            asleep = asleep + 1 if self._is_asleep() else 0
        os.write(self.master, b"\x03")

    def _is_asleep(self):
        """Whether the main thread waits for something, rather than works or wants to."""
        facts = Path(f"/proc/{self.program.pid}/stat")
        return facts.exists() and facts.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "S"

    def leaves(self):
        os.write(self.master, b"\x04")
        return self.program.wait(60)


def _own_terminal():
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def sit_down(model):
    """Begin to chat; whoever is still there at the end is ended."""
    people = []

    def begin(*options):
        person = Person("--model", model, *options)
        people.append(person)
        person.reads("Ctrl-D leaves")
        person.reads("> ")
        return person

    yield begin
    for person in people:
        if person.program.poll() is None:
            person.program.send_signal(signal.SIGKILL)
            person.program.wait()
        os.close(person.master)


def test_ctrl_c_stops_the_answer_and_not_the_program(sit_down, tmp_path):
    """The answer would take minutes; what was said of it is kept and marked, and the next message is answered."""
    person, file = sit_down("--max-new", "30000"), tmp_path / "talk.jsonl"
    person.types("Hello!")
    person.reads(r"Hello!\n.{3,}")
    person.presses_ctrl_c()
    person.reads(r"\(stopped\)")
    person.reads("> ")
    person.types(f"/save {file}")
    person.reads("kept in")
    [user, answer] = json.loads(file.read_text())["messages"]
    assert user == {"role": "user", "content": "Hello!"}
    assert answer["stopped"] is True
    assert answer["content"]
    person.reads("> ")
    person.types("And now?")
    person.reads(r"And now\?\n.{3,}")
    person.presses_ctrl_c()
    person.reads("> ")
    assert person.leaves() == 0


def test_ctrl_c_at_the_prompt_leaves_when_pressed_twice(sit_down):
    person = sit_down("--max-new", "4")
    person.presses_ctrl_c()
    person.reads("Ctrl-C once more leaves")
    person.reads("> ")
    person.types("still here")
    person.reads("cut off after 4 tokens")
    person.reads("> ")
    person.presses_ctrl_c()
    person.reads("Ctrl-C once more leaves")
    person.reads("> ")
    person.presses_ctrl_c()
    assert person.program.wait(60) == 0


def test_commands_and_messages_of_several_lines(sit_down, tmp_path):
    person, file = sit_down("--max-new", "4"), tmp_path / "talk.jsonl"

    def do(line, expected):
        person.types(line)
        said = person.reads(expected)
        person.reads("> ")
        return said

    do("/help", re.escape(HELP.splitlines()[-1]))
    do("/undo", "nothing to undo")
    do("/nonsense", "there is no /nonsense; /help lists")
    do("/save", "name one file")
    do(f"/save {file}", "nothing to save yet")
    do(f"/load {file}", "talk.jsonl")
    do("/again", "the likeliest answer is always the same")
    do("/system Be kind.", "told this from now on")
    person.types('"""one')
    person.types("two")
    do('three"""', "cut off")
    person.types("four\\")
    do("five", "cut off")
    do("//slash", "cut off")
    do("/undo", "taken back: /slash")
    do(f"/save {file}", "kept in")
    messages = json.loads(file.read_text())["messages"]
    assert [one["content"] for one in messages if one["role"] != "assistant"] == [
        "Be kind.",
        "one\ntwo\nthree",
        "four\nfive",
    ]
    do("six", "cut off")
    do(f"/load {file}", "5 messages; the last:")
    do("/undo", "taken back: four")
    person.types("/quit")
    assert person.program.wait(60) == 0

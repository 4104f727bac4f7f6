"""A conversation at the keyboard: messages of one line or more, commands behind a slash, and Ctrl-C for an answer."""

import json
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

from clearformer.cli.chat import show_end
from clearformer.cli.use import complete_file
from clearformer.data.readers.turns import read_turns
from clearformer.inference.chat_settings import ChatConfig
from clearformer.inference.conversation import Conversation

QUOTES = '"""'
HELLO = "Type a message; /help lists what else can be typed. Ctrl-C stops an answer, Ctrl-D leaves."
HELP = f"""/save FILE     keep the conversation, as one line that `clearformer train --data` can learn from
/load FILE     go on with a conversation that was kept
/undo          take back the last message and its answer
/again         another answer to the last message (with --temperature above 0)
/system TEXT   tell the model something before all messages; without a text, nothing
/quit          leave
A message of several lines stands between {QUOTES} and {QUOTES}; a line that ends with \\ goes on in the next.
A message that begins with a slash begins with two."""


class Keyboard:
    """One person, one conversation."""

    def __init__(self, conversation: Conversation, config: ChatConfig, output: IO[str], *, as_json: bool) -> None:
        self.conversation, self.config, self.output, self.as_json = conversation, config, output, as_json
        self.commands: dict[str, Callable[[str], None]] = {
            "save": self.save,
            "load": self.load,
            "undo": self.undo,
            "again": self.again,
            "system": self.system,
            "help": lambda rest: note(HELP),
        }

    def talk(self) -> None:
        """Until somebody leaves. What cannot be done is said in a sentence, and the conversation goes on."""
        _with_editing()
        note(HELLO)
        pressed = False  # Ctrl-C, and nothing since
        while True:
            try:
                text = read_message()
                if text.strip() == "/quit":
                    return
                self.take(text)
                pressed = False
            except EOFError:
                note("")
                return
            except KeyboardInterrupt:
                if pressed:
                    note("")
                    return
                pressed = True
                note("\n(Ctrl-C once more leaves, and so does /quit)")
            except (ValueError, OSError) as error:
                note(f"({error})")

    def take(self, text: str) -> None:
        """A message or a command."""
        if not text.strip():
            return
        if not text.startswith("/") or text.startswith("//"):
            self.answer(text.removeprefix("/") if text.startswith("//") else text)
            return
        name, _, rest = text[1:].strip().partition(" ")
        if name not in self.commands:
            raise ValueError(f"there is no /{name}; /help lists what there is, and // begins a message with a slash")
        self.commands[name](rest.strip())

    def answer(self, text: str) -> None:
        """Show the answer to a message, which Ctrl-C stops."""
        with stoppable() as stopped:
            self.show(text, self.conversation.say(text, self.config, stopped=stopped))

    def again(self, rest: str) -> None:
        if self.config.temperature == 0:
            raise ValueError("the likeliest answer is always the same; start with --temperature 0.7 to draw others")
        with stoppable() as stopped:
            self.show("", self.conversation.again(self.config, stopped=stopped))

    def show(self, message: str, pieces: Iterator[str]) -> None:
        before = 0 if self.conversation.last is None else self.conversation.last.dropped
        for piece in pieces:
            if not self.as_json:
                print(piece, end="", file=self.output, flush=True)
        last = self.conversation.last
        assert last is not None
        show_end(last, message, before, self.output, as_json=self.as_json)
        if last.ended == "stopped":
            note("(stopped)" if last.text.strip() else "(stopped before the first word; the message is not kept)")

    def undo(self, rest: str) -> None:
        note(f"(taken back: {self.conversation.undo()[:60]})")

    def system(self, rest: str) -> None:
        self.conversation.instruct(rest)
        note("(the model is told this from now on)" if rest else "(the model is told nothing beforehand)")

    def save(self, rest: str) -> None:
        path = _file(rest, "/save")
        if not self.conversation.messages:
            raise ValueError("there is nothing to save yet")
        with complete_file(path) as aside:
            aside.write_text(saved(self.conversation), encoding="utf-8", newline="\n")
        note(f"(kept in {path})")

    def load(self, rest: str) -> None:
        path = _file(rest, "/load")
        found = next(read_turns(path), None)
        if found is None:
            raise ValueError(f"{path} is empty; /save writes what can be loaded")
        self.conversation.messages = list(found.messages)
        note(f"({len(found.messages)} messages; the last: {found.messages[-1].content[:60]})")


def saved(conversation: Conversation) -> str:
    """A conversation as one line of JSON."""
    return json.dumps({"messages": [one.plain() for one in conversation.messages]}, ensure_ascii=False) + "\n"


def read_message() -> str:
    """A line; more of them behind three quotation marks or a backslash. EOFError where there is no more."""
    line = _line("> ")
    if line.strip().startswith(QUOTES):
        return _quoted(line.strip().removeprefix(QUOTES))
    parts = []
    while line.endswith("\\"):
        parts.append(line[:-1])
        line = _line("… ")
    return "\n".join([*parts, line])


def _quoted(first: str) -> str:
    parts, line = [], first
    while not line.rstrip().endswith(QUOTES):
        parts.append(line)
        line = _line("… ")
    parts.append(line.rstrip().removesuffix(QUOTES))
    return "\n".join(parts).strip("\n")


def _line(prompt: str) -> str:
    """One line from the keyboard; where the answers go into a file, the prompt does not."""
    if not sys.stdout.isatty():
        print(prompt, end="", file=sys.stderr, flush=True)
        prompt = ""
    text = input(prompt)
    if any("\udc80" <= character <= "\udcff" for character in text):
        raise ValueError("that line is not UTF-8")
    return text


def _with_editing() -> None:
    """Arrow keys and earlier lines, where the system has them; input as UTF-8 whatever the locale says."""
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` uses it when it is there
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")


def _file(rest: str, command: str) -> Path:
    names = shlex.split(rest)
    if len(names) != 1:
        raise ValueError(f"name one file, as in {command} talk.jsonl")
    return Path(names[0]).expanduser()


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is noted instead of ending the program; pressed twice, it does end what is being done."""
    presses: list[int] = []

    def note_press(number: int, frame: FrameType | None) -> None:
        if presses:
            raise KeyboardInterrupt
        presses.append(number)

    if threading.current_thread() is not threading.main_thread():  # only there Python takes signals
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note_press)
    try:
        yield lambda: bool(presses)
    finally:
        signal.signal(signal.SIGINT, before)


def note(sentence: str) -> None:
    """Something that is not an answer."""
    print(sentence, file=sys.stderr, flush=True)

"""Conversations in JSON lines: one conversation per line, as `messages` or in the form of ShareGPT."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clearformer.text.lines import read_lines

TurnRole = Literal["system", "user", "assistant"]
ROLES: dict[str, TurnRole] = {  # as files spell them
    "system": "system", "user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant",
}  # fmt: skip
FORMS = (("messages", "role", "content"), ("conversations", "from", "value"))


@dataclass(frozen=True, kw_only=True)
class Message:
    """What one side says. stopped: somebody stopped an answer before its end."""

    role: TurnRole
    content: str
    stopped: bool = False

    def plain(self) -> dict[str, Any]:
        """As a file has it."""
        return {"role": self.role, "content": self.content} | ({"stopped": True} if self.stopped else {})


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """A conversation, and where it stands: in.jsonl:7."""

    messages: tuple[Message, ...]
    place: str


def holds_turns(path: Path) -> bool:
    """Whether a file's first line is a conversation of either form."""
    first = next((line for line in read_lines(path) if line.strip()), "")
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and any(isinstance(record.get(key), list) for key, _, _ in FORMS)


def read_turns(path: Path) -> Iterator[Dialogue]:
    """Every conversation of a file; one that makes no sense is refused by its line."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield Dialogue(messages=_messages(json.loads(line)), place=place)
            except json.JSONDecodeError as error:
                raise ValueError(f"{place} is not valid JSON ({error.msg} at character {error.pos + 1})") from None
            except RecursionError:
                raise ValueError(f"{place} nests too deeply; refused") from None
            except ValueError as error:
                raise ValueError(f"{place} {error}") from None


def _messages(record: Any) -> tuple[Message, ...]:
    for key, role, content in FORMS:
        if isinstance(record, Mapping) and isinstance(record.get(key), list):
            found = tuple(_message(one, role, content, number) for number, one in enumerate(record[key], start=1))
            check_order(found)
            return found
    raise ValueError('is no conversation; write {"messages": [{"role": "user", "content": "…"}, …]}')


def _message(one: Any, role: str, content: str, number: int) -> Message:
    if not isinstance(one, Mapping) or one.get(role) not in ROLES:
        given = one.get(role) if isinstance(one, Mapping) else one
        raise ValueError(f"has a message {number} with the {role} {given!r:.60}; known are {', '.join(ROLES)}")
    text = one.get(content)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"has a message {number} whose {content} is {text!r:.60}, not a text")
    return Message(role=ROLES[one[role]], content=text, stopped=one.get("stopped") is True)


def check_order(messages: Sequence[Message]) -> None:
    """A system message at most, and first; then user and assistant in turn."""
    spoken = [one.role for one in messages]
    said = spoken[1:] if spoken[:1] == ["system"] else spoken
    if not said:
        raise ValueError("has no message of a user")
    for number, role in enumerate(said):
        if role != ("assistant" if number % 2 else "user"):
            place = number + 1 + len(spoken) - len(said)
            raise ValueError(f"has message {place} of the {role}, where user and assistant take turns, the user first")

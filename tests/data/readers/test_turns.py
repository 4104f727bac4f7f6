"""Conversations of both forms are read alike; what makes no sense is refused by its line."""

import json

import pytest

from clearformer.data.readers.turns import Message, holds_turns, read_turns

OURS = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello", "stopped": True}]}
THEIRS = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}


def write(path, *records):
    path.write_text("".join(f"{json.dumps(one) if not isinstance(one, str) else one}\n" for one in records))
    return path


def test_both_forms_say_the_same(tmp_path):
    ours, theirs = read_turns(write(tmp_path / "a.jsonl", OURS, "", THEIRS))
    assert [(one.role, one.content) for one in ours.messages] == [(one.role, one.content) for one in theirs.messages]
    assert (ours.messages[1].stopped, theirs.messages[1].stopped) == (True, False)
    assert (ours.place.rpartition(":")[2], theirs.place.rpartition(":")[2]) == ("1", "3")


def test_what_is_written_is_read_again(tmp_path):
    messages = [Message(role="system", content="s"), Message(role="user", content="雪\n")]
    path = write(tmp_path / "a.jsonl", {"messages": [one.plain() for one in messages]})
    [again] = read_turns(path)
    assert list(again.messages) == messages


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "nests too deeply"),
        ("5", "is no conversation"),
        ({"text": "a"}, "is no conversation"),
        ({"messages": []}, "no message of a user"),
        ({"messages": [{"role": "system", "content": "a"}]}, "no message of a user"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "message 1 with the role 'tool'"),
        ({"messages": [5]}, "message 1 with the role 5"),
        ({"messages": [{"role": "user", "content": ""}]}, "whose content is '', not a text"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "not a text"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "message 1 of the assistant"),
        ({"messages": [{"role": "user", "content": "a"}] * 2}, "message 2 of the user"),
        ({"messages": [{"role": r, "content": "a"} for r in ("user", "system")]}, "message 2 of the system"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_line(tmp_path, record, why):
    with pytest.raises(ValueError, match=rf"a\.jsonl:2 .*{why}"):
        list(read_turns(write(tmp_path / "a.jsonl", OURS, record)))


def test_conversations_are_told_from_other_tables(tmp_path):
    assert holds_turns(write(tmp_path / "a.jsonl", OURS))
    assert holds_turns(write(tmp_path / "b.jsonl", THEIRS))
    assert not holds_turns(write(tmp_path / "c.jsonl", {"text": "a", "label": "b"}))
    assert not holds_turns(write(tmp_path / "d.jsonl", "text"))
    assert not holds_turns(write(tmp_path / "e.jsonl"))

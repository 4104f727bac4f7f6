"""Somebody's conversations become a recipe: adapters for a model that converses, with a reason for every choice."""

import json

import pytest

from clearformer.cli.main import main
from clearformer.data.readers.turns import read_turns
from clearformer.folder.bundle import save
from clearformer.run.automatic import choose_for, recognise
from clearformer.tasks.automatic import turn_files
from support.toy_chat import chat_bundle


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "turns.jsonl"
    said = [
        {"conversations": [{"from": "human", "value": f"q{n}"}, {"from": "gpt", "value": f"a{n}"}]} for n in range(40)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in said))
    return path


def test_conversations_are_recognised_before_tables(file, tmp_path):
    assert recognise([file]).task.name == "conversation"
    table = tmp_path / "table.jsonl"
    table.write_text("".join(json.dumps({"text": f"film {n}", "label": "ab"[n % 2]}) + "\n" for n in range(40)))
    assert recognise([table]).task.name == "text-classification"


def test_no_conversation_is_in_two_parts(file, tmp_path):
    chosen = turn_files.choose([file], tmp_path / "run")
    parts = [list(read_turns(tmp_path / "run" / "data" / f"{name}.jsonl")) for name in ("train", "dev", "test")]
    assert sum(map(len, parts)) == 40
    assert all(parts)
    assert len({row.messages for part in parts for row in part}) == 40
    assert chosen.recipe["model"] == {"from": "smollm2"}
    assert chosen.recipe["training"]["tuning"] == {"rank": turn_files.RANK}
    assert all(choice.reason for choice in chosen.choices)


def test_another_start_changes_the_start_alone(file, tmp_path):
    save(chat_bundle(), tmp_path / "model")
    usual = turn_files.choose([file], tmp_path / "run").recipe
    begun = choose_for(recognise([file]), [file], tmp_path / "run", start=tmp_path / "model").recipe
    assert begun["model"] == {"from": str(tmp_path / "model")}
    assert {**begun, "model": None} == {**usual, "model": None}


def test_one_command_trains_and_scores(file, tmp_path, capsys):
    save(chat_bundle(), tmp_path / "model")
    words = ["--data", str(file), "--start", str(tmp_path / "model"), "--out", str(tmp_path / "run")]
    changes = ["training.steps=4", "training.validate_every=2", "training.save_every=2", "data.max_length=64"]
    assert main(["train", *words, *changes]) == 0
    shown = capsys.readouterr()
    assert "taken for conversations, for a model that converses" in shown.err
    assert "try it: clearformer chat --model" in shown.err
    assert "nats" in shown.out
    assert main(["chat", "q1", "--model", str(tmp_path / "run"), "--max-new", "4"]) == 0
    assert main(["doctor", str(file)]) == 0

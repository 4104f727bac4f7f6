"""Fine-tuning a model that converses: the answers alone are learned, by adapters, and long talks are said to be cut."""

import json
import logging

import numpy as np
import pytest
import torch

from clearformer.data.chat_text import ChatText
from clearformer.data.readers.turns import Dialogue, Message
from clearformer.folder import bundle
from clearformer.folder.bundle import ADAPTERS, save
from clearformer.folder.description import open_folder
from clearformer.inference.conversation import Chatter
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.tasks.conversations import (
    AnswerObjective,
    TurnsData,
    chat_text,
    collate,
    examples,
    held_apart,
    loss,
)
from clearformer.tasks.task import Workspace
from flows.tiny_tasks import write_turns
from support.toy_chat import TEMPLATE, chat_bundle, chat_tokenizer

TEXT = ChatText(chat_tokenizer(), TEMPLATE)


def talk(*words, place="a.jsonl:1"):
    roles = ["user", "assistant"] * len(words)
    messages = tuple(Message(role=role, content=word) for role, word in zip(roles, words, strict=False))
    return Dialogue(messages=messages, place=place)


def test_the_loss_is_that_of_the_answers_tokens_alone():
    """By hand: the mean over every answer's tokens of what a full pass says of them."""
    made = chat_bundle()
    rows = examples(TEXT, [talk("ab", "cd"), talk("e", "fgh", "i", "j")], 200)
    batch = collate(TurnsData(train="x"), made.preprocessing)(rows, ())
    found = loss(made.model, batch, AnswerObjective())
    expected, count = 0.0, 0
    for ids, learned in rows:
        scores = made.model(torch.tensor(ids)[None])[0].detach().log_softmax(-1)
        for place in np.flatnonzero(learned):
            expected, count = expected - float(scores[place - 1, ids[place]]), count + 1
    assert found.count == count == (2 + 1) + (3 + 1) + (1 + 1)
    assert float(found.total) == pytest.approx(expected, rel=1e-4)


def test_padding_beside_a_longer_conversation_changes_nothing():
    made = chat_bundle()
    put = collate(TurnsData(train="x"), made.preprocessing)
    rows = examples(TEXT, [talk("ab", "cd"), talk("e", "fgh" * 9)], 200)
    together = loss(made.model, put(rows, ()), AnswerObjective())
    alone = [loss(made.model, put([row], ()), AnswerObjective()) for row in rows]
    assert together.count == sum(one.count for one in alone)
    assert float(together.total) == pytest.approx(sum(float(one.total) for one in alone), rel=1e-5)


def test_what_the_user_says_is_not_imitated():
    """Another question of the same length changes what is seen, and nothing of what is counted."""
    [one], [other] = examples(TEXT, [talk("ab", "cd")], 99), examples(TEXT, [talk("xy", "cd")], 99)
    assert (one[1] == other[1]).all()
    assert (one[0][one[1]] == other[0][other[1]]).all()


def test_whole_turns_are_left_off_where_a_conversation_is_too_long(caplog):
    caplog.set_level(logging.INFO)
    long = talk("a", "b", "c", "d" * 100)
    [(ids, learned)] = examples(TEXT, [long, talk("e" * 200, "f"), talk("never answered")], 90)
    assert TEXT.tokenizer.decode(ids[learned]) == "b"
    assert "1 conversations are learned from as far as they fit into 90 tokens; 2 have no answer" in caplog.text


def test_a_conversation_that_cannot_be_rendered_is_named_by_its_line():
    with pytest.raises(ValueError, match=r"a\.jsonl:7 a message of the user spells <\|im_start\|>"):
        examples(TEXT, [talk("<|im_start|>", "x", place="a.jsonl:7")], 90)


def test_the_same_conversation_is_never_in_both_parts():
    rows = [talk(str(number % 20), "x") for number in range(60)]
    train_part, dev = held_apart(rows, 0.2)
    assert dev
    assert not {row.messages for row in train_part} & {row.messages for row in dev}


def test_a_model_that_does_not_converse_cannot_learn_it_so(tmp_path):
    with pytest.raises(ValueError, match=r"converses already; say model\.from"):
        chat_text(Workspace(folder=tmp_path))
    save(chat_bundle(template=None), tmp_path / "model")
    with pytest.raises(ValueError, match="has no chat template, so it does not converse"):
        chat_text(Workspace(folder=tmp_path, start=open_folder(tmp_path / "model")))


@pytest.mark.parametrize(("change", "why"), [({"hold_out": 0}, "hold_out"), ({"max_length": 4}, "at least 16")])
def test_settings_that_make_no_sense_are_refused(change, why):
    with pytest.raises(ValueError, match=why):
        TurnsData(train="x", **change)


def test_adapters_learn_to_answer_and_the_template_travels(tmp_path):
    """From random weights: the loss falls, the folder is small, opens as a chatter, and its base is as it was."""
    recipe = write_turns(tmp_path)
    before = bundle.load(tmp_path / "start")
    changes = ["training.steps=60", "training.validate_every=30", "training.save_every=30", "training.tuning.rank=2"]
    made = train(read_recipe(recipe, [*changes, "training.schedule.peak=0.02"]), tmp_path / "run", base=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if line.get("kind") == "train"] or [
        line["loss"] for line in lines if "loss" in line
    ]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
    assert (made / ADAPTERS).exists()
    assert not (made / "model.safetensors").exists()
    chatter = Chatter(bundle.load(made))
    assert chatter.bundle.task == "conversation"
    assert chatter.bundle.preprocessing.chat_template == TEMPLATE
    assert chatter.begin().say("one")
    again = bundle.load(tmp_path / "start")
    for name, weight in before.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name])


def test_too_few_conversations_are_refused(tmp_path):
    recipe = write_turns(tmp_path)
    lines = (tmp_path / "turns.jsonl").read_text().splitlines()
    (tmp_path / "turns.jsonl").write_text(f"{lines[0]}\n")
    with pytest.raises(ValueError, match=r"turns\.jsonl: there are too few answers that fit"):
        train(read_recipe(recipe), tmp_path / "run", base=tmp_path)

"""Answers to questions: from a file of questions to a model that finds passages, also late in a long text, or none."""

import json
import math
import random

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.data.readers.squad import AskedQuestion, GivenAnswer, read_questions
from clearformer.inference.answer_finder import Answerer
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import parse_recipe
from clearformer.run.train import Interrupted, train
from clearformer.tasks import answers
from clearformer.tasks.answers import SpanObjective
from clearformer.tasks.question_data import QuestionData
from run.assembled import assemble
from support.stopping import StopsAt

TREASURES = ("11", "27", "30", "dog", "fox", "new york", "old ham", "rome")
FILLERS = ("the", "a", "is", "on", "and", "very")
QUESTION = "what is hidden ?"


def ask(draw, impossible=0.0, number=0):
    """Which words are treasure? A text has one, or none."""
    words = draw.choices(FILLERS, k=6)
    if draw.random() < impossible:
        return AskedQuestion(f"q{number}", QUESTION, " ".join(words), ())
    place, treasure = draw.randrange(6), draw.choice(TREASURES)
    before = "".join(f"{word} " for word in words[:place])
    context = f"{before}{' '.join([treasure, *words[place:]])}"
    return AskedQuestion(f"q{number}", QUESTION, context, (GivenAnswer(treasure, len(before)),))


def write(path, count, seed=1, **how):
    draw = random.Random(seed)
    paragraphs = []
    for number in range(count):
        asked = ask(draw, number=number, **how)
        given = [{"text": answer.text, "answer_start": answer.start} for answer in asked.answers]
        entry = {"id": asked.id, "question": asked.question, "answers": given, "is_impossible": not given}
        paragraphs.append({"context": asked.context, "qas": [entry]})
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    return path


def recipe(**changes):
    plain = {
        "task": "question-answering",
        "data": {"train": "train.json", "max_length": 20, "vocabulary": {"kind": "wordpiece", "vocab_size": 200}},
        "model": {
            "family": "bert", "dim": 32, "hidden_dim": 64, "layers": 1, "max_len": 20, "attention": {"heads": 2},
            "norm": {"place": "pre"},
        },
        "training": {
            "steps": 80, "save_every": 80, "validate_every": 80, "log_every": 40, "batch_tokens": 400,
            "schedule": {"kind": "cosine", "peak": 0.01, "warmup": 0.1},
        },
    }  # fmt: skip
    for key, value in changes.items():
        section, name = key.split("__")
        plain[section][name] = value
    return parse_recipe(plain, "test")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model that has learned which words are treasure, and that a text may have none."""
    folder = tmp_path_factory.mktemp("numbers")
    write(folder / "train.json", 600, impossible=0.3)
    return train(recipe(), folder / "run", base=folder)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "train.json", 60, impossible=0.2)
    return tmp_path


def test_what_is_hidden_is_learned(trained, tmp_path):
    scores = evaluate(trained, [write(tmp_path / "test.json", 200, seed=2, impossible=0.3)])
    assert scores["exact"] > 0.9
    assert scores["exact_low"] <= scores["exact"] <= scores["f1"] <= scores["f1_high"]
    assert isinstance(cf.load(trained), Answerer)


def test_where_every_question_has_an_answer_one_is_given(trained, tmp_path):
    path = write(tmp_path / "test.json", 20, seed=3)
    asked = [(one.question, one.context) for one in read_questions(path)]
    found = cf.load(trained).answer_all(asked, no_answer=False)
    assert all(one.text for one in found)


@pytest.mark.parametrize("treasure", ["27", "new york"])
def test_an_answer_says_where_it_stands(trained, treasure):
    context = f"the  is\n very\ton  {treasure} and a"
    found = cf.load(trained).answer(QUESTION, context)
    assert found.text == treasure == context[found.start : found.end]
    assert 0.5 < found.probability <= 1


@pytest.mark.parametrize("place", [0, 13, 29])
def test_an_answer_is_found_anywhere_in_a_long_text(trained, place):
    words = [f"{FILLERS[number % 5]} the" for number in range(30)]
    words[place] = "old ham"
    context = " ".join(words)
    found = cf.load(trained).answer(QUESTION, context)
    assert (found.text, found.start) == ("old ham", context.index("old ham"))


def test_that_a_text_does_not_say_is_said(trained):
    answerer = cf.load(trained)
    text = "the very is on a very"
    found = answerer.answer(QUESTION, text)
    assert (found.text, found.start, found.end) == ("", 0, 0)
    assert found.probability > 0.5
    assert answerer.answer(QUESTION, f"{text} " * 5).text == ""
    assert answerer.answer(QUESTION, text, no_answer=False).text != ""


def test_in_company_an_answer_is_the_same(trained):
    answerer = cf.load(trained)
    asked = [(QUESTION, "the dog is on"), (QUESTION, "the is on a " * 9 + "rome"), (QUESTION, "a very")]
    for one, together in zip(asked, answerer.answer_all(asked, batch=2), strict=True):
        alone = answerer.answer(*one)
        assert (alone.text, alone.start) == (together.text, together.start)
        assert alone.score == pytest.approx(together.score, abs=1e-4)


def test_probabilities_of_all_passages_and_of_none_sum_to_one(trained):
    answerer = cf.load(trained)
    cut = answers.cut_windows(answerer.tokenizer, QUESTION, "the dog is on a very " * 9, answerer.longest)
    assert len(cut.windows) > 1
    band = answerer._odds(cut, answerer.window_logits(cut.windows, 4), 30)
    total = math.log1p(float(band.exp().sum()))
    found = answerer.answer(QUESTION, "the dog is on a very " * 9)
    assert found.score == pytest.approx(max(float(band.max()), 0.0) - total, abs=1e-4)


def test_a_stopped_and_resumed_run_ends_with_the_same_bits(folder, monkeypatch):
    changes = {"training__steps": 20, "training__save_every": 5, "model__dropout": {"residual": 0.1}}
    whole = train(recipe(**changes), folder / "whole", base=folder)
    monkeypatch.setattr("clearformer.run.train.Stop", lambda: StopsAt(7))
    with pytest.raises(Interrupted):
        train(recipe(**changes), folder / "parts", base=folder)
    monkeypatch.undo()
    parts = train(recipe(**changes), folder / "parts", base=folder, resume=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


def test_every_answer_is_whole_in_some_window_and_the_others_point_to_the_first_token(folder):
    made = assemble(recipe(), folder)
    tokenizer = made.made.tokenizer
    numbers = [str(number) for number in range(10, 40)]
    context = " ".join(numbers)
    for number in numbers:
        asked = AskedQuestion("q", QUESTION, context, (GivenAnswer(number, context.index(number)),))
        rows = list(answers.encode(tokenizer, [asked], QuestionData(max_length=20)))
        assert all(len(ids) <= 20 for ids, _, _ in rows)
        spans = [(ids[span[0] : span[1] + 1], span) for ids, _, span in rows]
        inside = [tuple(ids) for ids, span in spans if span[1]]
        assert set(inside) == {tokenizer.encode(number, add_special=False).ids}
        assert all(span[0] == 0 for _, span in spans if not span[1])


def test_what_question_and_text_share_is_told_in_training_and_in_use(tmp_path):
    """The answer is the word behind the one that was asked about: found at once by who is told what both have."""
    draw = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in "aeiou"]
    paragraphs = []
    for number in range(500):
        context = draw.sample(words, 6)
        place = draw.randrange(5)
        text = " ".join(context)
        answer = {"text": context[place + 1], "answer_start": text.index(context[place + 1])}
        asked = {"id": f"q{number}", "question": f"after {context[place]} ?", "answers": [answer]}
        paragraphs.append({"context": text, "qas": [asked]})
    (tmp_path / "train.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    changes = {"data__overlap": True, "training__steps": 200, "training__validate_every": 200}
    made = train(recipe(**changes), tmp_path / "run", base=tmp_path)
    answerer = cf.load(made)
    assert answerer.bundle.config.embedding.types == 4
    assert answerer.answer("after da ?", "ba be da fo gu").text == "fo"
    [window] = answerer.cut("after da ?", "ba be da fo gu").windows
    shared = {answerer.tokenizer.piece(one) for one, kind in zip(window.ids, window.types, strict=True) if kind > 1}
    assert shared == {answerer.tokenizer.piece(one) for one in answerer.tokenizer.encode("da", add_special=False).ids}


def test_the_loss_is_the_mean_of_both_ends(folder):
    made = assemble(recipe(), folder)
    model = made.made.model.eval()
    rows = [made.prepared.train[index] for index in range(30)]
    batch = answers.collate(QuestionData(), made.prepared.preprocessing)(rows, ())
    assert set(batch.types.unique().tolist()) == {0, 1}
    log_probs = model(batch.ids, keep=batch.keep, types=batch.types).log_softmax(1)
    row = torch.arange(30)
    each = -(log_probs[row, batch.starts, 0] + log_probs[row, batch.ends, 1]) / 2
    found = answers.loss(model, batch, SpanObjective())
    assert found.total.item() == pytest.approx(each.sum().item(), rel=1e-4)
    only = answers.loss(model, batch, SpanObjective(no_answer=0.0))
    assert only.total.item() == pytest.approx(each[batch.ends > 0].sum().item(), rel=1e-4)


def test_a_question_that_leaves_no_room_is_named(folder):
    write(folder / "train.json", 30)
    content = json.loads((folder / "train.json").read_text())
    content["data"][0]["paragraphs"][0]["qas"][0]["question"] = "dog " * 20
    (folder / "dev.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"question q0: the question leaves no room for a context.*data\.max_length"):
        assemble(recipe(data__dev="dev.json"), folder)


def test_models_without_segments_learn_too(folder):
    changes = {"model__embedding": {"types": 0}, "training__steps": 4, "training__validate_every": 4}
    model = train(recipe(**changes, training__save_every=4), folder / "run", base=folder)
    assert np.isfinite(cf.load(model).answer(QUESTION, "rome").score)

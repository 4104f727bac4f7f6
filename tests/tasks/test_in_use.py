"""Loaded models as objects: one alone, several of one task together, and what cannot be."""

import pytest

import clearformer as cf
from clearformer.folder.bundle import save
from clearformer.inference.chat_settings import ChatConfig
from clearformer.inference.conversation import Chatter
from clearformer.inference.reader_ensembles import AnswererEnsemble, ClassifierEnsemble, TaggerEnsemble
from clearformer.inference.text_generator import TextGenerator
from clearformer.tasks.in_use import in_use
from support.toy_chat import chat_bundle
from support.toy_readers import HEADS, reader


def test_several_models_of_a_task_are_one_object(tmp_path):
    for head, kind in (("class", ClassifierEnsemble), ("tags", TaggerEnsemble), ("span", AnswererEnsemble)):
        one = reader(head=HEADS[head])
        assert not isinstance(in_use(one), kind)
        assert isinstance(in_use(one, one), kind)
    save(reader(head=HEADS["class"]), tmp_path / "a")
    found = cf.load(tmp_path / "a", tmp_path / "a").classify("a text")
    assert found[0].scores == pytest.approx(cf.load(tmp_path / "a").classify("a text")[0].scores)


def test_models_of_different_tasks_are_refused():
    with pytest.raises(ValueError, match="which is for text-classification: it is for tagging"):
        in_use(reader(head=HEADS["class"]), reader(head=HEADS["tags"]))


def test_a_task_without_a_common_result_is_refused():
    with pytest.raises(ValueError, match="models for embedding cannot decide together yet"):
        in_use(reader(), reader())


def test_a_language_model_with_a_chat_template_converses_and_continues_texts(tmp_path):
    save(chat_bundle(), tmp_path / "a")
    model = cf.load(tmp_path / "a")
    assert isinstance(model, Chatter)
    plain = TextGenerator(model.bundle)
    assert model.generate("Two dogs", max_new=5) == plain.generate("Two dogs", max_new=5)
    assert model.chat("Two dogs?", max_new=5) == "".join(model.begin().say("Two dogs?", ChatConfig(max_new=5)))


def test_a_template_that_is_not_read_leaves_a_model_that_continues_texts(caplog):
    model = in_use(chat_bundle(template="{% macro f() %}{% endmacro %}"))
    assert type(model) is TextGenerator
    assert "cannot converse here" in caplog.text
    assert type(in_use(chat_bundle(template=None))) is TextGenerator

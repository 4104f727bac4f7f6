"""Loaded models as objects: one alone, several of one task together, and what cannot be."""

import pytest

import clearformer as cf
from clearformer.folder.bundle import save
from clearformer.inference.reader_ensembles import AnswererEnsemble, ClassifierEnsemble, TaggerEnsemble
from clearformer.tasks.in_use import in_use
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

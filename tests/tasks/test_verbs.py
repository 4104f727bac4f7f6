"""The verbs: one declaration each, of which flags, forms and keyword arguments are made."""

from dataclasses import fields, is_dataclass

import pytest

from clearformer.folder.description import find_model
from clearformer.tasks import all_tasks, find_task, verb_of
from clearformer.tasks.verbs import VERBS

WITHOUT_OPTIONS = {"network": "tensors are given as they are", "tagging": "one text at a time, so no batch"}


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_a_verb_has_options_with_defaults_and_a_word_for_each(verb):
    assert is_dataclass(verb.options)
    verb.options()  # every field has a default
    for field in fields(verb.options):
        assert field.metadata.get("help"), f"{verb.name}: say what {field.name} does"


@pytest.mark.parametrize("task", list(all_tasks()), ids=lambda task: task.name)
def test_a_task_s_object_has_its_verb_as_a_method_that_takes_its_options(task):
    method = getattr(task.use, task.verb.name)
    assert verb_of(task.name) is task.verb
    assert task.verb.name in VERBS
    if task.name not in WITHOUT_OPTIONS:
        assert f"{task.verb.options.__name__} | None" in str(method.__annotations__["config"])
        assert "changes" in method.__annotations__


def test_the_default_models_ship():
    for verb in VERBS.values():
        if verb.default is not None:
            assert find_model(verb.default).is_dir()


@pytest.mark.parametrize("name", ["text-classification", "question-answering"])
def test_a_verb_that_can_say_why_has_an_object_with_that_method(name):
    task = find_task(name)
    assert task.verb.why is not None
    assert f"{task.verb.why.__name__} | None" in str(task.use.why.__annotations__["config"])
    for field in fields(task.verb.why):
        assert field.metadata.get("help"), f"say what {field.name} does"

"""The closed table of tasks, and what every record promises."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from clearformer.model.families import FAMILIES
from clearformer.tasks import TASKS, all_tasks, find_task, name_task, verb_of
from clearformer.tasks.task import Workspace
from support.every_kind import KINDS

TRAINED = [task for task in all_tasks() if task.training is not None]


def test_a_name_leads_to_the_record_of_that_name():
    assert [task.name for task in all_tasks()] == list(TASKS)
    with pytest.raises(ValueError, match=r"there is no task 'translations'; did you mean translation\?"):
        find_task("translations")
    with pytest.raises(ValueError, match=r"there is no task 'os\.path'; known are translation, "):
        find_task("os.path")


def test_the_table_names_the_verb_of_each_record():
    assert {name: verb_of(name).name for name in TASKS} == {task.name: task.verb.name for task in all_tasks()}


@pytest.mark.parametrize("name", KINDS)
def test_a_network_without_a_task_is_for_what_its_head_is_made_for(name):
    kind = KINDS[name]
    config = {"shape": FAMILIES[kind.family](vocab_size=5).shape, "head": {}, "front": {}}
    if kind.head is not None:
        config["head"] = {"kind": kind.head.kind}
    elif kind.family == "detr":
        config["head"] = {"kind": "boxes"}
    if kind.family in ("vit", "detr"):
        config["front"] = {"kind": "patches"}
    if kind.family == "whisper":
        config["front"] = {"kind": "sound"}
    assert name_task(None, config) == kind.task
    assert name_task("what it says", config) == "what it says"


@pytest.mark.parametrize("task", TRAINED, ids=lambda task: task.name)
def test_the_sections_of_a_recipe_have_defaults_and_frozen_fields(task):
    training = task.training
    for kind in (training.data, training.objective, training.scoring, task.verb.options):
        assert is_dataclass(kind)
        made = kind()
        if fields(made):
            with pytest.raises(AttributeError):
                setattr(made, fields(made)[0].name, None)


@pytest.mark.parametrize("task", TRAINED, ids=lambda task: task.name)
def test_a_validation_is_one_number_larger_is_better_and_the_loss_decides_among_equals(task):
    better, best = task.training.better, task.training.best
    name = best if isinstance(best, str) else best[0]
    key = name.removeprefix("-")
    good, bad = ({key: 2.0, "loss": 1.0}, {key: 1.0, "loss": 1.0})
    if name.startswith("-"):  # the fewer the better
        good, bad = bad, good
    if name == "-loss":
        assert better({"loss": 1.0}) > better({"loss": 2.0})
        return
    assert better(good) > better(bad)
    assert better({key: 1.0, "loss": 0.5}) > better(bad)
    for other in () if isinstance(best, str) else best[1:]:  # where the first is not measured, the next one decides
        assert better({other: 2.0, "loss": 1.0}) > better({other: 1.0, "loss": 0.1})


def test_only_the_process_that_begins_a_run_makes_things_anew():
    folder = Path("x")
    assert Workspace(folder=folder).anew
    assert not Workspace(folder=folder, resume=True).anew
    assert not Workspace(folder=folder, first=False).anew

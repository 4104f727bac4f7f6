"""Every task that trains: killed or stopped and resumed, its run ends with the bits of one that was left alone.

And what its model says of an example does not depend on what else is asked at the same time.
"""

import json
import signal
import time
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

import clearformer as cf
from clearformer.run import train
from clearformer.run.recipe import read_recipe
from clearformer.tasks import all_tasks, find_task
from flows import killing
from flows.tiny_tasks import OTHER_WAYS, TINY, drawn
from support.discs import discs
from support.spoken import say
from support.toy_boxes import draw_many

TRAINED = [task.name for task in all_tasks() if task.training is not None]
# What to ask of the verbs that take several at once. Others are asked one by one, and their parts are tested elsewhere.
SENTENCES = ("two one", "one two three four", "three", "the [MASK] dog", "")
DIGITS = tuple(drawn(5, seed=3)[0][..., None])
SEVERAL: dict[str, Sequence[Any]] = {
    "translation": SENTENCES[:3],
    "summarization": SENTENCES[:4],
    "text-classification": SENTENCES[:4],
    "masked-language-model": tuple(f"the {word} [MASK]" + " dog" * count for count, word in enumerate(("old", "red"))),
    "denoising": SENTENCES[:4],
    "picture-classification": DIGITS,
    "autoencoding": DIGITS,
    "segmentation": tuple(discs(seed, height=16 + 8 * seed, width=24)[0] for seed in range(4)),
    "detection": tuple(one.pixels for one in draw_many(4, seed=3)),
    "transcription": (say("do", 1), say("re mi do do mi", 2), say("mi mi", 3)),
    "painting": ("7", "0", "1"),
}
ONE_BY_ONE = {"language-model", "conversation", "tagging", "question-answering"}
SHORT = ("training.steps=12", "training.save_every=4", "training.validate_every=6", "training.log_every=1")


@pytest.fixture(scope="module", params=[*TRAINED, *OTHER_WAYS])
def folder(request, tmp_path_factory):
    """The data of a task with a recipe; a task that trains and has none here has no promise either."""
    folder = tmp_path_factory.mktemp("data")
    (TINY | OTHER_WAYS)[request.param](folder)
    return folder


@pytest.fixture(scope="module")
def whole(folder):
    """What a run that was left alone leaves behind."""
    out = folder / f"whole-{time.monotonic_ns()}"
    killing.finish(killing.start(folder, out, SHORT))
    return killing.result(out)


@pytest.mark.slow
def test_killed_and_resumed_a_run_ends_bit_equal(folder, whole, tmp_path):
    out = tmp_path / "killed"
    moments = killing.saving(0), killing.logged("train", 6), killing.saving(8), killing.saved(12)
    killing.kill_at_each(lambda: killing.start(folder, out, SHORT), out, moments)
    killing.finish(killing.start(folder, out, SHORT))
    assert killing.differences(killing.result(out), whole) == []


@pytest.mark.slow
def test_stopped_and_resumed_a_run_ends_bit_equal(folder, whole, tmp_path):
    out = tmp_path / "stopped"
    for step in (3, 7):
        process = killing.start(folder, out, SHORT)
        killing.signal_when(process, out, killing.logged("train", step), signal.SIGTERM)
        killing.finish(process, code=3)
        assert not (out / "model").exists()
    killing.finish(killing.start(folder, out, SHORT))
    assert killing.differences(killing.result(out), whole) == []


def test_the_folder_says_its_task_and_opens_as_that(folder, whole):
    described = json.loads(whole["model/config.json"])
    [path] = folder.glob("*.toml")
    assert described["task"] == read_recipe(path).task
    assert described["format"] == 2
    out = next(folder.glob("whole-*"))
    assert isinstance(cf.load(out), find_task(described["task"]).use)


def test_every_task_is_asked_several_at_once_or_one_by_one():
    assert SEVERAL.keys() | ONE_BY_ONE == set(TRAINED)


def test_alone_and_in_company_the_answer_is_the_same(folder, whole):
    task = find_task(json.loads(whole["model/config.json"])["task"])
    if task.name in ONE_BY_ONE:
        pytest.skip("asked one by one")
    model = cf.load(next(folder.glob("whole-*")))
    ask = getattr(model, task.verb.name)
    many = ask(list(SEVERAL[task.name]))
    alone = [answer for one in SEVERAL[task.name] for answer in ask([one])]
    assert len(many) == len(alone) > 1
    for one, other in zip(many, alone, strict=True):
        assert_alike(one, other)


def assert_alike(one: Any, other: Any) -> None:
    """Equal, and numbers that a network computed equal but for their last digits."""
    assert type(one) is type(other)
    if is_dataclass(one):
        one, other = vars(one), vars(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, np.ndarray):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_alike(mine, theirs)
    else:
        assert one == (pytest.approx(other, rel=1e-4, abs=1e-5) if isinstance(one, float) else other)


def test_a_resumed_run_takes_the_same_data_or_none(folder, tmp_path):
    """Asked twice, it is refused twice; the shards of the first data stay."""
    [path] = folder.glob("*.toml")
    copy = tmp_path / "data"
    TINY[read_recipe(path).task](copy)
    [recipe_path] = copy.glob("*.toml")
    recipe = read_recipe(recipe_path, [*SHORT, "training.steps=2"])
    train.train(recipe, tmp_path / "out", base=copy)
    files = ("train.words", "train.figures", "prose.txt", "turns.jsonl", "mails.jsonl", "reviews.tsv", "names.conll")
    files = (*files, "digits.idx", "spoken.tsv")
    for name in files:
        if (file := copy / name).exists():
            content = file.read_bytes()
            lines = content.splitlines(keepends=True)
            file.write_bytes(content[:-1] + b"\x00" if name == "digits.idx" else b"".join(lines[:-20]))
    if (file := copy / "pictures.idx").exists() and not (copy / "digits.idx").exists():
        file.write_bytes(file.read_bytes()[:-1] + b"\x00")
    if (file := copy / "questions.json").exists():
        file.write_bytes(file.read_bytes().replace(b"how many", b"how much"))
    if (file := copy / "discs" / "masks" / "00.png").exists():
        file.write_bytes((copy / "discs" / "masks" / "01.png").read_bytes())
    if (file := copy / "boxes.json").exists():
        file.write_bytes(file.read_bytes().replace(b"disc", b"ring"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"not the data that the run was begun with .* begin anew"):
            train.train(recipe, tmp_path / "out", base=copy, resume=True)


def test_missing_data_is_refused_before_anything_is_made(folder, tmp_path):
    [path] = folder.glob("*.toml")
    recipe = read_recipe(path, SHORT)
    with pytest.raises(ValueError, match=r"does not exist; data\.train"):
        train.train(recipe, tmp_path / "out", base=tmp_path / "elsewhere")
    assert list(tmp_path.iterdir()) == []

"""What is said before a run starts, and how a given time changes it."""

import logging
from dataclasses import replace

import pytest

from clearformer.run import pace, train
from clearformer.run.plan import foresee, make_loop, size_in_words
from clearformer.run.recipe import read_recipe
from clearformer.training.distributed import Ranks
from clearformer.training.metrics_log import read_records
from flows.tiny_tasks import TINY, write_digits
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_digits(tmp_path))


@pytest.mark.parametrize("task", TINY)
def test_memory_and_time_are_said_for_every_task(task, tmp_path, caplog):
    recipe = read_recipe(TINY[task](tmp_path))
    made = assemble(recipe, tmp_path)
    loop = make_loop(recipe, made.made, made.parts(), tmp_path / "run", Ranks())
    with caplog.at_level(logging.INFO):
        assert foresee(loop, recipe, None) == recipe
    assert "memory: about" in caplog.text
    assert f"time: {recipe.training.steps} steps, about" in caplog.text
    assert loop.training.progress.step == 0


def test_what_was_built_is_said_in_numbers_of_its_own(tmp_path):
    """A table asks for more pieces than so little text gives, and the sentence counts those that there are."""
    recipe = read_recipe(TINY["text-classification"](tmp_path))
    made = assemble(recipe, tmp_path).made
    said = size_in_words(made)
    assert f"{sum(one.numel() for one in made.model.parameters()):,} parameters" in said
    assert f"vocabulary of {made.config.vocab_size:,} tokens" in said
    made.model.requires_grad_(False)
    assert ", 0 of them learn" in size_in_words(made)


def test_the_schedule_is_that_of_the_recipe(recipe, tmp_path):
    made = assemble(recipe, tmp_path)
    loop = make_loop(recipe, made.made, made.parts(), tmp_path / "run", Ranks())
    schedule = recipe.training.schedule
    assert loop.schedule(schedule.warmup_steps(recipe.training.steps)) == pytest.approx(schedule.peak)


def test_a_given_time_changes_the_steps_by_the_measured_pace_and_keeps_the_shares(recipe, tmp_path, monkeypatch):
    """At half a second per step, 0.2 minutes are as many steps as fit into nine tenths of it."""
    monkeypatch.setattr(pace, "seconds_per_step", lambda loop: 0.5)
    longer = replace(recipe, training=replace(recipe.training, steps=1200, save_every=100, validate_every=300))
    made = assemble(longer, tmp_path)
    loop = make_loop(longer, made.made, made.parts(), tmp_path / "run", Ranks())
    fitted = foresee(loop, longer, 0.2)
    steps = int(pace.SPARE * 12 / 0.5)
    assert fitted.training.steps == steps
    assert fitted.training.schedule.warmup_steps(steps) == round(0.25 * steps)
    assert steps // fitted.training.validate_every <= 1200 // 300  # a short run does not look more often
    assert replace(fitted, training=longer.training) == longer


def test_a_run_of_some_seconds_ends_after_the_steps_that_were_planned(recipe, tmp_path, monkeypatch):
    """The recipe in its folder says how many, its last record is of that step, and resuming finds it finished."""
    measured = []
    real = pace.seconds_per_step
    monkeypatch.setattr(pace, "seconds_per_step", lambda loop: measured.append(real(loop)) or max(measured[-1], 0.05))
    long = replace(recipe, training=replace(recipe.training, steps=100_000))
    planned = []
    watchers = train.Watchers(plan=lambda steps, unit: planned.append((steps, unit)))
    model = train.train(long, tmp_path / "out", base=tmp_path, minutes=0.05, watchers=watchers)
    steps = max(10, int(pace.SPARE * 3 / max(measured[0], 0.05)))
    assert planned == [(steps, "pictures")]
    kept = read_recipe(tmp_path / "out" / "recipe.toml")
    assert kept.training.steps == steps
    assert read_records(tmp_path / "out" / "metrics.jsonl")[-1]["step"] == steps
    assert train.train(kept, tmp_path / "out", base=tmp_path / "out", resume=True) == model
    assert len(measured) == 1  # a resumed run is not planned again


def test_no_time_at_all_is_refused(recipe):
    with pytest.raises(ValueError, match="--minutes must be above 0, not 0"):
        pace.fitted(recipe.training, 0, 1.0)

"""Steps that are rehearsed to be timed leave no trace, and a run can be fitted into the time that somebody has."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.data.collate import collate_pairs
from clearformer.model.build import build
from clearformer.model.config import NormConfig
from clearformer.model.families import transformer
from clearformer.model.weights import weights_of
from clearformer.run.pace import fitted, in_words, seconds_per_step
from clearformer.tasks.next_token import NextTokenObjective
from clearformer.tasks.translation import loss as translation_loss
from clearformer.training.checkpoint import moments_of
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, LoopParts, TrainingConfig
from clearformer.training.optimiser import OptimiserConfig
from clearformer.training.schedule import ScheduleConfig

VOCABULARY = 30
OPTIMISERS = {
    f"{kind}{' and an average' if ema else ''}": OptimiserConfig(kind=kind, ema=ema, decay=0.1, clip=1.0)
    for kind in ("adam", "muon")
    for ema in (0.0, 0.9)
}


def batch_at(place):
    generator = np.random.default_rng(place)
    rows = [tuple(generator.integers(4, VOCABULARY, generator.integers(2, 7)) for _ in range(2)) for _ in range(4)]
    return collate_pairs(rows, pad=0, bos=1, eos=2)


def make(folder, optimiser, *, bad=()):
    """A small translator with dropout, and batch norms, which count in their own way. bad: places without a loss."""
    torch.manual_seed(3)
    model = build(
        transformer(vocab_size=VOCABULARY, dim=16, hidden_dim=24, layers=1, heads=2, norm=NormConfig(kind="batch"))
    )
    parts = LoopParts(
        batch_at=lambda place: (batch_at(place), place in bad),
        loss=lambda model, given: scaled(translation_loss(model, given[0], NextTokenObjective()), given[1]),
        validate=lambda model, step: {"score": 0.0},
        better=lambda scores: 0.0,
    )
    config = TrainingConfig(steps=6, save_every=3, log_every=1, optimiser=optimiser, schedule=ScheduleConfig(warmup=2))
    return Loop(model, parts, config, lambda step: 0.01 * step, folder, Ranks())


def scaled(loss, bad):
    return loss._replace(total=loss.total * math.nan) if bad else loss


def state(loop):
    """Everything that the next step depends on."""
    training = loop.training
    tensors = {f"weight {name}": weight for name, weight in weights_of(training.model).items()}
    tensors |= {f"moment {name}": moment for name, moment in moments_of(training.model, training.optimiser).items()}
    tensors |= {} if training.ema is None else {f"average {name}": w for name, w in training.ema.weights.items()}
    rates = [group["lr"] for group in training.optimiser.param_groups]
    return {name: tensor.clone() for name, tensor in tensors.items()}, rates, copy.deepcopy(vars(training.progress))


def assert_equal(ours, theirs):
    (tensors, *numbers), (others, *their_numbers) = ours, theirs
    assert numbers == their_numbers
    assert tensors.keys() == others.keys()
    assert [name for name in tensors if not torch.equal(tensors[name], others[name])] == []


@pytest.mark.parametrize("steps", [0, 3], ids=["before the first step", "in the middle"])
@pytest.mark.parametrize("optimiser", OPTIMISERS.values(), ids=OPTIMISERS)
def test_rehearsed_steps_leave_no_trace(tmp_path, optimiser, steps):
    loop = make(tmp_path, optimiser)
    for _ in range(steps):
        loop.update()
    before = state(loop)
    assert seconds_per_step(loop) > 0
    assert_equal(state(loop), before)
    assert all(parameter.grad is None for parameter in loop.training.model.parameters())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("optimiser", OPTIMISERS.values(), ids=OPTIMISERS)
def test_a_rehearsed_run_is_bit_for_bit_the_run_that_would_have_been(tmp_path, optimiser):
    plain, rehearsed = make(tmp_path / "plain", optimiser), make(tmp_path / "rehearsed", optimiser)
    seconds_per_step(rehearsed)
    for loop in (plain, rehearsed):
        loop.run()
    assert_equal(state(rehearsed), state(plain))
    for file in sorted((tmp_path / "plain" / "checkpoints" / "00000006").iterdir()):
        assert (tmp_path / "rehearsed" / "checkpoints" / "00000006" / file.name).read_bytes() == file.read_bytes()


def test_rehearsed_steps_without_a_usable_loss_leave_no_trace(tmp_path):
    """They are refused, counted and, after several, rolled back: the run itself will meet them, and say so."""
    loop = make(tmp_path, OPTIMISERS["adam"], bad=range(20))
    loop.config = replace(loop.config, bad_updates=2)
    before = state(loop)
    seconds_per_step(loop)
    assert_equal(state(loop), before)


@pytest.mark.parametrize(("minutes", "validations", "saves"), [(0.5, 2, 2), (3, 6, 6), (7, 10, 14), (600, 10, 20)])
def test_a_run_fitted_into_a_time_keeps_its_proportions(minutes, validations, saves):
    """As many validations and checkpoints, but at most two per minute, and a warm-up of the same share of the steps."""
    config = TrainingConfig(steps=10_000, save_every=500, validate_every=1000, schedule=ScheduleConfig(warmup=2000))
    found = fitted(config, minutes, step_seconds=0.1)
    assert found.steps == int(0.9 * 60 * minutes / 0.1)
    assert found.steps / found.validate_every == pytest.approx(validations, rel=0.05)
    assert found.steps / found.save_every == pytest.approx(saves, rel=0.05)
    assert found.schedule.warmup_steps(found.steps) / found.steps == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("step_seconds", [1e-6, 1.0, 1e6])
def test_a_fitted_run_is_always_one_that_may_be_trained(step_seconds):
    """However slow the machine: TrainingConfig refuses a warm-up as long as the run, or a period of no steps."""
    found = fitted(TrainingConfig(), 1, step_seconds)
    assert found.steps >= 10
    assert found.schedule.warmup_steps(found.steps) < found.steps


@pytest.mark.parametrize("minutes", [0, -1])
def test_no_time_is_not_enough(minutes):
    with pytest.raises(ValueError, match=rf"--minutes must be above 0, not {minutes}"):
        fitted(TrainingConfig(), minutes, 1.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.01, "1 second"), (45, "45 seconds"), (120, "2 minutes"), (7100, "118 minutes"), (9000, "2.5 hours")],
)
def test_a_time_as_people_say_it(seconds, words):
    assert in_words(seconds) == words

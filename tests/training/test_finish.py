"""What a finished run hands over: the best checkpoint, or the mean of the last, whatever happened on the way."""

import pytest
import torch

from clearformer.foundation import storage
from clearformer.model.weights import weights_of
from clearformer.training.finish import finish
from clearformer.training.optimiser import OptimiserConfig
from clearformer.training.signals import Stop
from training.toy import Spelling, make_loop

SCORES = {5: 1.0, 10: 9.0, 15: 3.0, 20: 2.0}


def finished(folder, *, stop_at=None, **changes):
    """The weights of a run of 20 steps that was best at step 10; it may be stopped on the way and resumed."""
    loop = make_loop(folder, Spelling(scores=SCORES), validate_every=5, **changes)
    if stop_at is not None:
        stop = Stop()
        loop.run(stop=stop, watch=lambda report: setattr(stop, "asked", report.progress.step >= stop_at))
        loop = make_loop(folder, Spelling(scores=SCORES), validate_every=5, **changes)
        loop.resume()
    loop.run()
    finish(loop)
    return {name: weight.clone() for name, weight in weights_of(loop.training.model).items()}


def stored(folder, step, file="model.safetensors"):
    return storage.read_tensors(folder / "checkpoints" / f"{step:08d}" / file)


def equal(ours, theirs):
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_one_checkpoint_is_the_best_not_the_last(tmp_path):
    found = finished(tmp_path)
    assert equal(found, stored(tmp_path, 10))
    assert not equal(found, stored(tmp_path, 20))


def test_several_are_the_mean_of_the_last(tmp_path):
    found = finished(tmp_path, average=3)
    parts = [stored(tmp_path, step) for step in (10, 15, 20)]
    for name, weight in found.items():
        assert torch.equal(weight, (sum(part[name].double() for part in parts) / 3).float())


def test_the_random_weights_of_step_0_are_never_mixed_in(tmp_path):
    """Five are asked for and the run has four."""
    found = finished(tmp_path, average=5)
    assert (tmp_path / "checkpoints" / "00000000").exists()
    parts = [stored(tmp_path, step) for step in (5, 10, 15, 20)]
    for name, weight in found.items():
        assert torch.equal(weight, (sum(part[name].double() for part in parts) / 4).float())


def test_with_a_moving_average_it_is_that_of_the_best_checkpoint(tmp_path):
    found = finished(tmp_path, optimiser=OptimiserConfig(ema=0.9))
    assert equal(found, stored(tmp_path, 10, "ema.safetensors"))


def test_a_run_without_a_validation_hands_over_its_last_weights(tmp_path):
    loop = make_loop(tmp_path, validate_every=100)
    loop.run()
    last = {name: weight.clone() for name, weight in weights_of(loop.training.model).items()}
    finish(loop)
    assert equal(weights_of(loop.training.model), last)


@pytest.mark.parametrize("average", [1, 3])
def test_an_interruption_does_not_show_in_the_result(tmp_path, average):
    """The checkpoint that it left at step 17 is not among those that are averaged."""
    whole = finished(tmp_path / "whole", average=average)
    assert equal(finished(tmp_path / "stopped", average=average, stop_at=17), whole)


def test_a_damaged_checkpoint_is_named_and_never_handed_over(tmp_path):
    loop = make_loop(tmp_path, Spelling(scores=SCORES), validate_every=5)
    loop.run()
    path = loop.checkpoints.path(10) / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(storage.DamagedError, match=r"00000010.model\.safetensors is damaged"):
        finish(loop)

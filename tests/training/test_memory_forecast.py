from dataclasses import replace

import pytest
import torch
from torch import nn

from clearformer.data.collate import PictureBatch
from clearformer.foundation.machine import resident_bytes
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, LoopParts, TrainingConfig
from clearformer.training.loss import Loss, cross_entropy
from clearformer.training.memory_forecast import MemoryForecast, estimate, forecast, kept_for_backward
from clearformer.training.optimiser import OptimiserConfig
from training.footprint import measure
from training.toy import Spelling, make_loop


@pytest.mark.parametrize(
    "case",
    [{"dim": 128, "length": 60}, {"dim": 512, "length": 12}, {"dim": 128, "length": 30, "r_drop": 1.0, "ema": 0.9}],
    ids=["activations weigh most", "weights weigh most", "two passes and an average"],
)
def test_the_estimate_is_within_a_factor_of_two_of_what_the_process_grows_by(case, libraries):
    expected, grown = measure(**case)
    taken = grown - libraries
    assert 0.5 < taken / expected < 2, f"{expected / 1e6:.0f} MB expected, {taken / 1e6:.0f} MB measured"


@pytest.fixture(scope="module")
def libraries():
    """What the first steps of any run make the libraries allocate for themselves: a model of next to nothing shows."""
    expected, grown = measure(dim=8, length=2)
    assert expected < 10e6
    return grown


def test_weights_gradients_moments_and_average_are_counted_exactly(tmp_path):
    loop = make_loop(tmp_path, optimiser=OptimiserConfig(ema=0.9))
    loop.training.model.mix.bias.requires_grad_(False)
    found = estimate(loop.training, lambda: Loss(torch.zeros(()), 1, {}), rows=3)
    assert replace(found, libraries=None) == MemoryForecast(
        weights=4 * (11 * 8 + 8 * 8 + 8),
        gradients=4 * (11 * 8 + 8 * 8),
        moments=8 * (11 * 8 + 8 * 8),
        average=4 * (11 * 8 + 8 * 8 + 8),
        activations=0,
    )


def test_activations_by_hand():
    """tanh of a product keeps the product's input, 10 × 8, and its own output, 10 × 16, the larger one: four times."""
    model, x = nn.Linear(8, 16), torch.randn(10, 8)
    found = kept_for_backward(model, lambda: Loss(model(x).tanh().sum(), 1, {}))
    assert found == 4 * (10 * 8 + 4 * 10 * 16)


def test_looking_changes_nothing():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    kept_for_backward(model, lambda: Loss(model(torch.randn(5, 4)).sum(), 1, {}))
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_more_rows_take_more_memory(tmp_path):
    spelling = Spelling()
    loop = make_loop(tmp_path, spelling)

    def forward():
        return spelling.loss(loop.training.model, spelling.batch_at(0))

    one, ten = estimate(loop.training, forward, 1), estimate(loop.training, forward, 10)
    assert ten.activations == 10 * one.activations > 0
    assert ten.weights == one.weights


class Rows(torch.nn.Module):
    """Predicts the class of a picture from its pixels."""

    def __init__(self):
        super().__init__()
        self.to_labels = nn.Linear(12, 5)

    def forward(self, pictures):
        return self.to_labels(pictures.flatten(1))


def test_the_forecast_of_a_run_looks_at_one_row_of_its_largest_batch(tmp_path):
    """The plan begins with that batch; a run in several threads has gradients in each of them."""
    asked, seen = [], []

    def batch_at(place):
        asked.append(place)
        return PictureBatch(pictures=torch.randn(6, 3, 2, 2), labels=torch.zeros(6, dtype=torch.long))

    def loss(model, batch):
        seen.append(len(batch))
        return cross_entropy(model(batch.pictures), batch.labels)

    def found(replicas):
        parts = LoopParts(
            batch_at=batch_at, loss=loss, validate=lambda *_: {}, better=lambda _: 0.0, split=lambda b, n: b.split(n)
        )
        config = TrainingConfig(steps=1, replicas=replicas)
        return forecast(Loop(Rows(), parts, config, lambda step: 0.1, tmp_path, Ranks()))

    one, three = found(1), found(3)
    assert asked == [0, 0]
    assert seen == [1, 1]
    assert (one.activations, one.activations % 6) == (three.activations, 0)
    assert three.gradients == 3 * one.gradients == 3 * 4 * (12 * 5 + 5)


def test_a_sentence_for_people():
    memory = MemoryForecast(weights=10**7, gradients=10**7, moments=2 * 10**7, average=10**7, activations=5 * 10**8)
    counted = "about 550 MB (weights 10, gradients 10, moments 30, largest batch 500)"
    assert str(memory) == counted
    assert str(replace(memory, libraries=350 * 10**6)) == f"{counted}, beside about 350 MB for Python and PyTorch"
    assert not memory.exceeds_this_machine()
    assert MemoryForecast(weights=10**16, gradients=0, moments=0, average=0, activations=0).exceeds_this_machine()


def test_what_python_and_pytorch_hold_is_measured_and_the_weights_are_not_counted_twice(tmp_path):
    loop = make_loop(tmp_path)
    found = estimate(loop.training, lambda: Loss(torch.zeros(()), 1, {}), rows=1)
    resident = resident_bytes()
    assert (found.libraries is None) == (resident is None)
    if found.libraries is not None:
        assert 50e6 < found.libraries <= resident

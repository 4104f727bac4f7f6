"""Samples through convolutions: how many states, what each is made of, and that what fills up is not heard."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from clearformer.model.build_parts import front
from clearformer.model.config import FrontConfig, ModelConfig, PositionConfig, SamplesConfig
from clearformer.model.sample_frontend import EachNorm, FirstNorm, PlaceConvolution, SampleConvolution

READ = {"widths": (6, 5), "kernels": (4, 3), "strides": (3, 2), "place_kernel": 4, "place_groups": 2}


def made(**choices):
    """A front end whose every number differs from its default."""
    config = ModelConfig(
        shape="encoder", vocab_size=9, dim=8, position=PositionConfig(kind="none"),
        front=FrontConfig(kind="samples", norm=True), samples=SamplesConfig(**READ | choices),
    )  # fmt: skip
    torch.manual_seed(3)
    part = front(config).eval()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return part, config.samples


@torch.no_grad()
def test_as_many_states_as_windows_fit():
    part, read = made()
    assert (read.reach, read.hop) == (4 + 3 * 2, 6)
    for count in (10, 15, 16, 40):
        states = (count - read.reach) // read.hop + 1
        x, keep, positions = part(torch.randn(2, count))
        assert (x.shape, keep, positions.shape) == ((2, states, 8), None, (1, states))


def test_the_published_stack_makes_fifty_states_a_second():
    usual = SamplesConfig()
    assert (usual.reach, usual.hop, 16_000 / usual.hop) == (400, 320, 50)


@torch.no_grad()
@pytest.mark.parametrize("norm", ["first", "each"])
def test_what_fills_up_a_recording_is_not_heard(norm):
    part, read = made(norm=norm)
    sounds = [torch.randn(length) for length in (70, 41, read.reach)]
    samples, keep = torch.randn(3, 70), torch.zeros(3, 70, dtype=torch.bool)  # noise, not silence, behind each
    for row, sound in enumerate(sounds):
        samples[row, : len(sound)], keep[row, : len(sound)] = sound, True
    x, real, _ = part(samples, keep)
    for row, sound in enumerate(sounds):
        alone = part(sound[None]).x[0]
        assert int(real[row].sum()) == len(alone)
        torch.testing.assert_close(x[row, : len(alone)], alone, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_what_is_heard_is_made_of_the_samples_that_it_reaches():
    part, read = made(norm="each")
    sound = torch.randn(1, 60)
    spoiled = sound.clone()
    spoiled[:, read.hop + read.reach :] += 1  # behind what the second one reaches
    before, after = part.listen(sound, None)[0][0], part.listen(spoiled, None)[0][0]
    torch.testing.assert_close(after[:2], before[:2], rtol=0, atol=0)
    assert (after[2] - before[2]).abs().max() > 1e-4


def test_a_norm_over_time_by_hand():
    norm = FirstNorm(1, eps=0.0)
    found = norm(torch.tensor([[[1.0, 3.0, 99.0]]]), torch.tensor([[True, True, False]]))
    torch.testing.assert_close(found[0, 0, :2], torch.tensor([-1.0, 1.0]))
    x = torch.randn(2, 3, 7)
    torch.testing.assert_close(FirstNorm(3)(x), F.group_norm(x, 3))


def test_a_norm_of_each_place():
    x = torch.randn(2, 3, 7)
    torch.testing.assert_close(EachNorm(3)(x), F.layer_norm(x.mT, (3,)).mT)


@torch.no_grad()
@pytest.mark.parametrize("kernel", [1, 4, 5])
def test_places_are_a_convolution_with_weights_of_a_length(kernel):
    part = PlaceConvolution(6, kernel=kernel, groups=3, activation=torch.tanh)
    theirs = nn.utils.parametrizations.weight_norm(nn.Conv1d(6, 6, kernel, padding=kernel // 2, groups=3), dim=2)
    part.direction.normal_(), part.length.uniform_(0.5, 2), part.bias.normal_()
    theirs.parametrizations.weight.original0.copy_(part.length)
    theirs.parametrizations.weight.original1.copy_(part.direction)
    theirs.bias.copy_(part.bias)
    x = torch.randn(2, 9, 6)
    torch.testing.assert_close(part(x), theirs(x.mT).mT[:, :9].tanh())


def test_fresh_weights_have_the_length_of_their_direction():
    part = PlaceConvolution(8, kernel=3, groups=2, activation=F.gelu)
    torch.testing.assert_close(part.length[0, 0, 1], part.direction[:, :, 1].norm())


def test_a_convolution_counts_what_it_leaves():
    layer = SampleConvolution(nn.Conv1d(1, 2, 4, 3), norm=None, activation=F.gelu)
    assert [layer.count(length) for length in (4, 6, 7)] == [1, 1, 2]
    assert layer.count(torch.tensor([4, 7])).tolist() == [1, 2]


def test_what_cannot_be_read_is_refused():
    part, _ = made()
    with pytest.raises(ValueError, match="at most 9 samples is too short for one state; add silence"):
        part(torch.randn(1, 9))
    keep = torch.ones(2, 30, dtype=torch.bool)
    keep[1, 5:] = False
    with pytest.raises(ValueError, match="too short for one state"):
        part(torch.randn(2, 30), keep)
    with pytest.raises(ValueError, match="must be floats, batch × length"):
        part(torch.zeros(1, 30, 2))
    with pytest.raises(ValueError, match="stands behind them"):
        part(torch.randn(2, 30), keep.flip(1))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"kernels": (4,)}, "must have as many numbers, one for each convolution"),
        ({"strides": (3, 0)}, "strides are whole numbers of at least 1"),
        ({"place_kernel": 0}, "samples.place_groups must be at least 1"),
        ({"place_groups": 3}, "samples.place_groups, 3, does not divide a width of 8"),
    ],
)
def test_sizes_that_do_not_fit_are_named(choices, message):
    with pytest.raises(ValueError, match=message):
        made(**choices)


def test_places_are_shown_once():
    with pytest.raises(ValueError, match=r'set position\.kind to "none", not sinusoidal'):
        ModelConfig(shape="encoder", vocab_size=9, dim=16, front=FrontConfig(kind="samples"))

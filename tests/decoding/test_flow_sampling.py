"""The straight way from noise to picture: with somebody who knows the picture, every sampler arrives."""

import pytest
import torch

from clearformer.decoding.flow_sampling import guided, mix, sample_flow


@pytest.mark.parametrize("steps", [1, 2, 7, 30])
def test_whoever_knows_the_picture_arrives_at_it(steps):
    torch.manual_seed(1)
    picture, noise = torch.randn(3, 1, 4, 4), torch.randn(3, 1, 4, 4)
    found = sample_flow(noise, lambda x, t: picture, steps=steps)
    torch.testing.assert_close(found, picture)


def test_the_way_is_the_mixture_at_every_time():
    torch.manual_seed(1)
    picture, noise = torch.randn(2, 1, 4, 4), torch.randn(2, 1, 4, 4)
    seen = []
    sample_flow(noise, lambda x, t: picture, steps=5, seen=lambda t, x, clean: seen.append((t, x)))
    assert [t for t, _ in seen] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    for t, x in seen:
        torch.testing.assert_close(x, mix(picture, noise, torch.full((2,), t)))


def test_a_normal_distribution_is_painted_as_it_is():
    """For numbers that are normal with mean 2 and deviation 0.5 the best guess is known: samples have both again."""
    mean, deviation = 2.0, 0.5

    def clean(x, t):
        variance = t**2 * deviation**2 + (1 - t) ** 2
        return mean + t * deviation**2 / variance * (x - t * mean)

    torch.manual_seed(1)
    found = sample_flow(torch.randn(20_000, 1), clean, steps=30)
    assert float(found.mean()) == pytest.approx(mean, abs=0.02)
    assert float(found.std()) == pytest.approx(deviation, abs=0.03)
    coarse = sample_flow(torch.randn(20_000, 1), clean, steps=2)
    assert abs(float(coarse.std()) - deviation) > abs(float(found.std()) - deviation)


def test_both_ends_of_a_mixture():
    picture, noise = torch.ones(2, 3), torch.zeros(2, 3)
    assert mix(picture, noise, torch.tensor([0.0, 1.0])).tolist() == [[0.0] * 3, [1.0] * 3]


def test_guidance_of_one_is_the_class_and_of_zero_is_none():
    told, untold = torch.randn(4), torch.randn(4)
    assert torch.equal(guided(told, untold, 1.0), told)
    assert torch.equal(guided(told, untold, 0.0), untold)
    assert torch.equal(guided(told, None, 1.0), told)
    torch.testing.assert_close(guided(told, untold, 3.0), 3 * told - 2 * untold)
    torch.testing.assert_close(guided(told, untold, 0.25), 0.25 * told + 0.75 * untold)


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="a sampler takes at least one step, not 0"):
        sample_flow(torch.zeros(1), lambda x, t: x, steps=0)

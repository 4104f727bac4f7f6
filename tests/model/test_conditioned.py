"""A stack that is told a class and a time: both matter, a fresh one ignores them, order is kept where it is wanted."""

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.conditioned import AdaptiveResidual, Told, waves
from clearformer.model.config import ConditionConfig, FrontConfig, HeadConfig
from clearformer.model.trace import trace
from model.specimens import VOCAB, configured, specimen

CODED = {"front": FrontConfig(), "head": HeadConfig(), "max_len": 9}


def test_shapes():
    """Pictures B C Y X become pictures; codes B T become logits B T V; what is told is B 8 D."""
    pictures, codes = torch.randn(2, 3, 8, 8), torch.randint(VOCAB, (2, 9))
    painter = specimen("dit")
    with trace(painter) as seen, torch.no_grad():
        assert painter(pictures, torch.tensor([0, 3]), torch.tensor([0.1, 0.9])).shape == (2, 3, 8, 8)
    assert seen["encoder.told"].shape == (2, 8, 32)
    with torch.no_grad():
        assert specimen("dit", **CODED)(codes, torch.tensor([0, 1])).shape == (2, 9, VOCAB)


def test_what_is_told_changes_what_is_drawn():
    painter, picture = specimen("dit"), torch.randn(1, 3, 8, 8)
    with torch.no_grad():
        drawn = [
            painter(picture, torch.tensor([kind]), torch.tensor([time])) for kind in (0, 1, 3) for time in (0.2, 0.7)
        ]
    for place, one in enumerate(drawn):
        assert all((one - other).abs().max() > 1e-3 for other in drawn[place + 1 :])


def test_nothing_said_is_any_class_at_time_zero():
    painter, picture = specimen("dit"), torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        torch.testing.assert_close(painter(picture), painter(picture, torch.tensor([3, 3]), torch.zeros(2)))


def test_each_row_is_told_its_own():
    painter, pictures = specimen("dit"), torch.randn(3, 3, 8, 8)
    kinds, times = torch.tensor([2, 0, 3]), torch.tensor([0.0, 0.5, 0.9])
    with torch.no_grad():
        together = painter(pictures, kinds, times)
        for row in range(3):
            alone = painter(pictures[row : row + 1], kinds[row : row + 1], times[row : row + 1])
            torch.testing.assert_close(alone[0], together[row], rtol=1e-5, atol=1e-5)


def test_a_fresh_stack_passes_its_input_on():
    """Every gate begins shut: the layers of a fresh model change nothing, whatever they are told."""
    torch.manual_seed(1)
    painter = build(configured("dit")).eval()
    with trace(painter) as seen, torch.no_grad():
        painter(torch.randn(1, 3, 8, 8), torch.tensor([1]), torch.tensor([0.5]))
    assert torch.equal(seen["encoder.layers.1.output"], seen["encoder.front.output"])


def test_the_residual_is_its_formula():
    residual = AdaptiveResidual(torch.nn.Identity(), 2)
    with torch.no_grad():
        residual.offsets.copy_(torch.tensor([[1.0, 0.0], [0.5, 0.0], [0.0, 2.0]]))
    told = torch.tensor([[[0.0, 1.0], [0.5, 0.0], [3.0, 0.0]]])
    x = torch.tensor([[[1.0, 10.0]]])
    # shift (1, 1), scale (1, 0), gate (3, 2): x + gate · 2 · (x · (1 + scale) + shift)
    assert residual(x, lambda y: 2 * y, told).tolist() == [[[1 + 3 * 2 * 3.0, 10 + 2 * 2 * 11.0]]]


def test_from_left_to_right_the_future_never_changes_the_past():
    painter = specimen("dit", **CODED, condition=ConditionConfig(classes=3, causal=True))
    free = specimen("dit", **CODED)
    codes = torch.randint(VOCAB, (1, 9))
    changed = codes.clone()
    changed[0, 5] = (changed[0, 5] + 1) % VOCAB
    with torch.no_grad():
        before, after = painter(codes), painter(changed)
        assert torch.allclose(before[:, :5], after[:, :5], atol=1e-6)
        assert (before[:, 5:] - after[:, 5:]).abs().amax(dim=-1).min() > 1e-5
        assert (free(codes)[:, 0] - free(changed)[:, 0]).abs().max() > 1e-5  # there, everybody sees everybody


def test_waves_tell_times_apart():
    shown = waves(torch.linspace(0, 1, 50), 17)
    assert shown.shape == (50, 17)
    apart = torch.cdist(shown, shown) + 9 * torch.eye(50)
    assert apart.min() > 0.1


def test_a_class_that_is_not_known_fails_loudly():
    told = Told(8, 3, times=False)
    assert told(2, torch.tensor([0, 3]), None).shape == (2, 8)
    with pytest.raises(IndexError):
        told(1, torch.tensor([4]), None)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"condition": ConditionConfig(classes=0)}, r"condition\.classes must be at least 1, not 0"),
        ({"head": HeadConfig(kind="class", labels=3)}, "has front patches and head class"),
        ({"front": FrontConfig()}, "has front tokens and head pixels"),
    ],
)
def test_what_cannot_be_drawn_is_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        configured("dit", **choices)

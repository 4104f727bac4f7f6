"""The loss of frame labels: minus the logarithm of the sum over all paths, and padding has no part in it."""

import itertools
import math

import pytest
import torch

from clearformer.training.frame_loss import frame_label_loss

BLANK = 0


def by_hand(log_probs, target):
    total = 0.0
    for path in itertools.product(range(log_probs.size(1)), repeat=len(log_probs)):
        if tuple(label for label, _ in itertools.groupby(path) if label != BLANK) == tuple(target):
            total += math.exp(sum(float(log_probs[frame, label]) for frame, label in enumerate(path)))
    return -math.log(total)


def test_it_is_the_sum_over_all_paths_of_all_rows():
    torch.manual_seed(1)
    logits = torch.randn(2, 5, 4, requires_grad=True)
    frames, targets, lengths = torch.tensor([5, 3]), torch.tensor([[1, 1, 2], [3, 9, 9]]), torch.tensor([3, 1])
    found = frame_label_loss(logits, frames, targets, lengths, blank=BLANK)
    log_probs = logits.detach().log_softmax(-1)
    wanted = by_hand(log_probs[0], (1, 1, 2)) + by_hand(log_probs[1, :3], (3,))
    assert float(found.total.detach()) == pytest.approx(wanted, rel=1e-5)
    assert found.count == 4
    assert float(found.metrics["nll"]) == pytest.approx(float(found.total.detach()))
    found.total.backward()
    assert bool((logits.grad[1, 3:] == 0).all()), "what is padding moves nothing"
    assert bool((logits.grad[0] != 0).any())


def test_a_row_with_too_few_frames_is_not_learned_from():
    logits = torch.randn(1, 2, 4, requires_grad=True)
    found = frame_label_loss(logits, torch.tensor([2]), torch.tensor([[1, 1]]), torch.tensor([2]), blank=BLANK)
    found.total.backward()
    assert float(found.total.detach()) == 0
    assert bool((logits.grad == 0).all())

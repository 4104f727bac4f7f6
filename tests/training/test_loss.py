import math

import pytest
import torch
import torch.nn.functional as F

from clearformer.training.loss import cross_entropy, divergence, learned_from, perplexity, r_drop

B, T, V = 3, 5, 7


@pytest.fixture
def case():
    logits = torch.randn(B, T, V, dtype=torch.float64, requires_grad=True)
    target = torch.randint(V, (B, T))
    keep = torch.arange(T) < torch.tensor([[5], [3], [1]])
    return logits, target, keep


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_it_is_the_sum_of_torch_s_own_cross_entropy_over_real_tokens(case, smoothing):
    logits, target, keep = (part.float() if part.is_floating_point() else part for part in case)
    loss = cross_entropy(logits, target, keep, smoothing)
    expected = F.cross_entropy(logits[keep], target[keep], label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss.total, expected)
    torch.testing.assert_close(loss.metrics["nll"], F.cross_entropy(logits[keep], target[keep], reduction="sum"))
    assert loss.count == 9
    assert not loss.metrics["nll"].requires_grad


def test_smoothing_by_hand():
    """Four words, the right one at 1/2 and the rest at 1/6: 0.9 · ln 2 + 0.1 · mean(ln 2, 3 × ln 6)."""
    logits = torch.tensor([[[1 / 2, 1 / 6, 1 / 6, 1 / 6]]]).log()
    loss = cross_entropy(logits, torch.tensor([[0]]), torch.tensor([[True]]), 0.1)
    expected = 0.9 * math.log(2) + 0.1 * (math.log(2) + 3 * math.log(6)) / 4
    assert loss.total.item() == pytest.approx(expected, rel=1e-6)
    assert loss.metrics["nll"].item() == pytest.approx(math.log(2), rel=1e-6)


def test_padding_has_no_gradient_and_its_content_does_not_matter(case):
    logits, target, keep = case
    loss = cross_entropy(logits, target, keep, 0.1)
    loss.total.backward()
    assert bool((logits.grad[~keep] == 0).all())
    assert bool((logits.grad[keep] != 0).all())
    other = torch.where(keep, target, (target + 1) % V)
    assert cross_entropy(logits, other, keep, 0.1).total == loss.total


def test_losses_of_parts_add_up_to_the_loss_of_the_whole(case):
    logits, target, keep = case
    parts = [cross_entropy(logits[i : i + 1], target[i : i + 1], keep[i : i + 1], 0.1) for i in range(B)]
    whole = cross_entropy(logits, target, keep, 0.1)
    torch.testing.assert_close(sum(part.total for part in parts), whole.total)
    assert sum(part.count for part in parts) == whole.count


def test_rows_without_a_mask_all_count(case):
    logits, target, keep = case
    plain, masked = cross_entropy(logits[keep], target[keep], smoothing=0.1), cross_entropy(logits, target, keep, 0.1)
    assert plain.total == masked.total
    assert plain.count == masked.count == 9


def test_r_drop_by_hand():
    """P = (1/2, 1/2), Q = (1/4, 3/4), the first word is right, no smoothing, weight 2.

    The two losses are ln 2 and ln 4. KL(P‖Q) = ½ ln 2 + ½ ln ⅔, KL(Q‖P) = ¼ ln ½ + ¾ ln 1½. Liang et al. (2021) add the
    losses and weight/2 of both divergences (eq. 4); we take half of it, so that weight 0 is the plain loss.
    """
    p, q = torch.tensor([[[0.5, 0.5]]]).log(), torch.tensor([[[0.25, 0.75]]]).log()
    loss = r_drop(p, q, torch.tensor([[0]]), torch.tensor([[True]]), smoothing=0.0, weight=2.0)
    p_q = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    q_p = 0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)
    expected = ((math.log(2) + math.log(4)) + 2.0 * (p_q + q_p) / 2) / 2
    assert loss.total.item() == pytest.approx(expected, rel=1e-6)
    assert loss.metrics["nll"].item() == pytest.approx((math.log(2) + math.log(4)) / 2, rel=1e-6)
    assert loss.count == 1


def test_two_equal_passes_are_one(case):
    logits, target, keep = case
    one = cross_entropy(logits, target, keep, 0.1)
    two = r_drop(logits, logits, target, keep, smoothing=0.1, weight=5.0)
    torch.testing.assert_close(one.total, two.total)
    torch.testing.assert_close(one.metrics["nll"], two.metrics["nll"])


def test_half_precision_is_summed_in_float32(case):
    logits, target, keep = case
    half = cross_entropy(logits.bfloat16(), target, keep, 0.1)
    assert half.total.dtype == torch.float32


def test_perplexity():
    assert perplexity(3 * math.log(8), 3) == pytest.approx(8)
    assert perplexity(1e9, 3) == math.inf
    assert perplexity(0.0, 0) == 1.0


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_student_that_says_what_its_teacher_says_has_nothing_to_learn(temperature):
    logits = torch.randn(6, 4, requires_grad=True)
    found = divergence(logits, logits.detach().softmax(-1), temperature)
    torch.testing.assert_close(found, torch.zeros(6), atol=1e-5, rtol=0)
    [slope] = torch.autograd.grad(found.sum(), logits)
    torch.testing.assert_close(slope, torch.zeros(6, 4), atol=1e-5, rtol=0)
    assert bool((divergence(logits + torch.randn(6, 4), logits.detach().softmax(-1), temperature) > 0).all())


def test_without_softening_a_teacher_is_a_soft_label():
    """Its gradient is that of cross-entropy with probabilities as targets, zeros included."""
    logits = torch.randn(6, 4, requires_grad=True)
    teacher = torch.eye(4)[torch.randint(4, (6,))]
    [mine] = torch.autograd.grad(divergence(logits, teacher, 1.0).sum(), logits)
    [expected] = torch.autograd.grad(F.cross_entropy(logits, teacher, reduction="sum"), logits)
    torch.testing.assert_close(mine, expected, atol=1e-5, rtol=1e-4)


def test_what_nobody_labelled_is_learned_from_the_teacher_alone():
    people, teacher = torch.tensor([1.0, 1.0]), torch.tensor([3.0, 3.0])
    found = learned_from(people, teacher, torch.tensor([True, False]), 0.25)
    torch.testing.assert_close(found, torch.tensor([1.5, 3.0]))

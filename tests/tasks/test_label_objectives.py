"""Losses of labels: rare classes count as the whole training set says, and each kind has its textbook loss."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from clearformer.data.collate import LabelledBatch
from clearformer.tasks.label_objectives import CountedObjective, LabelObjective, loss


class Fixed(nn.Module):
    """Says the same of every batch."""

    def __init__(self, logits):
        super().__init__()
        self.logits = torch.tensor(logits)

    def forward(self, ids, keep):
        return self.logits


def batch(labels):
    labels = torch.tensor(labels)
    ids = torch.zeros(len(labels), 1, dtype=torch.long)
    return LabelledBatch(ids=ids, keep=ids == 0, labels=labels)


def test_weights_follow_the_training_set_and_not_the_batch():
    """90 to 10: with full balance a rare text counts nine times as much, whatever company it is in."""
    objective = CountedObjective(balance=1.0, counts=(90, 10), texts=100)
    weights = objective.weights()
    assert float(weights[1] / weights[0]) == pytest.approx(9.0)
    assert float(0.9 * weights[0] + 0.1 * weights[1]) == pytest.approx(1.0)
    alone = loss(Fixed([[0.0, 0.0]]), batch([1]), objective).total
    beside = loss(Fixed([[0.0, 0.0]] * 3), batch([1, 1, 0]), objective).total
    nll = math.log(2)
    assert float(alone) == pytest.approx(float(weights[1]) * nll)
    assert float(beside) == pytest.approx(float(2 * weights[1] + weights[0]) * nll)


def test_half_a_balance_lies_between():
    ratios = []
    for balance in (0.0, 0.5, 1.0):
        weights = CountedObjective(balance=balance, counts=(90, 10), texts=100).weights()
        ratios.append(float(weights[1] / weights[0]))
    assert ratios == pytest.approx([1.0, 3.0, 9.0])


def test_without_counts_every_example_counts_alike():
    given = batch([0, 1])
    logits = [[2.0, 0.0], [0.5, 0.5]]
    plain, balanced = (loss(Fixed(logits), given, LabelObjective(balance=share)).total for share in (0.0, 1.0))
    assert float(plain) == pytest.approx(float(balanced))
    assert float(plain) == pytest.approx(math.log(1 + math.exp(-2)) + math.log(2))


def test_several_labels_are_as_many_yes_or_no_questions():
    objective = CountedObjective(kind="several", counts=(5, 5), texts=10)
    found = loss(Fixed([[0.0, 3.0]]), batch([[1.0, 0.0]]), objective)
    assert float(found.total) == pytest.approx(math.log(2) + math.log(1 + math.exp(3)))
    assert int(found.metrics["accuracy"]) == 0


def test_a_rare_label_counts_more_where_it_is_present():
    objective = CountedObjective(kind="several", balance=1.0, counts=(2, 50, 1), texts=100)
    assert objective.weights_of_present().tolist() == pytest.approx([20.0, 1.0, 20.0])  # 49 and 99 are too much


def test_a_number_is_missed_by_its_square():
    found = loss(Fixed([[1.0], [-1.0]]), batch([0.5, 1.0]), CountedObjective(kind="number"))
    assert float(found.total) == pytest.approx(0.25 + 4.0)
    assert "nll" not in found.metrics  # so that nobody takes it for a likelihood


def lesson(labels, soft, given):
    return replace(batch(labels), soft=torch.tensor(soft), given=torch.tensor(given))


@pytest.mark.parametrize("kind", ["one", "several", "number"])
def test_with_no_weight_a_teacher_changes_nothing_where_people_gave_a_label(kind):
    labels, width = {"one": ([0, 1], 2), "several": ([[1.0, 0.0], [0.0, 1.0]], 2), "number": ([0.5, -1.0], 1)}[kind]
    model, soft = Fixed([[0.3, -0.2][:width], [1.0, 0.1][:width]]), [[0.2, 0.8][:width], [0.6, 0.4][:width]]
    silent = CountedObjective(kind=kind, teacher_weight=0.0)
    plain = loss(model, batch(labels), silent)
    assert float(loss(model, lesson(labels, soft, [True, True]), silent).total) == pytest.approx(float(plain.total))
    # where nobody did, the teacher alone counts, whatever stands in the place of the label
    for other in (labels, labels[::-1]):
        found = loss(model, lesson(other, soft, [False, False]), silent).total
        assert float(found) == pytest.approx(float(loss(model, lesson(labels, soft, [False, False]), silent).total))


def test_a_teacher_of_several_labels_is_matched_label_by_label():
    """The gradient is zero where the student says the same, at any temperature."""
    logits = torch.tensor([[0.3, -2.0, 1.0]], requires_grad=True)
    model = Fixed([[0.0]])
    model.logits = logits
    told = lesson([[1.0, 0.0, 0.0]], logits.detach().sigmoid().tolist(), [False])
    found = loss(model, told, CountedObjective(kind="several", teacher_temperature=3.0)).total
    [slope] = torch.autograd.grad(found, logits)
    assert slope.abs().max() < 1e-5


def test_shares_and_temperatures_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"objective\.teacher_weight is a share between 0 and 1, not 2"):
        LabelObjective(teacher_weight=2)
    with pytest.raises(ValueError, match=r"objective\.teacher_temperature is above 0, not 0"):
        LabelObjective(teacher_temperature=0)

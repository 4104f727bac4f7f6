"""The loss of masks: right is nearly nothing, wrong is more, and what is outside the picture changes nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from clearformer.data.collate import UNTAGGED
from clearformer.data.mask_crops import cut_crop
from clearformer.data.mask_targets import ClassMaskBatch, InstanceBatch, instance_batch
from clearformer.tasks.mask_objectives import MaskObjective, loss
from support.discs import discs


class Says(nn.Module):
    """A network that says the same of every picture."""

    def __init__(self, values):
        super().__init__()
        self.values = nn.Parameter(values)

    def forward(self, pictures):
        return self.values


@pytest.fixture
def batch() -> InstanceBatch:
    crops = [cut_crop(*discs(seed), 24, (0, 0, 24)) for seed in (1, 2)]
    return instance_batch(crops, torch.zeros(2, 1, 24, 24), 4.0)


def perfect(batch: InstanceBatch) -> torch.Tensor:
    sure = torch.stack((batch.foreground, batch.rim), dim=1).float() * 40 - 20
    return torch.cat((sure, batch.offsets), dim=1)


def test_what_is_right_costs_nearly_nothing_and_each_part_can_be_wrong(batch):
    right = loss(Says(perfect(batch)), batch, MaskObjective())
    assert right.count == 2
    assert right.total.item() < 1e-3
    for channel, part in ((0, "foreground"), (1, "rim"), (2, "offsets")):
        values = perfect(batch)
        values[:, channel] += 3 if channel == 2 else -values[:, channel] * 2
        wrong = loss(Says(values), batch, MaskObjective())
        assert float(wrong.metrics[part]) > 1
        assert float(wrong.total) > right.total.item() + 1


def test_outside_the_picture_nothing_is_asked(batch):
    keep = batch.keep.clone()
    keep[:, :, :7] = False
    outside = replace(batch, keep=keep, foreground=batch.foreground & keep, rim=batch.rim & keep)
    values = torch.randn(2, 4, 24, 24)
    other = values.clone()
    other[..., :7] = torch.randn(2, 4, 24, 7) * 9
    first, second = (loss(Says(one), outside, MaskObjective()).total for one in (values, other))
    torch.testing.assert_close(first, second)


def test_each_picture_counts_by_itself(batch):
    values = torch.randn(2, 4, 24, 24)
    whole = loss(Says(values), batch, MaskObjective()).total
    single = [
        loss(Says(values[row : row + 1]), batch.take(slice(row, row + 1)), MaskObjective()).total for row in range(2)
    ]
    torch.testing.assert_close(whole, sum(single))


def test_classes_by_hand():
    classes = torch.tensor([[[0, 1], [1, UNTAGGED]]])
    batch = ClassMaskBatch(pictures=torch.zeros(1, 1, 2, 2), classes=classes)
    even = loss(Says(torch.zeros(1, 2, 2, 2)), batch, MaskObjective(overlap=0.0))
    assert float(even.total) == pytest.approx(np.log(2), rel=1e-5)
    sure = torch.zeros(1, 2, 2, 2)
    sure[0, 0, 0, 0], sure[0, 1, 0, 1], sure[0, 1, 1, 0] = 30, 30, 30
    assert float(loss(Says(sure), batch, MaskObjective()).total) < 1e-3
    sure[0, 0, 1, 1] = 99  # of a pixel that has no class
    assert float(loss(Says(sure), batch, MaskObjective()).total) < 1e-3

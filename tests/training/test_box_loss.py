"""The loss of a set: nothing for what is right, whatever the order, and the helper beside it."""

import pytest
import torch
import torch.nn.functional as F

from clearformer.model.cell_boxes import cell_centres
from clearformer.training.box_loss import BoxWeights, box_loss, set_loss
from clearformer.training.box_matching import CostConfig, MatchedPairs, Objects

SIDE, CLASSES = 4, 2
CENTRES = cell_centres(SIDE, torch.device("cpu"))
OBJECTS = Objects(
    torch.tensor([[0, 1, -1], [1, -1, -1]]),
    torch.tensor(
        [[[0.2, 0.2, 0.3, 0.3], [0.7, 0.6, 0.3, 0.5], [0.5] * 4], [[0.5, 0.5, 0.4, 0.4], [0.5] * 4, [0.5] * 4]]
    ),
)


def said(seed=1, helper=False):
    torch.manual_seed(seed)
    width = (CLASSES + 4) * (2 if helper else 1)
    out = torch.randn(2, SIDE * SIDE, width)
    for start in range(0, width, CLASSES + 4):
        out[..., start + CLASSES : start + CLASSES + 4] = out[..., start + CLASSES : start + CLASSES + 4].sigmoid()
    return out.requires_grad_()


def loss(output, weights=None):
    return box_loss(output, CENTRES, OBJECTS, CLASSES, weights or BoxWeights(), CostConfig())


def perfect():
    out = torch.cat((torch.full((2, 16, CLASSES), -30.0), torch.rand(2, 16, 4)), dim=-1)
    for picture, query, thing in ((0, 0, 0), (0, 10, 1), (1, 5, 0)):
        out[picture, query, OBJECTS.labels[picture, thing]] = 30.0
        out[picture, query, CLASSES:] = OBJECTS.boxes[picture, thing]
    return out


def test_what_is_right_costs_nothing():
    found = loss(perfect())
    assert float(found.total) == pytest.approx(0, abs=1e-4)
    assert found.count == 3
    assert float(found.metrics["iou"]) == pytest.approx(3)


def test_each_mistake_costs_something():
    right = float(loss(perfect()).total)
    for change in ((0, 0, 0, -3.0), (0, 3, 1, 2.0), (0, 0, CLASSES, 0.25)):
        wrong = perfect()
        wrong[change[0], change[1], change[2]] = change[3]
        assert float(loss(wrong).total) > right + 0.05


def test_the_order_of_the_objects_and_padding_change_nothing():
    output = said()
    one = loss(output)
    swapped = Objects(OBJECTS.labels[:, [1, 0, 2]], OBJECTS.boxes[:, [1, 0, 2]])
    swapped = Objects(torch.where(torch.tensor([[True], [False]]), swapped.labels, OBJECTS.labels),
                      torch.where(torch.tensor([[[True]], [[False]]]), swapped.boxes, OBJECTS.boxes))  # fmt: skip
    other = box_loss(output, CENTRES, swapped, CLASSES, BoxWeights(), CostConfig())
    torch.testing.assert_close(one.total, other.total)
    narrow = Objects(OBJECTS.labels[:, :2], OBJECTS.boxes[:, :2])
    torch.testing.assert_close(one.total, box_loss(output, CENTRES, narrow, CLASSES, BoxWeights(), CostConfig()).total)


def test_pictures_add_up():
    """Rows may be learned from together or one after the other."""
    output = said(helper=True)
    whole = loss(output, BoxWeights(helper=0))
    parts = [
        box_loss(output[[n]], CENTRES, Objects(OBJECTS.labels[[n]], OBJECTS.boxes[[n]]), CLASSES,
                 BoxWeights(helper=0), CostConfig())
        for n in range(2)
    ]  # fmt: skip
    torch.testing.assert_close(whole.total, parts[0].total + parts[1].total)
    assert whole.count == parts[0].count + parts[1].count


def test_the_helper_learns_beside_and_only_from_its_own_word():
    output = said(helper=True)
    alone, helped = loss(output, BoxWeights(helper=0)), loss(output, BoxWeights(helper=1))
    assert float(helped.total.detach()) > float(alone.total.detach())
    alone.total.backward()
    assert (output.grad[..., CLASSES + 4 :] == 0).all()
    output.grad = None
    loss(output, BoxWeights(helper=1)).total.backward()
    assert (output.grad[..., CLASSES + 4 :] != 0).any()


def test_a_picture_without_objects_teaches_silence():
    none = Objects(torch.full((1, 1), -1), torch.full((1, 1, 4), 0.5))
    output = said()[:1].detach().requires_grad_()
    found = box_loss(output, CENTRES, none, CLASSES, BoxWeights(), CostConfig())
    found.total.backward()
    assert found.count == 1
    assert torch.isfinite(found.total)
    assert (output.grad[..., :CLASSES] > 0).all()
    assert (output.grad[..., CLASSES:] == 0).all()


def test_the_class_is_weighed_by_how_well_the_box_fits():
    """One query, one object, by hand."""
    weights = BoxWeights(label=1, distance=0, overlap=0, gamma=2)
    logits = torch.tensor([[[0.3, -0.7]]])
    boxes = torch.tensor([[[0.5, 0.5, 0.2, 0.2]]])
    objects = Objects(torch.tensor([[0]]), torch.tensor([[[0.6, 0.5, 0.2, 0.2]]]))
    pairs = MatchedPairs(*(torch.tensor([0]) for _ in range(3)))
    total, parts = set_loss(logits, boxes, pairs, objects, weights)
    p, q = logits.sigmoid()[0, 0].tolist()
    wanted = 1 / 3
    entropy = F.binary_cross_entropy(torch.tensor(p), torch.tensor(wanted))
    expected = (p - wanted) ** 2 * float(entropy) + q**2 * -torch.log1p(torch.tensor(-q))
    assert float(total) == pytest.approx(float(expected), rel=1e-4)
    assert float(parts["iou"]) == pytest.approx(wanted, rel=1e-4)

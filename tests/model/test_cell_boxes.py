"""Every patch says where an object is relative to its own place; the helper speaks while training alone."""

import torch
from torch import nn

from clearformer.model.build import build
from clearformer.model.cell_boxes import RARE, USUAL, CellBoxes, cell_centres
from clearformer.model.config import FrontConfig, HeadConfig, ModelConfig
from clearformer.model.described import described
from clearformer.model.families import vit
from clearformer.model.trace import trace


def silent(head):
    """A head whose networks say nothing: what is left is where it begins."""
    for parameter in head.parameters():
        nn.init.zeros_(parameter)
    return head.eval()


def test_without_a_word_every_patch_means_a_box_of_usual_size_at_its_own_place():
    found = silent(CellBoxes(8, 3, side=4, class_token=False))(torch.randn(2, 16, 8))
    assert found.shape == (2, 16, 7)
    assert (found[..., :3] == torch.tensor(RARE)).all()
    assert found[0, :, 3:5].tolist() == cell_centres(4, torch.device("cpu")).tolist()
    torch.testing.assert_close(found[..., 5:], torch.full((2, 16, 2), USUAL / 4))


def test_centres_stand_row_by_row():
    assert cell_centres(2, torch.device("cpu")).tolist() == [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]


def test_an_offset_of_one_is_one_cell_and_sizes_stay_finite():
    head = silent(CellBoxes(8, 1, side=4, class_token=False))
    nn.init.constant_(head.speak.locate[-1].bias, 1.0)
    found = head(torch.zeros(1, 16, 8))
    torch.testing.assert_close(found[0, 0, 1:3], torch.tensor([0.125 + 0.25, 0.125 + 0.25]))
    nn.init.constant_(head.speak.locate[-1].bias, 1e4)
    assert (head(torch.zeros(1, 16, 8))[..., 3:] == 2).all()


def test_the_class_token_names_nothing():
    head = CellBoxes(8, 2, side=3)
    states = torch.randn(1, 10, 8)
    assert head(states).shape == (1, 9, 6)
    changed = states.clone()
    changed[:, 0] += 1
    assert torch.equal(head(states), head(changed))


def test_the_helper_speaks_while_training_and_changes_nothing_in_use():
    torch.manual_seed(1)
    head = CellBoxes(8, 2, side=3, helper=True, class_token=False)
    states = torch.randn(2, 9, 8)
    learning, using = head.train()(states), head.eval()(states)
    assert learning.shape == (2, 9, 12)
    assert using.shape == (2, 9, 6)
    assert torch.equal(learning[..., :6], using)
    assert not torch.allclose(learning[..., 6:], using)


def config(**head) -> ModelConfig:
    return vit(
        dim=16,
        hidden_dim=16,
        layers=1,
        heads=2,
        front=FrontConfig(kind="patches", picture=16, patch=4, stem="convolution", class_token=False),
        head=HeadConfig(kind="boxes", labels=3, **head),
    )


def test_a_configuration_builds_it_and_says_what_it_has():
    torch.manual_seed(1)
    model = build(config(helper=True)).eval()
    assert model(torch.randn(2, 3, 16, 16)).shape == (2, 16, 7)
    assert described(config(helper=True))["head"] == {"kind": "boxes", "labels": 3, "helper": True}
    assert not any("helper" in name for name, _ in build(config()).named_parameters())


def test_a_trace_has_the_boxes():
    torch.manual_seed(1)
    model = build(config()).eval()
    with trace(model) as seen:
        out = model(torch.randn(1, 3, 16, 16))
    assert torch.equal(seen["head.boxes"], out[..., 3:])


def test_patches_are_told_apart_by_their_places_alone():
    """The same state at another place means a box at that place."""
    head = CellBoxes(8, 1, side=4, class_token=False).eval()
    found = head(torch.ones(1, 16, 8))[0, :, 1:3] - cell_centres(4, torch.device("cpu"))
    torch.testing.assert_close(found, found[:1].expand(16, 2))

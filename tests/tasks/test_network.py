"""A network whose head no verb uses yet still opens, runs and can be traced."""

import pytest
import torch

import clearformer as cf
from clearformer.tasks.network import TASK
from support.every_kind import make


@pytest.mark.parametrize("name", ["detr", "vit pixels"])
def test_it_says_what_the_network_says(name, tmp_path):
    model = cf.load(make(name, tmp_path / "m"))
    assert isinstance(model, TASK.use)
    picture = torch.randn(1, 3, 8, 8)
    with cf.trace(model) as seen:
        found = model.run(picture)
    with torch.inference_mode():
        expected = model.bundle.model(picture)
    torch.testing.assert_close(found, expected)
    assert seen

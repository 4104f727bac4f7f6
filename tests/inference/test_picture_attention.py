"""Where a model of pictures looked: shares that add up, and the place that matters is found."""

import numpy as np
import pytest
import torch

from clearformer.inference.picture_attention import roll_out_patches
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES


def made(pool="first", *, class_token=True, stem="patches"):
    torch.manual_seed(1)
    return build(
        FAMILIES["vit"](
            dim=16, hidden_dim=24, layers=2, heads=2, init_std=0.3,
            front=FrontConfig(kind="patches", picture=12, patch=4, channels=1, class_token=class_token, stem=stem),
            head=HeadConfig(kind="class", labels=2, pool=pool),
        )
    ).eval()  # fmt: skip


def picture(seed=1):
    return torch.randn(1, 1, 12, 12, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("pool", "class_token", "stem"),
    [("first", True, "patches"), ("mean", False, "patches"), ("weighted", False, "convolution"),
     ("mean", True, "patches"), ("patches", True, "patches"), ("first-and-patches", True, "patches")],
)  # fmt: skip
def test_all_shares_together_are_one(pool, class_token, stem):
    found = roll_out_patches(made(pool, class_token=class_token, stem=stem), picture(), pool=pool)
    assert (found.side, len(found.shares)) == (3, 9)
    assert sum(found.shares) + found.token == pytest.approx(1)
    assert (found.token > 0) is class_token
    assert min(found.shares) > 0
    assert np.array(found.rows()).shape == (3, 3)
    assert found.rows()[1][2] == found.shares[5]


def test_each_way_of_reading_the_class_looks_elsewhere():
    model = made("mean", class_token=False)
    mean, last = (roll_out_patches(model, picture(), pool=pool).shares for pool in ("mean", "last"))
    assert last[-1] > mean[-1]  # half of the weight stays on a token's own path


def test_learned_weights_say_what_counts():
    """A pool that listens to one patch alone: what reached that one is what counts."""
    model = made("weighted", class_token=False)
    even = roll_out_patches(model, picture(), pool="weighted").shares
    [scorer] = [module for module in model.head.pool.modules() if isinstance(module, torch.nn.Linear)]
    with torch.no_grad():
        scorer.weight.mul_(200)
    sharp = roll_out_patches(model, picture(), pool="weighted").shares
    assert max(sharp) > max(even)


def test_a_model_without_attention_says_so():
    class Plain(torch.nn.Module):
        def forward(self, x):
            return x.mean()

    with pytest.raises(ValueError, match="this model has no attention over patches"):
        roll_out_patches(Plain(), picture(), pool="first")

"""Mixed pictures: every pixel comes from one of two pictures, and the share says how much of each is seen."""

import numpy as np
import pytest
import torch

from clearformer.data.mixing import Mixing, mix


def flat(count=40, size=10):
    """Each picture is one number, its own, so that what was mixed can be read from the result."""
    return torch.arange(count, dtype=torch.float32)[:, None, None, None].expand(-1, 2, size, size).clone()


def test_mixup_lays_both_over_one_another_in_the_share_that_is_said():
    x = flat()
    found = mix(x, Mixing(mixup=0.4), np.random.default_rng(1))
    expected = found.share * x[:, 0, 0, 0] + (1 - found.share) * x[found.other, 0, 0, 0]
    assert torch.allclose(found.pictures, expected[:, None, None, None].expand_as(x), atol=1e-5)
    assert len(set(found.share.tolist())) > 30


def test_cutmix_takes_each_pixel_from_one_of_the_two_and_counts_them():
    x = flat()
    found = mix(x, Mixing(cutmix=1.0), np.random.default_rng(1))
    own = found.pictures == x
    other = found.pictures == x[found.other]
    assert (own | other).all()
    moved = found.other != torch.arange(len(x))
    assert torch.allclose(own.float().mean(dim=(1, 2, 3))[moved], found.share[moved], atol=1e-6)
    assert 0.3 < float(found.share.mean()) < 0.9
    for mask in (~own)[:, 0]:
        assert torch.equal(mask, mask.any(dim=1)[:, None] & mask.any(dim=0)[None])


def test_with_both_some_are_cut_and_some_are_laid_over():
    x = flat(200)
    found = mix(x, Mixing(mixup=1.0, cutmix=1.0), np.random.default_rng(1))
    cut = torch.tensor([len(set(one[0].flatten().tolist())) == 2 for one in found.pictures])
    assert 60 < int(cut.sum()) < 120


def test_a_picture_alone_is_mixed_with_itself_and_stays():
    x = torch.rand(1, 3, 6, 6)
    for mixing in (Mixing(mixup=0.5), Mixing(cutmix=0.5)):
        assert torch.allclose(mix(x, mixing, np.random.default_rng(1)).pictures, x, atol=1e-6)


def test_the_generator_decides_everything():
    one, same, other = (mix(flat(), Mixing(mixup=1, cutmix=1), np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert all(torch.equal(*pair) for pair in zip(one, same, strict=True))
    assert not torch.equal(one.share, other.share)


def test_what_cannot_be_is_refused_by_its_name():
    assert not Mixing().any
    with pytest.raises(ValueError, match="cutmix is from 0 to 100, not -1"):
        Mixing(cutmix=-1)

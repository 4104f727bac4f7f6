"""The stem: a picture becomes as many vectors as it has patches, and each of them sees past its patch's edge."""

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.cost import count_cost
from clearformer.model.frontends import LeadingVectors, PatchFrontend
from clearformer.model.stem import StemFrontend
from clearformer.model.trace import trace
from model.specimens import configured

STEM = FrontConfig(kind="patches", picture=8, patch=4, stem="convolution")


@pytest.mark.parametrize(("patch", "layers"), [(2, 1), (4, 1), (4, 2), (8, 1)])
@pytest.mark.parametrize("channels", [1, 3])
def test_shapes(patch, layers, channels):
    front = StemFrontend(16, picture=16, patch=patch, stem_layers=layers, channels=channels)
    x, keep, positions = front(torch.randn(2, channels, 16, 16))
    assert (x.shape, positions.shape) == ((2, 1 + front.patches, 16), (1, 1 + front.patches))
    assert keep is None
    assert len(front.stem) == (patch.bit_length() - 1) * layers


def test_without_a_class_token_there_are_only_patches():
    for front in (StemFrontend, PatchFrontend):
        made = front(16, picture=8, patch=4, before=LeadingVectors(class_token=False))
        assert made(torch.randn(2, 3, 8, 8)).x.shape == (2, 4, 16)
        assert "class_token" not in made.state_dict()


def changed_by_one_pixel(front):
    """Which of the 2 × 2 patches change if a pixel in the first one's lower right corner does."""
    picture = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    other = picture.clone()
    other[..., 3, 3] += 5
    return (front.eval().embed(picture) != front.embed(other)).any(dim=-1).tolist()


def test_a_patch_knows_its_neighbours():
    """A projection of each square does not; a stem does, which is what it is for."""
    torch.manual_seed(1)
    assert changed_by_one_pixel(PatchFrontend(16, picture=8, patch=4)) == [[True, False, False, False]]
    assert changed_by_one_pixel(StemFrontend(16, picture=8, patch=4)) == [[True, True, True, True]]


def test_vectors_stand_where_their_patches_are():
    """What is painted at the bottom left changes the vectors there and leaves those far away as they were."""
    front = StemFrontend(16, picture=32, patch=4, before=LeadingVectors(class_token=False)).eval()
    picture = torch.zeros(1, 3, 32, 32)
    other = picture.clone()
    other[..., 28:, :4] = 1
    changed = (front.embed(picture) != front.embed(other)).any(dim=-1).view(8, 8)
    assert changed[7, 0]
    assert not changed[:4].any()
    assert not changed[:, 4:].any()


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        (HeadConfig(kind="class", labels=5), (2, 5)),
        (HeadConfig(kind="class", labels=5, pool="mean"), (2, 5)),
        (HeadConfig(kind="boxes", labels=5), (2, 4, 9)),
        (HeadConfig(kind="masks", labels=5), (2, 5, 8, 8)),
        (HeadConfig(kind="pixels"), (2, 3, 8, 8)),
    ],
)
def test_every_head_takes_it(head, shape):
    front = FrontConfig(kind="patches", picture=8, patch=4, stem="convolution", class_token=False)
    assert build(configured("vit", head=head, front=front))(torch.randn(2, 3, 8, 8)).shape == shape


def test_batch_and_alone_are_the_same():
    model = build(configured("vit", front=STEM)).eval()
    pictures = torch.randn(3, 3, 8, 8)
    torch.testing.assert_close(model(pictures)[1:2], model(pictures[1:2]))


def test_every_weight_learns():
    model = build(configured("vit", front=STEM))
    model(torch.randn(2, 3, 8, 8)).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in model.encoder.front.parameters())


def test_a_trace_shows_each_layer():
    model = build(configured("vit", front=STEM)).eval()
    with trace(model) as seen, torch.no_grad():
        model(torch.randn(2, 3, 8, 8))
    assert seen["encoder.front.stem.0.output"].shape == (2, 32, 4, 4)
    assert seen["encoder.front.stem.1.output"].shape == (2, 32, 2, 2)
    assert seen["encoder.front.embeddings"].shape == (2, 4, 32)


def test_its_cost_is_counted():
    plain, stem = (
        count_cost(configured("vit", front=front)) for front in (FrontConfig(**vars(STEM) | {"stem": "patches"}), STEM)
    )
    assert (plain.length, stem.length) == (5, 5)
    convolutions = 9 * (64 * 3 * 32 + 16 * 32 * 32)  # places times weights, before each halving
    projections = 4 * (32 * 32 - 48 * 32)
    assert abs((stem.flops_per_token - plain.flops_per_token) * 5 - 2 * (convolutions + projections)) <= 10
    named = build(configured("vit", front=STEM)).encoder.front
    assert stem.parts["encoder.front"] == sum(weight.numel() for weight in named.parameters())


def test_patches_that_halving_does_not_reach_are_refused():
    for patch in (1, 3):
        with pytest.raises(ValueError, match=f"a patch has 2, 4, 8, 16 … pixels, not {patch}"):
            StemFrontend(8, picture=12, patch=patch)

"""A bottleneck keeps as much as it has room for, and the decoder knows nothing but the code."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from clearformer.model import families
from clearformer.model.baselines.autoencoder import SequenceAutoencoder, VectorAutoencoder
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig, FrontConfig, PositionConfig
from clearformer.model.trace import trace

V, B, T, CODE = 6, 3, 4, 5
TOKENS = torch.tensor([[1, 2, 3, 4], [5, 4, 0, 0], [3, 3, 3, 3]])
CONFIG = families.autoencoder(
    vocab_size=V, dim=32, hidden_dim=64, layers=1, heads=4, max_len=8, bottleneck=CODE,
    dropout=DropoutConfig.everywhere(0.0),
)  # fmt: skip
PICTURES = replace(CONFIG, front=FrontConfig(kind="patches", picture=4, patch=2, channels=2), layers=2)


def make(config=CONFIG, **changes):
    torch.manual_seed(0)
    return build(replace(config, **changes)).eval()


def close(mine, other):
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=0)


def test_shapes():
    text, picture, pixels = make(), make(PICTURES), torch.randn(B, 2, 4, 4)
    assert isinstance(text, SequenceAutoencoder)
    assert isinstance(picture, VectorAutoencoder)
    assert text.encode(TOKENS).shape == picture.encode(pixels).shape == (B, CODE)
    assert text(TOKENS).shape == (B, T, V)
    assert text.decode(text.encode(TOKENS)).shape == (B, 8, V)  # as many as it can say
    assert picture(pixels).shape == pixels.shape


def test_the_loss_is_what_is_lost():
    text, picture, pixels = make(), make(PICTURES), torch.randn(B, 2, 4, 4)
    close(picture.loss(pixels), (picture(pixels) - pixels).square().mean())
    chances = text(TOKENS).log_softmax(dim=-1)
    said = chances.gather(-1, TOKENS[..., None])[..., 0]
    close(text.loss(TOKENS), -said.mean())
    keep = torch.tensor([[True] * 4, [True, True, False, False], [True] * 4])
    chances = text(TOKENS, keep=keep).log_softmax(dim=-1)
    close(text.loss(TOKENS, keep=keep), -chances.gather(-1, TOKENS[..., None])[..., 0][keep].mean())


def fit(model, x):
    """Train to the end, all data at once."""
    optimiser = torch.optim.LBFGS(
        model.parameters(), max_iter=500, tolerance_grad=1e-10, tolerance_change=1e-14, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        loss = model.loss(x)
        loss.backward()
        return loss

    optimiser.step(closure)
    return model.loss(x).item()


def test_a_linear_bottleneck_is_principal_component_analysis():
    """Data of three dimensions in a space of ten: three numbers keep all of it, two keep what PCA keeps."""
    torch.manual_seed(0)
    spread = torch.diag(torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64))
    x = torch.randn(50, 3, dtype=torch.float64) @ spread @ torch.randn(3, 10, dtype=torch.float64) + 5
    sizes = torch.linalg.svdvals(x - x.mean(dim=0))
    lost_by_pca = sizes[2:].square().sum().item() / x.numel()
    assert fit(VectorAutoencoder((10,), 3).double(), x) < 1e-6
    assert fit(VectorAutoencoder((10,), 2).double(), x) == pytest.approx(lost_by_pca, rel=1e-3)
    assert lost_by_pca > 0.01


def test_layers_bend_what_a_linear_bottleneck_cannot():
    """A circle has one dimension, but no line keeps it."""
    angles = torch.linspace(0, 3, 40, dtype=torch.float64)
    arc = torch.stack((angles.cos(), angles.sin()), dim=-1)
    torch.manual_seed(0)
    straight = fit(VectorAutoencoder((2,), 1).double(), arc)
    bent = fit(VectorAutoencoder((2,), 1, hidden_dim=16, layers=2, activation=torch.tanh).double(), arc)
    assert bent < straight / 20


def test_a_token_autoencoder_learns_to_say_its_input_again():
    torch.manual_seed(0)
    model = build(replace(CONFIG, bottleneck=32))
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(300):
        optimiser.zero_grad()
        model.loss(torch.randint(0, V, (64, 3))).backward()
        optimiser.step()
    said = torch.randint(0, V, (200, 3))
    assert (model(said).argmax(dim=-1) == said).float().mean() > 0.9  # by chance it would be one in six


def test_the_decoder_knows_the_code_and_nothing_else():
    model = make()
    code = model.encode(TOKENS)
    close(model.decode(code, T), model(TOKENS))
    moved = code.clone()
    moved[:, 0] += 1
    assert (model.decode(moved, T) != model.decode(code, T)).any(dim=-1).all()


def test_asking_for_more_tokens_does_not_change_the_first():
    model = make()
    code = model.encode(TOKENS)
    close(model.decode(code, 8)[:, :T], model.decode(code, T))


@pytest.mark.parametrize(("left", "right"), [(0, 1), (0, 3), (2, 0), (1, 2)])
def test_padding_changes_nothing(left, right):
    model = make()
    padded = F.pad(TOKENS, (left, right), value=5)
    keep = F.pad(torch.ones_like(TOKENS, dtype=torch.bool), (left, right), value=False)
    close(model.encode(padded, keep=keep), model.encode(TOKENS))
    close(model(padded, keep=keep)[:, left : left + T], model(TOKENS))
    close(model.loss(padded, keep=keep), model.loss(TOKENS))


@pytest.mark.parametrize("config", [CONFIG, PICTURES], ids=["tokens", "pictures"])
def test_every_parameter_learns(config):
    model = make(config).train()
    model.loss(TOKENS if config is CONFIG else torch.randn(B, 2, 4, 4)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_trace_shows_the_code():
    model = make()
    with trace(model) as seen:
        logits = model(TOKENS)
    close(seen["code"], model.encode(TOKENS))
    assert torch.equal(seen["logits"], logits)
    pictures = make(PICTURES)
    with trace(pictures) as seen:
        output = pictures(torch.randn(B, 2, 4, 4))
    assert torch.equal(seen["reconstruction"], output)


def test_bad_use_gets_a_sentence():
    with pytest.raises(ValueError, match="the positions of a code differ only by an embedded position"):
        make(position=PositionConfig(kind="rotary"))(TOKENS)
    with pytest.raises(ValueError, match="an autoencoder reconstructs tokens or patches, not sound"):
        make(front=FrontConfig(kind="sound"))
    with pytest.raises(ValueError, match=r"must be batch × 2 × 4 × 4, not \(3, 4\)"):
        make(PICTURES).encode(torch.randn(3, 4))
    with pytest.raises(ValueError, match="bottleneck must be at least 1, not 0"):
        replace(CONFIG, bottleneck=0)

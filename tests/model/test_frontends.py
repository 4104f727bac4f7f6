"""Front ends: tokens, patches and sound become vectors, and nothing of the input is lost or invented on the way."""

import math

import pytest
import torch

from clearformer.model.frontends import (
    PatchFrontend,
    SoundFrontend,
    TokenFrontend,
    patchify,
    unpatchify,
)
from clearformer.model.positions import Learned, Sinusoidal


def test_shapes():
    x, keep, positions = TokenFrontend(11, 8)(torch.randint(11, (2, 5)))
    assert (x.shape, keep, positions.shape) == ((2, 5, 8), None, (1, 5))
    x, _, positions = PatchFrontend(8, picture=12, patch=4)(torch.randn(2, 3, 12, 12))
    assert (x.shape, positions.shape) == ((2, 10, 8), (1, 10))  # nine patches behind the class token
    x, keep, positions = SoundFrontend(6, 8)(torch.randn(2, 7, 6), torch.ones(2, 7, dtype=torch.bool))
    assert (x.shape, keep.shape, positions.shape) == ((2, 4, 8), (2, 4), (2, 4))  # ⌈7/2⌉


@pytest.mark.parametrize(
    ("front", "inputs", "count"),
    [
        (TokenFrontend(11, 8, position=Learned(20, 8)), torch.zeros(1, 4, dtype=torch.long), 4),
        (PatchFrontend(8, picture=4, patch=2, position=Learned(20, 8)), torch.zeros(1, 3, 4, 4), 5),
        (SoundFrontend(6, 8, position=Learned(20, 8)), torch.zeros(1, 8, 6), 4),
    ],
    ids=["tokens", "patches", "sound"],
)
def test_given_positions_win(front, inputs, count):
    places = torch.arange(7, 7 + count)[None]
    x, _, positions = front(inputs, positions=places)
    assert positions is places
    table = front.position.table.weight
    torch.testing.assert_close(x - front(inputs).x, (table[7 : 7 + count] - table[:count])[None])


# ---- tokens ---------------------------------------------------------------------------------------------------------


def test_tokens_by_hand():
    """table[token]·√D + position + type."""
    front = TokenFrontend(5, 4, scale=2.0, position=Sinusoidal(4), types=2)
    tokens, types = torch.tensor([[3, 1]]), torch.tensor([[0, 1]])
    x = front(tokens, types=types).x
    waves = torch.tensor([[0.0, 1.0, 0.0, 1.0], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]])
    torch.testing.assert_close(x[0], 2 * front.embed.weight[[3, 1]] + waves + front.type_embed.weight[[0, 1]])


def test_types_are_zero_if_not_given():
    front, tokens = TokenFrontend(5, 4, types=2), torch.tensor([[3, 1]])
    torch.testing.assert_close(front(tokens).x, front(tokens, types=torch.zeros_like(tokens)).x, rtol=0, atol=0)


def test_a_narrow_table_is_widened():
    front = TokenFrontend(5, 8, embed_dim=4, position=Learned(6, 4))
    x = front(torch.tensor([[3, 1]])).x
    torch.testing.assert_close(x[0], front.widen(front.embed.weight[[3, 1]] + front.position.table.weight[:2]))


@pytest.mark.parametrize(("token", "named"), [(5, 5), (900, 900), (-1, -1)])
def test_a_token_outside_the_vocabulary_is_named(token, named):
    with pytest.raises(
        ValueError, match=rf"token {named} is outside the vocabulary of 5 \(0 to 4\); was another token"
    ):
        TokenFrontend(5, 4)(torch.tensor([[0, token]]))


def test_a_type_that_the_model_does_not_know_is_named():
    tokens = torch.tensor([[0, 1]])
    with pytest.raises(ValueError, match=r"token type 2 is outside this model's 2 types \(0 to 1\)"):
        TokenFrontend(5, 4, types=2)(tokens, types=torch.tensor([[0, 2]]))
    with pytest.raises(ValueError, match="token type -3 is outside this model's 2 types"):
        TokenFrontend(5, 4, types=2)(tokens, types=torch.tensor([[0, -3]]))
    with pytest.raises(ValueError, match="token types were given, but this model has none; leave types out"):
        TokenFrontend(5, 4)(tokens, types=tokens)


@pytest.mark.parametrize("tokens", [torch.zeros(2, 3), torch.zeros(3, dtype=torch.long), torch.zeros(1, 2, 3).long()])
def test_tokens_are_integers_in_rows(tokens):
    with pytest.raises(ValueError, match="tokens must be integers, batch × length, but"):
        TokenFrontend(5, 4)(tokens)


# ---- pictures -------------------------------------------------------------------------------------------------------


def test_a_picture_of_224_has_196_patches_of_768_numbers():
    """224×224 in squares of 16×16: 14·14 = 196 tokens of 16·16·3 = 768, as the notes count."""
    assert patchify(torch.zeros(1, 3, 224, 224), 16).shape == (1, 196, 768)
    assert PatchFrontend(8, picture=224, patch=16).patches == 196


@pytest.mark.parametrize(("size", "height", "width"), [(4, 8, 8), (2, 6, 10), (16, 32, 16), (1, 3, 2)])
def test_patches_put_back_are_the_picture(size, height, width):
    pictures = torch.randn(2, 3, height, width)
    again = unpatchify(patchify(pictures, size), size, height, width)
    torch.testing.assert_close(again, pictures, rtol=0, atol=0)


def test_a_patch_holds_its_own_square():
    """Patches go row by row; within one, channel by channel."""
    picture = torch.arange(2 * 4 * 4.0).view(1, 2, 4, 4)
    second = patchify(picture, 2)[0, 1]
    assert second.tolist() == picture[0, :, :2, 2:].flatten().tolist()


def test_the_class_token_stands_first():
    front = PatchFrontend(8, picture=8, patch=4, position=Learned(5, 8))
    torch.nn.init.normal_(front.class_token)
    pictures = torch.randn(2, 3, 8, 8)
    x = front(pictures).x
    torch.testing.assert_close(x[:, 0], (front.class_token[0] + front.position.table.weight[:1]).expand(2, -1))
    torch.testing.assert_close(x[:, 1:], front.patch_proj(patchify(pictures, 4)) + front.position.table.weight[1:])


def test_pictures_of_a_wrong_size_are_refused():
    with pytest.raises(ValueError, match="a picture of 10×8 does not divide into patches of 4×4; resize it first"):
        patchify(torch.zeros(1, 3, 10, 8), 4)
    with pytest.raises(ValueError, match="pictures of 10×10 do not divide into patches of 4×4"):
        PatchFrontend(8, picture=10, patch=4)
    front = PatchFrontend(8, picture=8, patch=4)
    with pytest.raises(ValueError, match=r"pictures must be batch × 3 × 8 × 8, not \(1, 1, 8, 8\)"):
        front(torch.zeros(1, 1, 8, 8))
    with pytest.raises(ValueError, match=r"keep has shape \(1, 4\), but the input is \(1, 5\)"):
        front(torch.zeros(1, 3, 8, 8), torch.ones(1, 4, dtype=torch.bool))


# ---- sound ----------------------------------------------------------------------------------------------------------


def test_sound_of_a_wrong_shape_is_refused():
    front = SoundFrontend(6, 8)
    with pytest.raises(ValueError, match=r"frames must be batch × length × 6, not \(2, 6, 7\)"):
        front(torch.zeros(2, 6, 7))
    with pytest.raises(ValueError, match=r"keep has shape \(2, 6\), but the input is \(2, 7\)"):
        front(torch.zeros(2, 7, 6), torch.ones(2, 6, dtype=torch.bool))
    with pytest.raises(TypeError, match="keep must be boolean"):
        front(torch.zeros(2, 7, 6), torch.ones(2, 7))

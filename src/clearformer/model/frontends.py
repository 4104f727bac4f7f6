"""How data becomes vectors: tokens from a table, pictures from patches, sound from log-mel frames; and learned queries.

B batch, T length, D model width. A front end returns the vectors with what the stack must know about them: which are
real and where they stand.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import check_keep, position_ids
from clearformer.model.dropout import Dropout
from clearformer.model.positions import NoPosition
from clearformer.model.trace import note


class Embedded(NamedTuple):
    """Vectors x: B T D, keep: B T (None = all real), position ids: B T or 1 T."""

    x: Tensor
    keep: Tensor | None
    positions: Tensor


def add_place(front: nn.Module, x: Tensor, place: Tensor | None) -> Tensor:
    """Add what a position scheme has for the embeddings, if anything. x, place: B T D."""
    if place is None:
        return x
    note(front, "positions", place)
    return x + place.to(x.dtype)


def adds_places(front: nn.Module) -> bool:
    """Whether a front end adds a vector for each place, so that a token cannot be moved without becoming another."""
    position = getattr(front, "position", None)
    return isinstance(position, NoPosition) and type(position).embed is not NoPosition.embed


class WidenedEmbedding(nn.Embedding):
    """A narrow table whose vectors are brought to the model's width as they are looked up (OPT 350M)."""

    def __init__(self, vocabulary: int, width: int, dim: int) -> None:
        super().__init__(vocabulary, width)
        self.widen = nn.Linear(width, dim, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """B T -> B T D."""
        wide: Tensor = self.widen(super().forward(tokens))
        return wide


class TokenFrontend(nn.Module):
    """Look up a vector for each token, scale it, add its position (and its type), normalise, drop some.

    vocabulary: how many tokens there are, or the table of another front end, to share it.
    scale: √D in the 2017 paper. It does not keep values small, it makes them larger: the table is initialised with
    values of size 1/√D (an output layer that shares it needs that), and the waves added to it have size one.
    """

    def __init__(
        self,
        vocabulary: int | nn.Embedding,
        dim: int,
        *,
        embed_dim: int | None = None,
        scale: float = 1.0,
        position: NoPosition | None = None,
        types: int = 0,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        width = embed_dim or dim  # ALBERT looks up narrow vectors and widens them after the sum
        self.embed = vocabulary if isinstance(vocabulary, nn.Embedding) else nn.Embedding(vocabulary, width)
        self.type_embed = nn.Embedding(types, width) if types else None
        self.position = position if position is not None else NoPosition()
        self.norm = norm if norm is not None else nn.Identity()
        self.widen = nn.Linear(width, dim) if embed_dim is not None else nn.Identity()
        self.dropout, self.scale = Dropout(dropout), scale

    def forward(
        self, tokens: Tensor, keep: Tensor | None = None, positions: Tensor | None = None, types: Tensor | None = None
    ) -> Embedded:
        """tokens: B T integers; types: B T, zeros if not given."""
        if keep is not None:
            check_keep(keep, tokens.shape)
        if positions is None:
            positions = position_ids(tokens.shape, keep, device=tokens.device)
        x = self.look_up(tokens)
        x = add_place(self, x, self.position.embed(positions))
        if self.type_embed is not None:
            x = x + self.look_up_types(torch.zeros_like(tokens) if types is None else types)
        elif types is not None:
            raise ValueError("token types were given, but this model has none; leave types out")
        x = self.dropout(self.widen(self.norm(x)))
        note(self, "output", x)
        return Embedded(x, keep, positions)

    def look_up(self, tokens: Tensor) -> Tensor:
        """The scaled vector of each token. B T -> B T D."""
        if tokens.dim() != 2 or tokens.is_floating_point():
            raise ValueError(
                f"tokens must be integers, batch × length, but are {tokens.dtype} of shape {tuple(tokens.shape)}"
            )
        try:
            vectors: Tensor = self.embed(tokens)
        except IndexError as error:
            low, high = int(tokens.min()), int(tokens.max())
            wrong, size = (low if low < 0 else high), self.embed.num_embeddings
            raise ValueError(
                f"token {wrong} is outside the vocabulary of {size} (0 to {size - 1}); was another tokenizer used?"
            ) from error
        note(self, "embeddings", vectors)
        scaled = vectors * self.scale
        note(self, "scaled", scaled)
        return scaled

    def look_up_types(self, types: Tensor) -> Tensor:
        """The vector of each token's type. B T -> B T D."""
        assert self.type_embed is not None
        try:
            vectors: Tensor = self.type_embed(types)
        except IndexError as error:
            wrong = min(int(types.min()), 0) or int(types.max())
            size = self.type_embed.num_embeddings
            raise ValueError(f"token type {wrong} is outside this model's {size} types (0 to {size - 1})") from error
        return vectors


def patchify(pictures: Tensor, size: int) -> Tensor:
    """Cut pictures into squares and flatten each into a row. B C Y X -> B (Y/size · X/size) (C · size · size)."""
    _, _, height, width = pictures.shape
    if height % size or width % size:
        raise ValueError(
            f"a picture of {height}×{width} does not divide into patches of {size}×{size}; resize it first"
        )
    return F.unfold(pictures, size, stride=size).mT


def unpatchify(patches: Tensor, size: int, height: int, width: int) -> Tensor:
    """Put the squares back: the exact inverse of `patchify`."""
    return F.fold(patches.mT, (height, width), size, stride=size)


class LeadingVectors(NamedTuple):
    """Which vectors stand before those of the patches; registers, behind the others, have no place of their own."""

    class_token: bool = True
    teacher_token: bool = False
    registers: int = 0


CLASS_TOKEN = LeadingVectors()


class PictureFrontend(nn.Module):
    """A picture as a row of vectors, one for each patch, behind one class token (Dosovitskiy et al., 2021).

    How a patch becomes a vector is said by those that inherit from it.
    """

    def __init__(
        self,
        dim: int,
        *,
        picture: int,
        patch: int,
        channels: int = 3,
        before: LeadingVectors = CLASS_TOKEN,
        position: NoPosition | None = None,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if picture % patch:
            raise ValueError(f"pictures of {picture}×{picture} do not divide into patches of {patch}×{patch}")
        self.picture, self.patch, self.channels = picture, patch, channels
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim)) if before.class_token else None
        self.teacher_token = nn.Parameter(torch.zeros(1, 1, dim)) if before.teacher_token else None
        self.registers = nn.Parameter(torch.zeros(1, before.registers, dim)) if before.registers else None
        self.position = position if position is not None else NoPosition()
        self.norm = norm if norm is not None else nn.Identity()
        self.dropout = Dropout(dropout)

    @property
    def patches(self) -> int:
        """How many patches a picture has: 196 for 224×224 with 16×16."""
        return (self.picture // self.patch) ** 2

    @property
    def leading(self) -> list[Tensor]:
        """The vectors that stand before those of the patches, in their order: 1 1 D or 1 R D each."""
        return [one for one in (self.class_token, self.teacher_token, self.registers) if one is not None]

    def embed(self, pictures: Tensor) -> Tensor:
        """A vector for each patch, row by row. B C Y X -> B T D."""
        raise NotImplementedError

    def forward(self, pictures: Tensor, keep: Tensor | None = None, positions: Tensor | None = None) -> Embedded:
        """pictures: B C Y X floats; returns the vectors of `leading`, then one per patch."""
        expected = (self.channels, self.picture, self.picture)
        if pictures.dim() != 4 or pictures.shape[1:] != expected:
            raise ValueError(f"pictures must be batch × {' × '.join(map(str, expected))}, not {tuple(pictures.shape)}")
        x = self.embed(pictures)
        note(self, "embeddings", x)
        placed = [one for one in (self.class_token, self.teacher_token) if one is not None]
        x = torch.cat([*(one.to(x.dtype).expand(x.size(0), -1, -1) for one in placed), x], dim=1) if placed else x
        here = position_ids(x.shape[:2], None, device=x.device) if positions is None else positions
        x = add_place(self, x, self.position.embed(here))
        if self.registers is not None:
            own, before = self.registers.to(x.dtype).expand(x.size(0), -1, -1), len(placed)
            x = torch.cat((x[:, :before], own, x[:, before:]), dim=1)
            here = position_ids(x.shape[:2], None, device=x.device)  # for those who only need to tell them apart
        if keep is not None:
            check_keep(keep, x.shape[:2])
        x = self.dropout(self.norm(x))
        note(self, "output", x)
        return Embedded(x, keep, here)


class PatchFrontend(PictureFrontend):
    """Each patch by itself: its pixels in a row, through one projection."""

    def __init__(self, dim: int, *, patch: int, channels: int = 3, bias: bool = True, **others: Any) -> None:
        super().__init__(dim, patch=patch, channels=channels, **others)
        self.patch_proj = nn.Linear(channels * patch * patch, dim, bias=bias)

    def embed(self, pictures: Tensor) -> Tensor:
        x: Tensor = self.patch_proj(patchify(pictures, self.patch))
        return x


class QueryFrontend(nn.Module):
    """The input of a decoder that is given no tokens: one trained vector per object to look for (Carion et al., 2020).

    The queries are a set. They have no positions: what tells them apart is the vectors themselves.
    """

    def __init__(self, queries: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.queries = nn.Embedding(queries, dim)
        self.dropout = Dropout(dropout)

    def forward(self, batch: int) -> Embedded:
        """batch: how many inputs there are. Returns B Q D."""
        numbers = torch.arange(self.queries.num_embeddings, device=self.queries.weight.device)[None]
        x = self.dropout(self.queries(numbers).expand(batch, -1, -1))
        note(self, "output", x)
        return Embedded(x, None, numbers)


class SoundFrontend(nn.Module):
    """Log-mel frames through two convolutions, the second of which halves their count (Radford et al., 2022)."""

    def __init__(self, mels: int, dim: int, *, position: NoPosition | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.mels = mels
        self.narrow = nn.Conv1d(mels, dim, kernel_size=3, padding=1)
        self.halve = nn.Conv1d(dim, dim, kernel_size=3, stride=2, padding=1)
        self.position = position if position is not None else NoPosition()
        self.dropout = Dropout(dropout)

    def forward(self, frames: Tensor, keep: Tensor | None = None, positions: Tensor | None = None) -> Embedded:
        """frames: B T mels; keep: B T. Returns ⌈T/2⌉ vectors."""
        if frames.dim() != 3 or frames.size(-1) != self.mels:
            raise ValueError(f"frames must be batch × length × {self.mels}, not {tuple(frames.shape)}")
        if keep is not None:  # zero the padding, or the convolutions would carry it into the last real frames
            check_keep(keep, frames.shape[:2])
            frames = frames * keep[..., None]
        x = F.gelu(self.narrow(frames.mT))
        if keep is not None:
            x = x * keep[:, None]
            keep = keep[:, ::2]
        x = F.gelu(self.halve(x)).mT
        note(self, "embeddings", x)
        if positions is None:
            positions = position_ids(x.shape[:2], keep, device=x.device)
        x = add_place(self, x, self.position.embed(positions))
        x = self.dropout(x)
        note(self, "output", x)
        return Embedded(x, keep, positions)

"""Hide some tokens of a text and ask for them (Devlin et al., 2018). What is drawn here decides nothing yet.

A batch carries a number between 0 and 1 for each decision; the objective's rates say below which number a token is
hidden. So what happens is a pure function of the seed and the rates, and the rates may change without new draws.

B rows, T length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.collate import Batch
from clearformer.data.token_pairs import TokenIds
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.word_starts import WordStarts

NEVER = 2.0  # above every rate: markers and padding are not hidden


@dataclass(frozen=True, kw_only=True)
class MaskedBatch(Batch):
    """Texts with lots drawn for each token; `hide` shows them as the model sees them."""

    ids: Tensor  # B T: the texts as they are
    keep: Tensor  # B T
    lots: Tensor  # B T: a token is hidden where this is below the rate
    word_lots: Tensor  # B T: the same number for all pieces of a word
    fates: Tensor  # B T: what a hidden token is shown as
    others: Tensor  # B T: another token, to be shown instead of some
    directions: Tensor  # B: a row is read from left to right where this is below the objective's share
    mask: int  # the id of [MASK]


class Masking:
    """Draws the lots for rows of one vocabulary."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = tokenizer.special_ids
        self.mask, self.pad = tokenizer.special_id("mask"), special.get("pad", 0)
        self.starts = WordStarts(tokenizer)
        markers = [number for role, number in special.items() if role != "unk"]  # an unknown word is asked for, too
        self.hideable = np.ones(tokenizer.vocab_size, dtype=bool)
        self.hideable[markers] = False
        self.ordinary = np.setdiff1d(np.flatnonzero(self.hideable), list(special.values()))

    def draw(self, rows: Sequence[TokenIds], seed: Sequence[int]) -> MaskedBatch:
        """A padded batch. Without a seed, as in validation, the same places are hidden whenever a row is looked at,
        each is shown as [MASK], and no row is read from left to right.
        """
        ids = np.full((len(rows), max(map(len, rows))), self.pad, dtype=np.int64)
        keep = np.arange(ids.shape[1]) < np.array([[len(row)] for row in rows])
        ids[keep] = np.concatenate(rows)
        random = np.random.default_rng(seed or 0)
        if seed:
            drawn = random.random((2, *ids.shape), dtype=np.float32)
            fates, directions = random.random(ids.shape, dtype=np.float32), random.random(len(rows), dtype=np.float32)
        else:  # the text itself is the seed
            drawn = np.ones((2, *ids.shape), dtype=np.float32)
            for place, row in enumerate(rows):
                drawn[:, place, : len(row)] = np.random.default_rng(row).random((2, len(row)), dtype=np.float32)
            fates, directions = np.zeros_like(drawn[0]), np.full(len(rows), NEVER, dtype=np.float32)
        others = self.ordinary[random.integers(len(self.ordinary), size=ids.shape)]
        hideable = self.hideable[ids] & keep
        word_lots = np.stack([by_word(lots, self.starts(row)) for lots, row in zip(drawn[1], ids, strict=True)])
        return MaskedBatch(
            ids=torch.from_numpy(ids),
            keep=torch.from_numpy(keep),
            lots=torch.from_numpy(np.where(hideable, drawn[0], np.float32(NEVER))),
            word_lots=torch.from_numpy(np.where(hideable, word_lots, np.float32(NEVER))),
            fates=torch.from_numpy(fates),
            others=torch.from_numpy(others),
            directions=torch.from_numpy(directions),
            mask=self.mask,
        )


def by_word(lots: NDArray[np.float32], starts: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The lot of a word's first piece for all of its pieces."""
    spread: NDArray[np.float32] = lots[np.flatnonzero(starts)][np.cumsum(starts) - 1]
    return spread


def hide(batch: MaskedBatch, *, rate: float, masked: float, swapped: float, whole_words: bool) -> tuple[Tensor, Tensor]:
    """What the model sees, and which tokens are asked for (both B T): in every row at least one, if it has any.

    Of those, `masked` are shown as [MASK] and `swapped` as another token; the others are shown as they are.
    """
    lots = batch.word_lots if whole_words else batch.lots
    lowest = lots.amin(dim=1, keepdim=True)
    chosen = (lots < rate) | ((lots == lowest) & (lots < NEVER))
    shown = torch.where(chosen & (batch.fates < masked), batch.mask, batch.ids)
    swap = chosen & (batch.fates >= masked) & (batch.fates < masked + swapped)
    return torch.where(swap, batch.others, shown), chosen

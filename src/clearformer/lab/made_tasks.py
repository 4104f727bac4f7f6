"""Tasks that are made, not collected: endless data whose right answer is known."""

from collections.abc import Sequence

import torch
from torch import Tensor


def copying_batch(rows: int, length: int, vocabulary: int) -> Tensor:
    """Random tokens, a separator (token 0), and the same tokens again: rows × (2·length + 1)."""
    tokens = torch.randint(1, vocabulary, (rows, length))
    return torch.cat((tokens, torch.zeros(rows, 1, dtype=torch.long), tokens), dim=1)


def recall_batch(rows: int, length: int, vocabulary: int, distances: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Random tokens, then a question that says how far back the token stands that is wanted.

    distances: of 1 … length. Returns rows × (length + 1) tokens, the last of which is the question (vocabulary + its
    number), the answers, and the numbers of the questions.
    """
    tokens = torch.randint(vocabulary, (rows, length))
    asked = torch.randint(len(distances), (rows,))
    places = length - torch.tensor(distances)[asked]
    answers = tokens.gather(1, places[:, None])[:, 0]
    return torch.cat((tokens, vocabulary + asked[:, None]), dim=1), answers, asked

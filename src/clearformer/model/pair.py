"""Two networks that read texts and pictures into one space, where a text lies near the pictures that it describes.

N pictures, C texts, T tokens, W numbers in a vector.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.trace import note


class ContrastivePair(nn.Module):
    """A network of texts and one of pictures, and a score for every text at every picture.

    The score is the cosine of the two vectors times e^scale, and a softmax over all texts gives each of them its share
    (Radford et al., 2021). With `each`, a trained bias is added, and a sigmoid judges every text by itself (Zhai et
    al., 2023).
    """

    def __init__(self, texts: nn.Module, pictures: nn.Module, *, each: bool = False) -> None:
        super().__init__()
        self.texts, self.pictures = texts, pictures
        self.scale = nn.Parameter(torch.tensor(math.log(10.0 if each else 1 / 0.07)))  # as both papers begin
        self.bias = nn.Parameter(torch.tensor(-10.0)) if each else None

    def embed_texts(self, tokens: Tensor, *, keep: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """tokens: C T, keep: C T, True = real; returns C W, each of length one."""
        return F.normalize(self.texts(tokens, keep=keep, positions=positions), dim=-1)

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """pictures: N C Y X; returns N W, each of length one."""
        return F.normalize(self.pictures(pictures), dim=-1)

    def compare(self, pictures: Tensor, texts: Tensor) -> Tensor:
        """Scores of vectors of length one, pictures: N W and texts: C W. Returns N C."""
        cosines = pictures @ texts.mT
        note(self, "cosines", cosines)
        scores = cosines * self.scale.exp()
        scores = scores if self.bias is None else scores + self.bias
        note(self, "logits", scores)
        return scores

    def probabilities(self, scores: Tensor) -> Tensor:
        """How probable it is that a text belongs to a picture: among these texts, or, with a bias, by itself. N C."""
        return scores.softmax(-1) if self.bias is None else scores.sigmoid()

    def forward(self, pictures: Tensor, tokens: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """pictures: N C Y X, tokens: C T; returns scores N C."""
        return self.compare(self.embed_pictures(pictures), self.embed_texts(tokens, keep=keep))

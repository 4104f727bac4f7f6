"""When each token of a transcript was said, from where the decoder's cross-attention looked (dynamic time warping).

Of the heads that follow the sound (those that a model's publisher names, else all of the upper half of the layers),
the weights are compared across tokens, smoothed over a seventh of a second, and averaged. The path through tokens and
frames that gathers the most attention, and never goes back, says when each token begins.

N tokens, T frames (two per spectrum pair: 20 milliseconds for published models).
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.model.trace import trace

SMOOTH = 7  # frames of the median


class WordTimer(Protocol):
    """Finds the moments of tokens that are known."""

    def times(self, frames: Tensor, prompt: Sequence[int], tokens: Sequence[int], seconds: float) -> list[float]:
        """N + 1 moments in seconds: where each token begins, and where the last one ends."""


class AttentionTimer:
    """The model itself, which reads the finished text once more while its attention is watched."""

    def __init__(self, bundle: Bundle, facts: SoundFacts) -> None:
        self.model: Any = bundle.model.eval()
        self.facts = facts
        layers = bundle.config.layers if bundle.config.decoder_layers is None else bundle.config.decoder_layers
        upper = range(layers // 2, layers)
        every = range(bundle.config.attention.heads)
        self.heads = facts.heads or tuple((layer, head) for layer in upper for head in every)

    @torch.inference_mode()
    def times(self, frames: Tensor, prompt: Sequence[int], tokens: Sequence[int], seconds: float) -> list[float]:
        step = self.facts.step / self.facts.sample_rate
        count = max(1, min(-(-len(frames) // 2), round(seconds / step)))
        watched = [f"decoder.layers.{layer}.cross_attn.weights" for layer in {layer for layer, _ in self.heads}]
        with trace(self.model, only=watched) as seen:
            memory = self.model.encode(frames[None])
            self.model.decode(torch.tensor([[*prompt, *tokens]]), memory)
        weights = [seen[f"decoder.layers.{layer}.cross_attn.weights"][0, head] for layer, head in self.heads]
        # What a position looks at while it says the next token: the row before that token's own; last comes the end.
        said = torch.stack(weights)[:, len(prompt) - 1 : len(prompt) + len(tokens), :count].float().numpy()
        return [float(first * step) for first in first_frames(attention_map(said))]


def attention_map(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Heads N T -> N T: each frame's weight compared with what the other tokens give it, smoothed, and averaged."""
    spread = weights.std(axis=1, keepdims=True)
    compared = (weights - weights.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-8)
    reach = SMOOTH // 2
    padded = np.pad(
        compared, ((0, 0), (0, 0), (reach, reach)), mode="edge" if compared.shape[2] <= reach else "reflect"
    )
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, SMOOTH, axis=2), axis=-1)
    mean: NDArray[np.float64] = smooth.mean(axis=0, dtype=np.float64)
    return mean


def first_frames(gathered: NDArray[np.float64]) -> list[int]:
    """For each token the first frame of its part of the best path through N T (Sakoe and Chiba, 1978).

    A step goes to the next frame, to the next token, or to both. A row of the table is found at once: the best way to a
    frame enters the row somewhere to its left and walks on, so the least sum is a running minimum.
    """
    cost = -gathered
    count, length = cost.shape
    table = np.full((count + 1, length + 1), np.inf)
    table[0, 0] = 0.0
    for row in range(1, count + 1):
        walked = np.concatenate(([0.0], np.cumsum(cost[row - 1])))  # up to and with frame j
        entered = np.minimum(table[row - 1, :-1], table[row - 1, 1:])  # diagonally, or from the token before
        table[row, 1:] = np.minimum.accumulate(entered - walked[:-1]) + walked[1:]
    first = [0] * count
    row, column = count, length
    while row > 0 and column > 0:
        first[row - 1] = column - 1
        ways = (table[row - 1, column - 1], table[row - 1, column], table[row, column - 1])
        best = int(np.argmin(ways))
        row, column = row - (best < 2), column - (best != 1)
    return first

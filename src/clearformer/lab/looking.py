"""Where the heads of a trained translator's encoder look, averaged over sentences."""

from collections.abc import Sequence

import torch

from clearformer.lab.trained_networks import TrainedNetwork
from clearformer.model.trace import trace

SENTENCES, SHORTEST = 40, 3


def encoder_looks(network: TrainedNetwork, places: Sequence[int]) -> list[list[float]]:
    """The share of each head's weight at these places, seen from a token's own (0: itself), layer after layer."""
    translator, rows = network.predictor(), []
    for source in network.prepared.held.sources[:SENTENCES]:
        with trace(network.model, only=["*self_attn.weights"]) as seen:
            translator.score(source, [])
        weights = torch.cat([seen[name][0] for name in seen if name.startswith("encoder")])  # heads of all layers T T
        if weights.size(-1) > SHORTEST:
            diagonals = [weights.diagonal(offset=place, dim1=-2, dim2=-1).mean(-1) for place in places]
            rows.append(torch.stack(diagonals, dim=1))
    looks: list[list[float]] = torch.stack(rows).mean(0).tolist()
    return looks

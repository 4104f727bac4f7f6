"""A memory beside a language model: past states that are like the present one point at what followed them.

Grave et al., 2017, "Improving neural language models with a continuous cache". T new tokens, P past ones, D width.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


class ContinuousCache:
    """The last `size` states with the token that followed each.

    The cache gives a token the probability that is proportional to the sum of exp(theta · cosine) over the past states
    that it followed, and takes `share` of the whole. Cosines instead of the paper's products, so that theta means
    the same for every model.
    """

    def __init__(self, size: int, *, theta: float, share: float) -> None:
        self.size, self.theta, self.share = size, theta, share
        self._states: Tensor | None = None  # P D, of length one
        self._following: Tensor | None = None  # P

    def mix(self, log_probs: Tensor, states: Tensor, following: Tensor) -> Tensor:
        """The logarithms of the mixed probabilities of the following tokens, T; then remember these.

        log_probs: T, what the model alone gives to each of them; states: T D; following: T.
        """
        fresh = F.normalize(states.float(), dim=-1)
        keys = fresh if self._states is None else torch.cat((self._states, fresh))
        tokens = following if self._following is None else torch.cat((self._following, following))
        self._states, self._following = keys[-self.size :], tokens[-self.size :]
        here = torch.arange(len(keys) - len(fresh), len(keys), device=keys.device)[:, None]
        there = torch.arange(len(keys), device=keys.device)[None]
        seen = (there < here) & (there >= here - self.size)  # T P: what followed a state is known from the next one on
        scores = (self.theta * fresh @ keys.mT).masked_fill(~seen, -math.inf)
        pointing = scores.masked_fill(tokens[None] != following[:, None], -math.inf)
        cached = pointing.logsumexp(1) - scores.logsumexp(1)
        share = log_probs.new_tensor(self.share)
        mixed = torch.logaddexp(log_probs + (-share).log1p(), cached + share.log())
        return torch.where(seen.any(1), mixed, log_probs)  # before there is a past, the model is alone

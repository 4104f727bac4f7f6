"""A decoder-only model as writers use it: read a prompt, score what may follow. The fast path where there is one."""

from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.cache import DecoderCache
from clearformer.model.fast.causal import FastCausal, capture_causal
from clearformer.model.trace import watcher


class CausalNetwork:
    """A network with its fast version, which is captured when it is first needed, and anew after training.

    Weights are used in the bits in which the network keeps them.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model
        self.device = next(model.parameters()).device
        self._fast: FastCausal | None = None
        self._known = True

    def start_cache(self) -> DecoderCache:
        """An empty cache, for one batch of texts."""
        cache: DecoderCache = self.model.start_cache()
        return cache

    @torch.inference_mode()
    def read(self, tokens: Tensor, *, cache: DecoderCache, keep: Tensor | None = None) -> None:
        """Put tokens (B T) into the cache. keep: B T, True = real."""
        self.states(tokens, cache=cache, keep=keep)

    @torch.inference_mode()
    def states(self, tokens: Tensor, *, cache: DecoderCache, keep: Tensor | None = None) -> Tensor:
        """The same; returns what the head makes scores of: B T D."""
        fast = self._captured()
        read = self.model.decoder if fast is None else fast.states
        states: Tensor = read(tokens, keep=keep, cache=cache)
        return states

    @torch.inference_mode()
    def logits(self, tokens: Tensor, *, cache: DecoderCache, keep: Tensor | None = None) -> Tensor:
        """The same, and the scores of what follows each of them: B T V."""
        fast = self._captured()
        said: Tensor = (self.model if fast is None else fast)(tokens, keep=keep, cache=cache)
        return said

    def _captured(self) -> FastCausal | None:
        if watcher() is not None:  # somebody wants to see inside, and the fast path shows nothing
            return None
        if self._known and (self._fast is None or self._fast.stale()):
            self._fast = capture_causal(self.model)
            self._known = self._fast is not None
        return self._fast

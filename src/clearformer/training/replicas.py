"""One batch, several threads: each replica takes some of the rows through a model of its own that shares the weights.

Two threads that work together on every small product wait for each other hundreds of times a step; two replicas meet
once, when their gradients are added, in the order of the replicas and not of finishing, so a run is repeatable. Random
bits come from a generator for each replica.
"""

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from clearformer.model.dropout import drawing_from

B = TypeVar("B")
R = TypeVar("R")
LEAST_TOKENS = 512  # fewer in a replica and the products are too small to be worth their calls


def count_replicas(threads: int, batch_tokens: int, *, ranks: int = 1) -> int:
    """How many replicas to train on a processor with so many threads; several processes are replicas already."""
    if ranks > 1 or torch.cuda.is_available():
        return 1
    return max(1, min(threads, batch_tokens // LEAST_TOKENS))


class Replicas(Generic[B]):
    """A model and its twins, each in a thread of its own."""

    def __init__(self, model: nn.Module, count: int) -> None:
        self.model, self.twins = model, [copy.deepcopy(model).train() for _ in range(count - 1)]
        self.threads = torch.get_num_threads()
        self.generators = [torch.Generator() for _ in range(count)]
        self.pool = ThreadPoolExecutor(count, thread_name_prefix="replica")

    def learn(self, parts: Sequence[B], seeds: Sequence[int], learn: Callable[[nn.Module, B], R]) -> list[R]:
        """Call `learn`, which leaves gradients behind, for each part; the gradients end up, added, in the model."""
        models = [self.model, *self.twins][: len(parts)]
        for twin in models[1:]:
            _share(self.model, twin)
        each = max(1, self.threads // len(self.generators))

        def work(model: nn.Module, part: B, generator: torch.Generator, seed: int) -> R:
            torch.set_num_threads(each)  # a thread's own setting, but for one library that has it once for all
            with drawing_from(generator.manual_seed(seed)):
                return learn(model, part)

        try:
            jobs = [self.pool.submit(work, *job) for job in zip(models, parts, self.generators, seeds, strict=False)]
            results = [job.result() for job in jobs]
        finally:
            torch.set_num_threads(self.threads)
        for twin in models[1:]:
            _add_gradients(self.model, twin)
        return results


def _share(model: nn.Module, twin: nn.Module) -> None:
    """Let the twin compute with the model's numbers; only its gradients are its own."""
    for own, other in zip(_tensors(model), _tensors(twin), strict=True):
        other.data = own.data


def _add_gradients(model: nn.Module, twin: nn.Module) -> None:
    """Move the twin's gradients into the model's."""
    with torch.no_grad():
        for own, other in zip(model.parameters(), twin.parameters(), strict=True):
            if other.grad is not None:
                own.grad = other.grad if own.grad is None else own.grad.add_(other.grad)
                other.grad = None


def _tensors(model: nn.Module) -> list[Tensor]:
    return [*model.parameters(), *model.buffers()]

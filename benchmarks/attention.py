"""Our attention compared with PyTorch's, in one run: `make bench`.

Four ways to the same numbers: `attend` (written like the formula) and `attend_fused` behind our layer, PyTorch's
`nn.MultiheadAttention`, and the bare formula without a layer. They take turns, so that other load on the
machine affects all of them; medians and ratios are printed, and whether the machine was idle.
"""

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import Attention, attend, attend_fused, merge, split
from clearformer.model.attention_context import AttentionContext

Forward = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One row of the table."""

    batch: int
    length: int
    dim: int
    heads: int
    causal: bool = False
    backward: bool = False

    def __str__(self) -> str:
        words = f"{self.batch} × {self.length} × {self.dim}, {self.heads} heads"
        return words + (", causal" if self.causal else "") + (", with gradients" if self.backward else "")


SETTINGS = [
    Setting(batch=32, length=32, dim=512, heads=8),
    Setting(batch=8, length=128, dim=512, heads=8, causal=True),
    Setting(batch=8, length=128, dim=512, heads=8, backward=True),
    Setting(batch=1, length=1024, dim=512, heads=8, causal=True),
]


def ways(s: Setting) -> dict[str, Forward]:
    """The four ways, with the same weights."""
    ours = Attention(s.dim, heads=s.heads)
    slots = torch.arange(s.length)[None]
    mask = masks.causal(s.length, s.length) if s.causal else None
    context = AttentionContext(slots, slots, mask=mask)
    theirs = nn.MultiheadAttention(s.dim, s.heads, batch_first=True)
    copy_weights(ours, theirs)

    def through(kernel: Callable[..., Tensor]) -> Forward:
        def forward(x: Tensor) -> Tensor:
            ours.kernel = kernel
            return ours(x, context)

        return forward

    def pytorch(x: Tensor) -> Tensor:
        closed = None if mask is None else ~mask  # in PyTorch True means: may not look
        return theirs(x, x, x, attn_mask=closed, need_weights=False)[0]

    def formula(x: Tensor) -> Tensor:
        q, k, v = (split(project(x), s.heads) for project in (ours.q_proj, ours.k_proj, ours.v_proj))
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return ours.out_proj(merge(scores.softmax(-1) @ v))

    return {
        "attend_fused": through(attend_fused),
        "attend": through(attend),
        "nn.MultiheadAttention": pytorch,
        "bare formula": formula,
    }


@torch.no_grad()
def copy_weights(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    """PyTorch keeps the three input projections in one matrix."""
    inputs = (ours.q_proj, ours.k_proj, ours.v_proj)
    theirs.in_proj_weight.copy_(torch.cat([project.weight for project in inputs]))
    theirs.in_proj_bias.copy_(torch.cat([project.bias for project in inputs]))
    theirs.out_proj.weight.copy_(ours.out_proj.weight)
    theirs.out_proj.bias.copy_(ours.out_proj.bias)


def race(s: Setting, rounds: int) -> dict[str, float]:
    """Median seconds of each way, after a check that all of them give the same numbers."""
    contestants = ways(s)
    x = torch.randn(s.batch, s.length, s.dim, requires_grad=s.backward)
    expected = contestants["bare formula"](x)
    for name, forward in contestants.items():
        torch.testing.assert_close(forward(x), expected, atol=1e-4, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    with torch.set_grad_enabled(s.backward):
        for _ in range(rounds):
            for name, forward in contestants.items():
                times[name].append(clock(forward, x, backward=s.backward))
    return {name: statistics.median(found) for name, found in times.items()}


def clock(forward: Forward, x: Tensor, *, backward: bool) -> float:
    """Seconds of one pass."""
    started = time.perf_counter()
    output = forward(x)
    if backward:
        output.sum().backward()
    return time.perf_counter() - started


def machine() -> str:
    """Other load: on a busy machine the medians are worthless and the ratios doubtful."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    state = "idle" if load < 0.3 * cores else "busy: run again when nothing else runs"
    return f"load {load:.1f} on {cores} cores ({state}); torch {torch.__version__}, {torch.get_num_threads()} threads"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30, help="turns of each way (30)")
    rounds = parser.parse_args().rounds
    torch.manual_seed(2017)
    print(f"before: {machine()}")
    for setting in SETTINGS:
        medians = race(setting, rounds)
        print(f"\n{setting}")
        for name, seconds in medians.items():
            ratio = seconds / medians["nn.MultiheadAttention"]
            print(f"  {name:24}{1000 * seconds:9.2f} ms   {ratio:5.2f} × nn.MultiheadAttention")
        sys.stdout.flush()
    print(f"\nafter:  {machine()}")


if __name__ == "__main__":
    main()

"""Position schemes side by side, computed by the classes that models use."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.model.positions import Alibi, Buckets, Learned, Rotary, Sinusoidal
from clearformer.studio.packing import pack
from clearformer.studio.shown_model import ShownModel


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large the pictures are."""

    length: int = 64
    dim: int = 64
    heads: int = 8


@torch.inference_mode()
def schemes(sizes: Sizes, shown_model: ShownModel | None = None) -> dict[str, Any]:
    """Matrices, similarities by distance, angles, slopes and buckets; and the model's own table, if it has one."""
    waves = Sinusoidal(sizes.dim).embed(torch.arange(sizes.length))
    steps = torch.arange(sizes.length)
    distances = torch.arange(-sizes.length + 1, sizes.length)
    return {
        "length": sizes.length,
        "dim": sizes.dim,
        "sinusoidal": {"matrix": pack(waves), "similarity": pack(similarity(waves))},
        "rotary": _rotary(sizes, steps),
        "alibi": {"slopes": pack(Alibi(sizes.heads).slopes())},
        "buckets": {
            "distances": distances.tolist(),
            "both_ways": Buckets(1, bidirectional=True).bucket(distances).tolist(),
            "backwards": Buckets(1, bidirectional=False).bucket(distances).tolist(),
        },
        "own": None if shown_model is None else _own(shown_model, sizes),
    }


def similarity(vectors: Tensor) -> Tensor:
    """Mean cosine of vectors by distance: entry k is the mean over p of cos(v[p], v[p + k])."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1)
    products = unit @ unit.mT
    return torch.stack([products.diagonal(offset).mean() for offset in range(len(vectors))])


def _rotary(sizes: Sizes, steps: Tensor) -> dict[str, Any]:
    """Angles of every pair, and the mean of q·k by distance when q = k = 1 in every feature."""
    cosines, sines = Rotary(sizes.dim).turn(steps[None])
    exponent = torch.arange(0, sizes.dim, 2, dtype=torch.float64) / sizes.dim
    return {
        "cos": pack(cosines[0, 0]),
        "sin": pack(sines[0, 0]),
        "frequencies": pack(torch.pow(10_000.0, -exponent)),
        "similarity": pack(cosines[0, 0].mean(-1)),
    }


def _own(shown_model: ShownModel, sizes: Sizes) -> dict[str, Any] | None:
    """What the model itself learned about positions: a table of vectors, or a bias for each bucket."""
    for name, module in shown_model.model.named_modules():
        if isinstance(module, Learned):
            rows = module.table.weight[module.offset : module.offset + sizes.length]
            return {"kind": "learned", "name": name, "matrix": pack(rows), "similarity": pack(similarity(rows))}
        if isinstance(module, Buckets):
            distances = torch.arange(-sizes.length + 1, sizes.length)
            bias = module.table(module.bucket(distances)).mT  # H distances
            return {"kind": "buckets", "name": name, "distances": distances.tolist(), "bias": pack(bias)}
    return None

"""How far two programs are apart: the largest difference of their values, measured by how large those are."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

TOLERANCE = 1e-4  # of the largest value, or of 1: two float32 programs that sum in another order stay far below it


class DisagreementError(Exception):
    """The two programs do not even return the same parts."""


class Gap(NamedTuple):
    """How far two values are apart, and how large theirs are."""

    largest: float
    scale: float


def difference(mine: Tensor, theirs: Tensor, keep: Tensor | None = None) -> Gap:
    """keep: which positions count; None = all of them."""
    if mine.shape != theirs.shape:
        raise DisagreementError(f"transformers returns {tuple(theirs.shape)} where the model has {tuple(mine.shape)}")
    mine, theirs = (mine, theirs) if keep is None else (mine[keep], theirs[keep])
    return Gap(float((mine - theirs).abs().max()), float(theirs.abs().max()))


def fault(compared: Mapping[str, Gap]) -> str:
    """The first place where the two programs differ by more than rounding; a NaN differs from everything."""
    for name, gap in compared.items():
        if not gap.largest <= TOLERANCE * max(1.0, gap.scale):
            apart = f"differs by {gap.largest:.1e}" if math.isfinite(gap.largest) else "is not a number"
            return f"{name} {apart}, where the values of transformers reach {gap.scale:.1e}"
    return ""

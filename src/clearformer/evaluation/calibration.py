"""Whether probabilities are true: of all that is said with 80 %, 80 of 100 should be right.

A network trained to the end is usually too sure of itself. One number fitted on the development set, by which all
logits are divided, mends most of it and changes no decision (temperature scaling, Guo et al., 2017).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

BINS = 15  # of equal width, as in the paper
LEAST, MOST = 0.05, 20.0  # temperatures that are looked at
STEPS = 40  # of the search; each leaves 62 % of the interval
_GOLDEN = (math.sqrt(5) - 1) / 2


def calibration_error(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = BINS) -> float:
    """The expected calibration error: how far confidence and share of right ones are apart, on average over bins."""
    if len(probabilities) != len(right) or not len(right):
        raise ValueError(f"{len(probabilities)} probabilities cannot be compared with {len(right)} outcomes")
    sure, hit = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(float((sure - hit)[places == one].sum())) for one in range(bins)]
    return sum(gaps) / len(sure)


def fit_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss, by golden-section search on a logarithmic scale.

    1 stays 1 unless another is really better: with few examples the loss may be flat.
    """
    low, high = math.log(LEAST), math.log(MOST)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = loss(math.exp(a)), loss(math.exp(b))
    for _ in range(STEPS):
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = loss(math.exp(a))
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = loss(math.exp(b))
    found = math.exp((low + high) / 2)
    return round(found, 4) if loss(found) < loss(1.0) else 1.0


def settle_temperature(loss: Callable[[float], float], error: Callable[[float], float]) -> tuple[float, str]:
    """The fitted temperature, and what there is to say of it.

    A model that has hardly learned anything can have its least loss where it is far too sure of itself; then its
    probabilities stay as they are. So they do where the least loss is at the end of what is looked at: without a
    mistake to learn from, the lower a temperature the better, and every answer would be certain.
    """
    found = fit_temperature(loss)
    before, after = error(1.0), error(found)
    said = f"expected calibration error on dev {before:.3f}"
    if found <= LEAST * 1.01:
        return 1.0, f"calibration: left as it is; {said}, and too few mistakes there to fit a temperature by"
    if after > before:
        return 1.0, f"calibration: left as it is; {said}, and {after:.3f} with a temperature of {found:.2f}"
    return found, f"calibration: temperature {found:.2f}; {said} before, {after:.3f} after"

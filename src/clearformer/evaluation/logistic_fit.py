"""Logistic regression with few features, and how true its probabilities are on what it did not see."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.evaluation.calibration import calibration_error

BINS = 10
LEAST = 100  # examples, half of which are fitted
STEPS, RIDGE = 50, 1e-3  # of Newton's method; the ridge keeps weights finite where the classes can be told apart


@dataclass(frozen=True, kw_only=True)
class LogisticFit:
    """error: expected calibration error in ten bins, of the half that was held out; share: of good ones in it; auc: how
    often a good one is surer than a bad one."""

    weights: tuple[float, ...]
    error: float
    share: float
    auc: float
    fitted: int
    held_out: int


def fit_halves(features: Sequence[Sequence[float]], good: Sequence[bool]) -> LogisticFit:
    """Fit every other example, and look at the rest."""
    if len(features) < LEAST:
        raise ValueError(f"{len(features)} sentences are too few to calibrate with; give at least {LEAST}")
    x, y = np.asarray(features, dtype=np.float64), np.asarray(good, dtype=np.float64)
    if len(set(y[::2].tolist())) < 2 or len(set(y[1::2].tolist())) < 2:
        raise ValueError("all translations are good, or all bad, which leaves nothing to fit; change the threshold")
    weights = fit_logistic(x[::2], y[::2])
    said = predict(x[1::2], weights)
    return LogisticFit(
        weights=tuple(map(float, weights)),
        error=calibration_error(said.tolist(), (y[1::2] > 0).tolist(), bins=BINS),
        share=float(y[1::2].mean()),
        auc=_auc(said, y[1::2]),
        fitted=len(x[::2]),
        held_out=len(x[1::2]),
    )


def fit_logistic(x: "np.ndarray", y: "np.ndarray") -> "np.ndarray":
    """The weights of the largest likelihood, by Newton's method with halved steps where a full one goes too far."""
    weights = np.zeros(x.shape[1])
    loss = _loss(x, y, weights)
    for _ in range(STEPS):
        said = predict(x, weights)
        slope = x.T @ (said - y) + RIDGE * weights
        curve = (x * (said * (1 - said))[:, None]).T @ x + RIDGE * np.eye(x.shape[1])
        step, size = np.linalg.solve(curve, slope), 1.0
        while (new := _loss(x, y, weights - size * step)) > loss and size > 1e-6:
            size /= 2
        weights, gained, loss = weights - size * step, loss - new, new
        if abs(gained) < 1e-9:
            break
    return weights


def predict(x: "np.ndarray", weights: "np.ndarray") -> "np.ndarray":
    """The probability of each example."""
    return np.asarray(1 / (1 + np.exp(-np.clip(x @ weights, -30, 30))))


def _loss(x: "np.ndarray", y: "np.ndarray", weights: "np.ndarray") -> float:
    total = np.clip(x @ weights, -30, 30)
    return float(np.logaddexp(0, total).sum() - y @ total + RIDGE / 2 * weights @ weights)


def _auc(said: "np.ndarray", y: "np.ndarray") -> float:
    good, bad = said[y > 0], said[y == 0]
    return float((good[:, None] > bad[None]).mean() + (good[:, None] == bad[None]).mean() / 2)

"""Attention in four numbers: guess a pupil's chemistry mark from the marks of three others.

D's four known marks are the query, those of A, B and C the keys, their chemistry marks the values. First every step of
the formula is computed by hand, with the standard library alone; then the package's `attend` gives the same numbers.
"""

import math

import torch

from clearformer.model.attention import attend

QUERY = [0.44, 0.45, 0.48, 0.49]
KEYS = {"A": [0.48, 0.5, 0.45, 0.48], "B": [-0.1, 0.1, -0.3, 0.1], "C": [0.1, 0.5, 0.1, 0.5]}
VALUES = [0.5, 0.1, 0.5]


def by_hand(scale: float) -> tuple[list[float], float]:
    """softmax(q·kᵀ × scale)·v: three weights that sum to one, and the mark that they give."""
    scores = [scale * sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS.values()]
    powers = [math.exp(score) for score in scores]
    weights = [power / sum(powers) for power in powers]
    return weights, sum(weight * value for weight, value in zip(weights, VALUES, strict=True))


def by_package(scale: float) -> tuple[list[float], float]:
    """The same through `attend`: one sentence, one head, one query, three keys. B H T K and B H S K."""
    seen: dict[str, torch.Tensor] = {}
    q = torch.tensor(QUERY).view(1, 1, 1, 4)
    k = torch.tensor(list(KEYS.values())).view(1, 1, 3, 4)
    v = torch.tensor(VALUES).view(1, 1, 3, 1)
    output = attend(q, k, v, scale=scale, notes=seen.__setitem__)
    return seen["weights"].flatten().tolist(), output.item()


def main() -> None:
    print(f"{'':28}" + "".join(f"{name:>8}" for name in KEYS) + f"{'mark':>9}")
    for name, scale in (("plain dot products", 1.0), ("divided by √d_k = 2", 1 / math.sqrt(len(QUERY)))):
        for way, compute in (("by hand", by_hand), ("attend()", by_package)):
            weights, mark = compute(scale)
            print(f"{name:20}{way:8}" + "".join(f"{weight:8.4f}" for weight in weights) + f"{mark:9.4f}")


if __name__ == "__main__":
    main()

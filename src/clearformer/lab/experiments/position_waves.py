"""Claim (question 9): sinusoidal positions are invariant under shifts.

Expected: products of two waves depend on their distance alone (to 1e-4), and a shift by k is one matrix for all
places (residual below 1e-5). But the vectors change, and so do scores once W_Q and W_K stand between them.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
    column,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.positions import Sinusoidal

DIM, LENGTH, SHIFT, SHOWN = 64, 256, 7, 64


def measure(trial: Trial) -> Measured:
    """Waves, their products by distance, the matrix of a shift, and scores through random projections."""
    waves = Sinusoidal(DIM).embed(torch.arange(LENGTH)[None])[0].double()
    products = waves @ waves.T
    w_q, w_k = (torch.randn(DIM, DIM, dtype=torch.float64) / math.sqrt(DIM) for _ in range(2))
    scores = (waves @ w_q) @ (waves @ w_k).T / math.sqrt(DIM)
    shifted = waves[:-SHIFT] @ _turn(SHIFT).T
    moved = (waves[SHIFT:] - waves[:-SHIFT]).square().mean().sqrt().item()
    return {
        "products": _varies(products),
        "scores": _varies(scores) / scores.std().item(),
        "vectors": moved,
        "matrix": (shifted - waves[SHIFT:]).abs().max().item(),
        "by_distance": [products.diagonal(step).mean().item() for step in range(SHOWN)],
        "scores_at": [[scores[start, start + step].item() for step in range(SHOWN)] for start in (0, 60, 120)],
    }


def _varies(table: Tensor) -> float:
    """How much the entries of the same distance differ, at the worst distance."""
    diagonals = (table.diagonal(step) for step in range(LENGTH - 1))
    return max((line.max() - line.min()).item() for line in diagonals)


def _turn(step: int) -> Tensor:
    """PE(p + step) = this · PE(p): each sine and cosine turned by its own angle."""
    matrix = torch.zeros(DIM, DIM, dtype=torch.float64)
    for pair, frequency in enumerate(Sinusoidal(DIM).frequencies(torch.device("cpu")).tolist()):
        cos, sin = math.cos(step * frequency), math.sin(step * frequency)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    return matrix


def conclude(found: Sequence[Measurement]) -> Findings:
    """Invariant as products, not as vectors and not as scores."""
    rows = (
        (
            "products",
            Bilingual(
                "products PE(p)·PE(p + k): largest difference between places",
                "内积 PE(p)·PE(p + k) 在不同位置间的最大差异",
            ),
        ),
        (
            "matrix",
            Bilingual("PE(p + 7) − M·PE(p), one matrix M for all p", "PE(p + 7) − M·PE(p)，所有 p 共用一个矩阵 M"),
        ),
        ("vectors", Bilingual("PE(p + 7) − PE(p), root mean square", "PE(p + 7) − PE(p) 的均方根")),
        (
            "scores",
            Bilingual(
                "scores through W_Q, W_K of equal distance: difference ÷ deviation",
                "经过 W_Q、W_K 后同距离分数的差异 ÷ 标准差",
            ),
        ),
    )
    table = MeasuredTable(
        title=Bilingual("What a shift changes", "平移改变了什么"),
        columns=(Bilingual("quantity", "量"), Bilingual("number", "数值")),
        rows=[(label, spread(column(found, name))) for name, label in rows],
    )
    products, scores = found[0].values["by_distance"], found[0].values["scores_at"]
    distance = Bilingual("distance k", "距离 k")
    figure = _figure(distance, scores, products)
    return Findings(
        claims=[
            Check(says=rows[0][1], values=column(found, "products"), high=1e-4),
            Check(says=rows[1][1], values=column(found, "matrix"), high=1e-5),
        ],
        conditions=[
            Check(says=rows[2][1], values=column(found, "vectors"), low=0.1),
            Check(says=rows[3][1], values=column(found, "scores"), low=0.5),
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(distance: Bilingual, scores: Sequence[Sequence[float]], products: Sequence[float]) -> MeasuredFigure:
    return draw_curves(
        "distance",
        Bilingual("Waves of equal distance", "同距离的位置波"),
        Curves(
            title="PE(p)·PE(p + k)",
            x_label=distance,
            lines=[(Bilingual("any place p", "任意位置 p"), list(enumerate(products)))],
        ),
        Curves(
            title=Bilingual("score through random W_Q, W_K", "经过随机 W_Q、W_K 的分数"),
            x_label=distance,
            lines=[(f"p = {start}", list(enumerate(line))) for start, line in zip((0, 60, 120), scores, strict=True)],
        ),
    )


EXPERIMENT = Experiment(
    name="position-waves",
    number="9",
    question=Bilingual("What are sinusoidal positions good for?", "正弦位置编码有什么意义和优缺点？"),
    claim=Bilingual("without parameters, and invariant under shifts", "无参数、可推广到长序列、具备平移不变性"),
    expected=Bilingual(
        "products by distance alone: to 1e-4; one matrix per shift: to 1e-5; vectors and scores change",
        "内积只取决于距离（精确到 1e-4）；每个平移对应一个矩阵（1e-5）；向量和分数会变",
    ),
    answer=Bilingual(
        "The encoding is absolute: every place has its own vector. Relative information can be derived from it, "
        "because "
        "PE(p + k) is PE(p) turned by an angle that depends on k alone, so products depend on the distance alone. But "
        "attention multiplies by W_Q and W_K first, adds words, and then scores of the same distance differ from "
        "place to "
        "place. Rotary positions turn queries and keys behind the projection, and keep what the waves only promise.",
        "正弦编码是绝对的：每个位置都有自己的向量。相对信息可以从中推出来，因为 PE(p + k) 就是把 PE(p) 旋转一个只与 "
        "k 有关的角度，所以内积"
        "只取决于距离。但注意力先乘 W_Q 和 W_K，又加上了词，此后同样距离的分数在不同位置并不相同。旋转位置编码（RoPE）"
        "在投影之后再旋转查询和键，"
        "真正做到了正弦波只是“许诺”的事。",
    ),
    code=("src/clearformer/model/positions.py",),
    measure=measure,
    conclude=conclude,
)

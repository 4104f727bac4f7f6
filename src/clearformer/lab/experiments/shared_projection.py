"""Claim (the notes): query, key and value can be exchanged for one another, they are "the same thing".

Expected: exchanging W_Q and W_K changes the output by more than 1 (vectors of size one); with one matrix for both
the scores are symmetric, and six random tokens give themselves a weight of about 0.92 instead of 0.17.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_matrices
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Trial,
    column,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.attention import attend

TOKENS, DIM, HEAD_DIM = 6, 64, 32


def measure(trial: Trial) -> Measured:
    """Random tokens and projections, many times; the last set is kept for the picture."""
    rounds = 50 if trial.quick else 400
    x = torch.randn(rounds, 1, TOKENS, DIM)
    w_q, w_k, w_v = (torch.randn(rounds, 1, DIM, HEAD_DIM) / DIM**0.5 for _ in range(3))
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    separate, shared = _weights(q, k), _weights(q, q)
    exchanged = (attend(q, k, v) - attend(k, q, v)).abs()
    return {
        "self_separate": _diagonal(separate),
        "self_shared": _diagonal(shared),
        "asymmetry_separate": (q @ k.mT - (q @ k.mT).mT).abs().amax().item(),
        "asymmetry_shared": (q @ q.mT - (q @ q.mT).mT).abs().amax().item(),
        "exchanged": exchanged.amax((-1, -2, -3)).mean().item(),
        "picture_separate": separate[-1, 0].tolist(),
        "picture_shared": shared[-1, 0].tolist(),
    }


def _weights(q: Tensor, k: Tensor) -> Tensor:
    scores: Tensor = q @ k.mT / float(q.size(-1)) ** 0.5
    return scores.softmax(-1)


def _diagonal(weights: Tensor) -> float:
    return weights.diagonal(dim1=-2, dim2=-1).mean().item()


def conclude(found: Sequence[Measurement]) -> Findings:
    """Exchangeable would mean: nothing changes."""
    exchanged = column(found, "exchanged")
    table = MeasuredTable(
        title=Bilingual("Six random tokens", "六个随机词元"),
        columns=(
            "",
            Bilingual("weight on itself", "给自己的权重"),
            Bilingual("largest asymmetry of the scores", "分数矩阵的最大不对称"),
        ),
        rows=[
            (
                Bilingual("W_Q and W_K separate", "W_Q 与 W_K 分开"),
                spread(column(found, "self_separate")),
                spread(column(found, "asymmetry_separate")),
            ),
            (
                Bilingual("one matrix for both", "共用一个矩阵"),
                spread(column(found, "self_shared")),
                spread(column(found, "asymmetry_shared")),
            ),
        ],
    )
    picture = draw_matrices(
        "weights",
        Bilingual("Who looks at whom: separate projections, one projection", "谁看谁：两个投影分开，共用一个投影"),
        {
            Bilingual("separate", "分开"): found[0].values["picture_separate"],
            Bilingual("shared", "共用"): found[0].values["picture_shared"],
        },
        [str(place + 1) for place in range(TOKENS)],
        across=2,
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("exchanging W_Q and W_K changes nothing", "交换 W_Q 与 W_K 后输出不变"),
                values=exchanged,
                high=1e-5,
            )
        ],
        tables=[table],
        figures=[picture],
    )


EXPERIMENT = Experiment(
    name="shared-projection",
    number="2",
    question=Bilingual("Why do Q and K need different weight matrices?", "为什么 Q 和 K 要用不同的权重矩阵？"),
    claim=Bilingual(
        "q, k and v can be exchanged for one another, they are the thing itself", "q, k, v 可以互换，是自身"
    ),
    expected=Bilingual(
        "output changes by more than 1; with one matrix, weight on itself about 0.9 instead of 0.17",
        "输出变化超过 1；共用一个矩阵时，给自己的权重约 0.9，而不是 0.17",
    ),
    answer=Bilingual(
        "“What do I look for?” and “what do I offer?” are two questions, and two matrices let a token answer them "
        "differently. With one matrix for both, the score of i for j equals that of j for i, and a vector's product "
        "with "
        "itself is its squared length, the largest it can have: each token looks mostly at itself. Parameters are not "
        "the point, since one learned matrix has parameters too. What Q, K and V share is their source, and nothing "
        "else.",
        "“我要找什么”和“我能提供什么”是两个问题，两个矩阵让一个词元可以给出不同的回答。如果共用一个矩阵，i 对 j 的分"
        "数就等于 j 对 i "
        "的分数，而一个向量与自己的点积是它长度的平方，几乎总是最大的，于是每个词元主要看自己。关键不在于有没有参数："
        "共用的那个矩阵"
        "同样有参数。Q、K、V 相同的只是来源 X，除此之外没有什么是相同的。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
)

"""Claim: Z₄ = Q₄K₁V₁ + Q₄K₂V₂ + Q₄K₃V₃ + Q₄K₄V₄.

Expected: scaling and softmax are left out. As written it is linear attention: not an average, its size grows with
the number of tokens and with the scores, and it differs from attention by more than 10 at d_k = 64.
"""

from collections.abc import Sequence

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.attention import attend

LENGTHS, HEAD_DIM = (4, 8, 16, 32, 64, 128), 64


def measure(trial: Trial) -> Measured:
    """Both readings for texts of growing length."""
    plain, proper, apart, outside = [], [], [], []
    for length in LENGTHS:
        q, k, v = (torch.randn(8, 1, length, HEAD_DIM) for _ in range(3))
        as_written, attention = q @ k.mT @ v, attend(q, k, v)
        plain.append(as_written.square().mean().sqrt().item())
        proper.append(attention.square().mean().sqrt().item())
        apart.append((as_written - attention).abs().max().item())
        above, below = v.amax(-2, keepdim=True), v.amin(-2, keepdim=True)
        outside.append(((as_written > above) | (as_written < below)).float().mean().item())
    return {"plain": plain, "proper": proper, "apart": apart[0], "outside": outside[0], "growth": plain[-1] / plain[0]}


def conclude(found: Sequence[Measurement]) -> Findings:
    """If nothing were missing, both would be the same."""
    table = MeasuredTable(
        title=Bilingual("Four tokens, d_k = 64", "四个词元，d_k = 64"),
        columns=("", Bilingual("number", "数值")),
        rows=[
            (Bilingual("largest difference from attention", "与注意力的最大差异"), spread(column(found, "apart"))),
            (
                Bilingual("share of outputs outside the range of the values", "输出超出 V 取值范围的比例"),
                spread(column(found, "outside")),
            ),
            (
                Bilingual("size with 128 tokens ÷ with 4", "128 个词元时的大小 ÷ 4 个时"),
                spread(column(found, "growth")),
            ),
        ],
    )
    figure = draw_curves(
        "size",
        Bilingual("Size of the output against the length of the text", "输出大小随文本长度的变化"),
        Curves(
            x_label=Bilingual("tokens", "词元数"),
            lines=[
                (
                    Bilingual("as written: Σ (q·k) v", "照原文：Σ (q·k) v"),
                    list(zip(LENGTHS, mean_lists(found, "plain"), strict=True)),
                ),
                (Bilingual("attention", "注意力"), list(zip(LENGTHS, mean_lists(found, "proper"), strict=True))),
            ],
            log_x=True,
            log_y=True,
        ),
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("difference from attention", "与注意力的最大差异"),
                values=column(found, "apart"),
                high=1e-4,
            )
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="missing-softmax",
    number="–",
    question=Bilingual("What is Z₄ made of?", "Z4 是怎么算出来的？"),
    claim=Bilingual(
        "Z₄ = Q₄K₁V₁ + Q₄K₂V₂ + Q₄K₃V₃ + Q₄K₄V₄, a vector of attention scores",
        "Z4 = Q4K1V1 + Q4K2V2 + Q4K3V3 + Q4K4V4，得到 Z 注意力分数向量",
    ),
    expected=Bilingual(
        "differs by more than 10; most outputs lie outside the values' range", "相差超过 10；多数输出超出 V 的取值范围"
    ),
    answer=Bilingual(
        "Between the products and the sum stand the division by √d_k and the softmax: Z₄ = Σ softmax(Q₄Kᵀ/√d_k)ⱼ "
        "Vⱼ. The "
        "softmax makes the factors positive with sum 1, so Z₄ is an average of the values. Z is the layer's output, "
        "and "
        "not scores or weights; weight times value is a number times a vector, and not a dot product. Without the "
        "softmax "
        "one has linear attention, whose size grows with the text.",
        "点积与求和之间还有除以 √d_k 和 softmax：Z₄ = Σ softmax(Q₄Kᵀ/√d_k)ⱼ Vⱼ。softmax 让系数为正且总和为 1，所以 "
        "Z₄ 是各个 V 的加权平均。Z "
        "是这一层的输出，既不是分数也不是权重；权重乘 V 是“数乘向量”，不是点积。去掉 softmax 就成了线性注意力，其大"
        "小会随文本变长而增长。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
)

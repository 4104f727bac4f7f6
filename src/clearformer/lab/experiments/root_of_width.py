"""Claim (question 4): q·k has variance d_k, ÷√d_k makes it 1, and keeps the softmax out of saturation.

Expected: variance ÷ d_k = 1 before, variance = 1 after; at d_k = 512 the unscaled softmax passes on a small part of
the gradient that the scaled one does.
"""

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
    mean_lists,
)
from clearformer.lab.verdicts import Check, number

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KEYS = 32
HEADS = (1, 2, 4, 8, 16)
MODEL = 512


def measure(trial: Trial) -> Measured:
    """Independent queries and keys of mean 0 and variance 1."""
    rows = 2_000 if trial.quick else 5_000
    before, after, plain, scaled = [], [], [], []
    for width in WIDTHS:
        q, k = torch.randn(rows, 1, width), torch.randn(rows, KEYS, width)
        products = (q @ k.mT).squeeze(1)
        before.append(products.var().item())
        after.append((products / width**0.5).var().item())
        plain.append(passed_gradient(products))
        scaled.append(passed_gradient(products / width**0.5))
    by_heads = [after[WIDTHS.index(MODEL // heads)] for heads in HEADS]
    return {
        "before": before,
        "after": after,
        "gradient_plain": plain,
        "gradient_scaled": scaled,
        "kept": plain[-1] / scaled[-1],
        "worst_before": max(abs(value / width - 1) for value, width in zip(before, WIDTHS, strict=True)),
        "worst_after": max(abs(value - 1) for value in after),
        "by_heads": by_heads,
    }


def passed_gradient(scores: Tensor) -> float:
    """How much of a gradient the softmax passes on: the mean size of its derivative, diag(p) - p·pᵀ."""
    p = scores.softmax(-1)
    derivative = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    return derivative.square().sum((1, 2)).sqrt().mean().item()


def conclude(found: Sequence[Measurement]) -> Findings:
    """Three statements, each with its number."""
    before, after = mean_lists(found, "before"), mean_lists(found, "after")
    plain, scaled = mean_lists(found, "gradient_plain"), mean_lists(found, "gradient_scaled")
    table = MeasuredTable(
        title=Bilingual("Scores of random vectors", "随机向量的分数"),
        columns=(
            "d_k",
            Bilingual("variance", "方差"),
            Bilingual("variance ÷ √d_k", "÷ √d_k 后的方差"),
            Bilingual("softmax's derivative", "softmax 导数的大小"),
            Bilingual("÷ √d_k", "÷ √d_k 之后"),
        ),
        rows=[
            (width, *(number(column_[place]) for column_ in (before, after, plain, scaled)))
            for place, width in enumerate(WIDTHS)
        ],
    )
    heads = MeasuredTable(
        title=Bilingual("Width 512 cut into heads: variance of scaled scores", "宽度 512 切成若干头：缩放后分数的方差"),
        columns=(Bilingual("heads", "头数"), Bilingual("variance", "方差")),
        rows=[(count, number(value)) for count, value in zip(HEADS, mean_lists(found, "by_heads"), strict=True)],
    )
    figure = _figure(before, after, plain, scaled)
    return Findings(
        claims=[
            Check(
                says=Bilingual("variance ÷ d_k differs from 1 by", "方差 ÷ d_k 与 1 的最大偏差"),
                values=column(found, "worst_before"),
                high=0.1,
            ),
            Check(
                says=Bilingual("variance after ÷√d_k differs from 1 by", "÷√d_k 之后方差与 1 的最大偏差"),
                values=column(found, "worst_after"),
                high=0.1,
            ),
            Check(
                says=Bilingual(
                    "gradient without scaling, as a share of that with it (d_k = 512)",
                    "不缩放时的梯度占缩放时的比例（d_k = 512）",
                ),
                values=column(found, "kept"),
                high=0.5,
            ),
        ],
        tables=[table, heads],
        figures=[figure],
    )


def _figure(
    before: Sequence[float], after: Sequence[float], plain: Sequence[float], scaled: Sequence[float]
) -> MeasuredFigure:
    return draw_curves(
        "saturation",
        Bilingual("What ÷√d_k does", "÷√d_k 的作用"),
        Curves(
            title=Bilingual("variance of the scores", "分数的方差"),
            x_label="d_k",
            lines=[("q·k", _points(before)), ("q·k ÷ √d_k", _points(after))],
            log_x=True,
            log_y=True,
        ),
        Curves(
            title=Bilingual("gradient that the softmax passes on", "softmax 传回的梯度"),
            x_label="d_k",
            lines=[("q·k", _points(plain)), ("q·k ÷ √d_k", _points(scaled))],
            log_x=True,
        ),
    )


def _points(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(width, value) for width, value in zip(WIDTHS, values, strict=True)]


EXPERIMENT = Experiment(
    name="root-of-width",
    number="4",
    question=Bilingual("Why are scores divided by √d_k?", "softmax 之前为什么要除以 √d_k？"),
    claim=Bilingual(
        "if q and k have mean 0 and variance 1, q·k has variance d_k; large inputs saturate the softmax, whose "
        "gradient "
        "vanishes; ÷√d_k brings the variance back to 1",
        "如果输入q和k各自都是均值为0，方差为1的分布，q与k的点积将是均值为0，方差为dk，为了将其方差控制在1，需要除以"
        "dk的平方根",
    ),
    expected=Bilingual(
        "variance ÷ d_k = 1; after the division 1; gradient kept: less than half",
        "方差 ÷ d_k = 1；除后为 1；梯度不到一半",
    ),
    answer=Bilingual(
        "q·k is a sum of d_k products, each of mean 0 and variance 1, so its variance is d_k and its usual size √d_k. "
        "At d_k = 512 scores differ by about 23, the softmax gives nearly everything to one key, and its derivative "
        "p·(1 − p) is nearly 0: nothing is learned through it. Dividing by √d_k makes the variance 1 for every width. "
        "It is this division, and not the number of heads, that keeps scores in bounds: the second table is flat.",
        "q·k 是 d_k 个乘积之和，每个乘积均值为 0、方差为 1，所以和的方差是 d_k，典型大小是 √d_k。d_k = 512 时分数之"
        "间相差约 23，"
        "softmax 几乎把全部权重给了一个键，导数 p·(1 − p) 接近 0，梯度传不回去，也就学不到东西。除以 √d_k 之后，不管"
        "多宽，方差都是 1。"
        "控制分数大小的是这个除法，而不是分成多个头：第二张表里的方差与头数无关。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
)

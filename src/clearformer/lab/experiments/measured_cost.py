"""Claim (an empty heading of the notes, filled from the paper's table 1): a layer of self-attention costs O(n²·d), a
recurrent one O(n·d²), a convolution O(k·n·d²).

Expected, counted: scores and sums grow with n², the others with n; scores and sums with d, the others with d²; a
kernel three times as wide costs three times as much. Self-attention is cheaper than recurrence while n < d.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    ONCE,
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
)
from clearformer.lab.verdicts import Check, number
from clearformer.model.attention import attend

LENGTHS, WIDTHS, KERNELS = (64, 256, 1024, 4096), (64, 128, 256, 512), (1, 3, 9)
DIM, LENGTH = 256, 256


def measure(trial: Trial) -> Measured:
    """Operations counted on the meta device, one size changed at a time."""
    kinds = {"attention": _attention, "recurrent": _recurrent, "convolution": _convolution}
    values: Measured = {}
    for name, count in kinds.items():
        values[f"{name}_length"] = [count(length, DIM) for length in LENGTHS]
        values[f"{name}_width"] = [count(LENGTH, width) for width in WIDTHS]
    values["kernel"] = [_convolution(LENGTH, DIM, kernel) for kernel in KERNELS]
    return values


def _counted(work: nn.Module | None, length: int, dim: int) -> int:
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        if work is None:
            q = torch.zeros(1, 1, length, dim)
            attend(q, q, q)
        else:
            work.to("meta")(torch.zeros(1, dim, length))
    return int(counter.get_total_flops())


def _attention(length: int, dim: int) -> int:
    """Scores and sums, without the projections, as the paper counts."""
    return _counted(None, length, dim)


def _recurrent(length: int, dim: int) -> int:
    """The simplest recurrence, h = tanh(W·h + U·x): one product of the state with a d × d matrix per token."""
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        step, state = nn.Linear(dim, dim, bias=False), torch.zeros(1, dim)
        step(state)
    return length * int(counter.get_total_flops())


def _convolution(length: int, dim: int, kernel: int = 3) -> int:
    return _counted(nn.Conv1d(dim, dim, kernel, padding=kernel // 2, bias=False), length, dim)


KINDS = (
    ("attention", Bilingual("self-attention, O(n²·d)", "自注意力，O(n²·d)"), (2, 1)),
    ("recurrent", Bilingual("recurrence, O(n·d²)", "循环，O(n·d²)"), (1, 2)),
    ("convolution", Bilingual("convolution of 3, O(k·n·d²)", "核宽 3 的卷积，O(k·n·d²)"), (1, 2)),
)


def _power(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The exponent: by which power the cost grows."""
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def conclude(found: Sequence[Measurement]) -> Findings:
    """The exponents, and where two lines cross."""
    [one] = found
    values = one.values
    powers = {
        name: (_power(LENGTHS, values[f"{name}_length"]), _power(WIDTHS, values[f"{name}_width"])) for name, *_ in KINDS
    }
    crossing = DIM * values["recurrent_length"][1] / values["attention_length"][1]
    table = MeasuredTable(
        title=Bilingual("The cost grows with this power", "开销按几次方增长"),
        columns=(
            Bilingual("layer", "层"),
            Bilingual("of the length n", "随长度 n"),
            Bilingual("of the width d", "随宽度 d"),
        ),
        rows=[(label, number(powers[name][0]), number(powers[name][1])) for name, label, _ in KINDS],
    )
    figure = _figure(values)
    off = [abs(powers[name][side] - wanted[side]) for name, _, wanted in KINDS for side in (0, 1)]
    return Findings(
        claims=[
            Check(
                says=Bilingual("exponents apart from the paper's, at most", "指数与论文的最大偏差"),
                values=[max(off)],
                high=0.02,
            ),
            Check(
                says=Bilingual("kernel of 9 ÷ kernel of 3", "核宽 9 ÷ 核宽 3"),
                values=[values["kernel"][2] / values["kernel"][1]],
                low=2.8,
                high=3.01,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "self-attention is the cheaper one only below n = c·d; c, with both products counted",
                    "只有 n < c·d 时自注意力才比循环便宜；把打分和求和都算上，c 为",
                ),
                values=[crossing / DIM],
                high=1.0,
            )
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(values: Measured) -> MeasuredFigure:
    return draw_curves(
        "cost",
        Bilingual("Operations of one layer", "一层的运算次数"),
        Curves(
            title="d = 256",
            x_label=Bilingual("tokens n", "词元数 n"),
            lines=[(label, list(zip(LENGTHS, values[f"{name}_length"], strict=True))) for name, label, _ in KINDS],
            log_x=True,
            log_y=True,
        ),
        Curves(
            title="n = 256",
            x_label=Bilingual("width d", "宽度 d"),
            lines=[(label, list(zip(WIDTHS, values[f"{name}_width"], strict=True))) for name, label, _ in KINDS],
            log_x=True,
            log_y=True,
        ),
    )


EXPERIMENT = Experiment(
    name="measured-cost",
    number="–",
    question=Bilingual("What does a layer cost?", "一层的复杂度是多少？（笔记里只有标题）"),
    claim=Bilingual(
        "(an empty heading; the paper:) self-attention O(n²·d), recurrence O(n·d²), convolution O(k·n·d²)",
        "（笔记只有 Complexity 标题；论文：）自注意力 O(n²·d)，循环 O(n·d²)，卷积 O(k·n·d²)",
    ),
    expected=Bilingual("exponents 2 and 1, 1 and 2, 1 and 2", "指数分别为 2 和 1、1 和 2、1 和 2"),
    answer=Bilingual(
        "Self-attention compares every pair of tokens, n² products of d numbers; a recurrent layer multiplies one "
        "state "
        "with a d × d matrix per token; a convolution does so k times. The paper says that self-attention is the "
        "cheaper one "
        "while n < d. Counted exactly, scores and sums are two products and the simplest recurrence is one, so the "
        "lines "
        "cross at n = d/2; an LSTM with its eight matrices moves that to 4·d. The price of long texts is n².",
        "自注意力要比较每一对词元，共 n² 个长为 d 的点积；循环层每个词元乘一次 d × d 的矩阵；卷积乘 k 次。论文说 n "
        "< d 时自注意力更便宜。精确数一遍："
        "打分和求和是两次乘积，而最简单的循环只有一次，所以两条线在 n = d/2 处相交；LSTM 有八个矩阵，交点就移到 4·d。"
        "长文本的代价在于 n²。",
    ),
    code=("src/clearformer/model/cost.py",),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

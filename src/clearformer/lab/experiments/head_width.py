"""Claim (question 6): every head gets d_model / h features, so that the concatenation has the model's width again.

Expected: with that division parameters and operations are the same for every number of heads; with heads of full
width they are h times as many.
"""

from collections.abc import Sequence

import torch
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
from clearformer.model.attention import Attention, Heads, attend
from clearformer.model.attention_context import AttentionContext

DIM, LENGTH = 512, 128
COUNTS = (1, 2, 4, 8, 16, 32)


def measure(trial: Trial) -> Measured:
    """Counted on the meta device, where nothing is computed."""
    divided = [_cost(count, DIM // count) for count in COUNTS]
    full = [_cost(count, DIM) for count in COUNTS]
    return {
        "parameters": [cost[0] for cost in divided],
        "operations": [cost[1] for cost in divided],
        "width": [cost[2] for cost in divided],
        "parameters_full": [cost[0] for cost in full],
        "operations_full": [cost[1] for cost in full],
    }


def _cost(count: int, width: int) -> tuple[int, int, int]:
    """Parameters, operations of a pass, and the output's width."""
    with torch.device("meta"), torch.no_grad():
        layer = Attention(DIM, heads=Heads.of(DIM, count, head_dim=width), kernel=attend)
        places = torch.arange(LENGTH)[None]
        with FlopCounterMode(display=False) as counter:
            output = layer(torch.zeros(1, LENGTH, DIM), AttentionContext(places, places))
    return sum(part.numel() for part in layer.parameters()), counter.get_total_flops(), output.size(-1)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Equal means: the largest is the smallest."""
    [one] = found
    columns = ("parameters", "operations", "parameters_full", "operations_full")
    table = MeasuredTable(
        title=Bilingual(
            f"One attention layer, width {DIM}, {LENGTH} tokens", f"一个注意力层，宽 {DIM}，{LENGTH} 个词元"
        ),
        columns=(
            Bilingual("heads", "头数"),
            Bilingual("parameters, d/h each", "参数（每头 d/h）"),
            Bilingual("operations", "运算次数"),
            Bilingual("parameters, d each", "参数（每头 d）"),
            Bilingual("operations", "运算次数"),
        ),
        rows=[(count, *(number(one.values[name][place]) for name in columns)) for place, count in enumerate(COUNTS)],
    )
    figure = _figure(one)
    return Findings(
        claims=[
            Check(
                says=Bilingual("the output's width ÷ the model's", "输出宽度 ÷ 模型宽度"),
                values=[max(one.values["width"]) / DIM, min(one.values["width"]) / DIM],
                low=1.0,
                high=1.0,
            ),
            Check(
                says=Bilingual("most parameters ÷ fewest", "最多参数 ÷ 最少参数"),
                values=[max(one.values["parameters"]) / min(one.values["parameters"])],
                high=1.0,
            ),
            Check(
                says=Bilingual("most operations ÷ fewest", "最多运算 ÷ 最少运算"),
                values=[max(one.values["operations"]) / min(one.values["operations"])],
                high=1.0,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(one: Measurement) -> MeasuredFigure:
    return draw_curves(
        "cost",
        Bilingual("Operations against the number of heads", "运算次数随头数的变化"),
        Curves(
            x_label=Bilingual("heads", "头数"),
            lines=[
                (Bilingual("d/h features each", "每头 d/h 维"), _points(one.values["operations"])),
                (Bilingual("d features each", "每头 d 维"), _points(one.values["operations_full"])),
            ],
            log_x=True,
            log_y=True,
        ),
    )


def _points(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(count, value) for count, value in zip(COUNTS, values, strict=True)]


EXPERIMENT = Experiment(
    name="head-width",
    number="6",
    question=Bilingual("Why is every head narrower than the model?", "多头注意力为什么要对每个 head 降维？"),
    claim=Bilingual(
        "heads are concatenated, so for the width to stay the same each has d_model / h features",
        "多头的输出最后会concat到一起，为了保证concat后输出维度不变，每个head的维度都是d_model / h",
    ),
    expected=Bilingual("parameters and operations equal for 1 … 32 heads", "1 到 32 个头，参数和运算次数都相等"),
    answer=Bilingual(
        "With d/h features per head, h heads together cost exactly what one head of full width costs: the same "
        "projections, and n²·d operations for scores and sums. So several heads come free of charge, and each can look "
        "elsewhere. The width of the concatenation is not the reason, since W_O could bring any width back to d. With "
        "full-width heads everything would cost h times as much.",
        "每头 d/h 维时，h 个头合起来的开销与一个全宽的头完全相同：投影矩阵一样大，打分和加权求和都是 n²·d 次运算。也"
        "就是说，多头是“免费”的，"
        "而每个头可以看不同的地方。“拼接后宽度不变”并不是根本原因，因为 W_O 可以把任何宽度变回 d。若每个头都用全宽，"
        "开销就是 h 倍。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

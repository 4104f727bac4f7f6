"""Claim: the softmax makes the values of every column sum to 1.

Expected: in the usual layout, one row per query, it is every row (1 to 1e-6), and columns sum to anything. It is
the columns only where rows are keys, as with the index w_ji of that note.
"""

from collections.abc import Sequence

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_matrices
from clearformer.lab.experiment import Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.verdicts import Check, spread
from clearformer.model.attention import attend

LENGTH = 6


def measure(trial: Trial) -> Measured:
    """Weights of random queries and keys, in both layouts."""
    q, k, v = (torch.randn(1, 1, LENGTH, 32) for _ in range(3))
    seen: dict[str, torch.Tensor] = {}
    attend(q, k, v, notes=lambda name, value: seen.__setitem__(name, value))
    weights = seen["weights"][0, 0]
    return {
        "rows": (weights.sum(1) - 1).abs().max().item(),
        "columns": (weights.sum(0) - 1).abs().max().item(),
        "turned": (weights.T.sum(0) - 1).abs().max().item(),
        "weights": weights.tolist(),
    }


def conclude(found: Sequence[Measurement]) -> Findings:
    """True in the note's layout, and in no library's."""
    rows = (
        ("rows", Bilingual("rows of [query, key]", "[查询, 键] 布局的行")),
        ("columns", Bilingual("columns of [query, key]", "[查询, 键] 布局的列")),
        ("turned", Bilingual("columns of [key, query], the note's w_ji", "[键, 查询] 布局的列，即笔记的 w_ji")),
    )
    table = MeasuredTable(
        title=Bilingual("How far sums are from 1", "求和与 1 的最大偏差"),
        columns=(Bilingual("sums over", "求和对象"), Bilingual("largest deviation", "最大偏差")),
        rows=[(label, spread(column(found, name))) for name, label in rows],
    )
    figure = draw_matrices(
        "weights",
        Bilingual("One row per query: each row sums to 1", "每行一个查询：每行之和为 1"),
        {Bilingual("weights", "权重"): found[0].values["weights"]},
        [str(place + 1) for place in range(LENGTH)],
    )
    return Findings(
        claims=[Check(says=rows[2][1], values=column(found, "turned"), high=1e-5)],
        conditions=[Check(says=rows[1][1], values=column(found, "columns"), low=0.1)],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="softmax-axis",
    number="–",
    question=Bilingual("Along which axis do weights sum to 1?", "softmax 沿哪个方向求和为 1？"),
    claim=Bilingual(
        "the softmax makes all values of every column sum to 1", "再通过softmax进行规范化，以确保所有列的值相加之和为1"
    ),
    expected=Bilingual("rows: 1 to 1e-6; columns: off by more than 0.1", "行：误差 1e-6；列：偏差超过 0.1"),
    answer=Bilingual(
        "The softmax runs over the keys, so the weights that one query gives sum to 1. Written as [query, key], as in "
        "QKᵀ and in every library, that is a row; the note indexes w_ji with the key first, where it is a column. "
        "What a "
        "key receives from all queries sums to anything: some keys are popular. Name the axis, `softmax(dim=-1)`, "
        "and not "
        "rows or columns.",
        "softmax 是对键做的，所以一个查询给出的权重之和为 1。按 QKᵀ 和各种库通用的 [查询, 键] 布局，这是“行”；笔记用"
        " w_ji，键在前，于是成了“列”。"
        "一个键从所有查询那里得到的权重之和可以是任何数：有的键就是更受关注。最好直接说明轴，如 `softmax(dim=-1)`，"
        "而不要只说行或列。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
)

"""Claim (the worked example of marks): the weights 0.48, 0.18, 0.34 and the guess 0.43 are made of cosine
similarities.

Expected: they are the softmax of plain dot products. True cosines give 0.47, 0.13, 0.40; the note's own formula,
with ÷√4, gives 0.406, 0.249, 0.345 and 0.4005.
"""

from collections.abc import Sequence

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial
from clearformer.lab.verdicts import Check

QUERY = torch.tensor([0.44, 0.45, 0.48, 0.49])
KEYS = torch.tensor([[0.48, 0.5, 0.45, 0.48], [-0.1, 0.1, -0.3, 0.1], [0.1, 0.5, 0.1, 0.5]])
MARKS = torch.tensor([0.5, 0.1, 0.5])
WRITTEN, GUESS = torch.tensor([0.48, 0.18, 0.34]), 0.43

READINGS = (
    ("plain", Bilingual("softmax of plain products", "点积的 softmax")),
    ("scaled", Bilingual("softmax of products ÷ √d_k (the formula)", "点积 ÷ √d_k 的 softmax（公式）")),
    ("cosine", Bilingual("softmax of cosines (what is said)", "余弦的 softmax（文中所说）")),
    ("shares", Bilingual("cosines as shares, no softmax", "余弦直接按比例分配，不用 softmax")),
)


def measure(trial: Trial) -> Measured:
    """Four readings of the text, each computed."""
    products = KEYS @ QUERY
    cosines = torch.cosine_similarity(KEYS, QUERY[None])
    weights = {
        "plain": products.softmax(-1),
        "scaled": (products / 2).softmax(-1),
        "cosine": cosines.softmax(-1),
        "shares": cosines / cosines.sum(),
    }
    values: Measured = {"lengths": KEYS.norm(dim=-1).tolist()}
    for name, one in weights.items():
        values[name] = one.tolist()
        values[f"{name}_guess"] = (one @ MARKS).item()
        values[f"{name}_apart"] = (one - WRITTEN).abs().max().item()
    return values


def conclude(found: Sequence[Measurement]) -> Findings:
    """Which reading gives the numbers that are written."""
    [one] = found
    values = one.values
    table = MeasuredTable(
        title=Bilingual(
            "Four readings of the example; written: 0.48, 0.18, 0.34 → 0.43",
            "例子的四种读法；原文：0.48、0.18、0.34 → 0.43",
        ),
        columns=(
            Bilingual("reading", "读法"),
            "A",
            "B",
            "C",
            Bilingual("guess", "预测"),
            Bilingual("apart from the text", "与原文相差"),
        ),
        rows=[
            (
                label,
                *(f"{weight:.4f}" for weight in values[name]),
                f"{values[f'{name}_guess']:.4f}",
                f"{values[f'{name}_apart']:.4f}",
            )
            for name, label in READINGS
        ],
    )
    figure = draw_bars(
        "readings",
        Bilingual("Weight of A under four readings (the text says 0.48)", "四种读法下 A 的权重（原文为 0.48）"),
        [(label, values[name][0]) for name, label in READINGS],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("weights from cosines against those written", "余弦得到的权重与原文之差"),
                values=[values["cosine_apart"]],
                high=0.005,
            ),
            Check(
                says=Bilingual("the keys are normalised: their lengths", "键向量已归一化：它们的长度"),
                values=values["lengths"],
                low=0.99,
                high=1.01,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="marks-example",
    number="–",
    question=Bilingual("Where do 0.48, 0.18, 0.34 come from?", "0.48、0.18、0.34 是怎么来的？"),
    claim=Bilingual(
        "the keys being normalised, dot products are cosine similarities, and their softmax is [0.48, 0.18, 0.34]",
        "我们假设对应的Key向量已经做了归一化处理，那这个时候我们只需要计算点积……经过softmax之后成为 Att = [0.48, "
        "0.18, 0.34]",
    ),
    expected=Bilingual(
        "plain products: 0.477, 0.179, 0.344; cosines: 0.470, 0.130, 0.400",
        "点积：0.477、0.179、0.344；余弦：0.470、0.130、0.400",
    ),
    answer=Bilingual(
        "The numbers are the softmax of the plain dot products of query and keys. The keys are not normalised: their "
        "lengths are 0.96, 0.35 and 0.72, so cosines would give other weights. And the formula of the same note "
        "divides by "
        "√d_k = 2, which makes the weights softer and the guess 0.4005. All readings agree that A matters most, "
        "which is "
        "why the slip is easy to miss.",
        "这些数是查询与键的点积直接做 softmax 的结果。键向量并没有归一化：长度分别是 0.96、0.35 和 0.72，所以用余弦"
        "会得到另一组权重。而且同一篇"
        "笔记的公式里要除以 √d_k = 2，除了以后权重更平缓，预测是 0.4005。几种读法都认为 A 最重要，所以这个疏忽不容易"
        "被发现。",
    ),
    code=("src/clearformer/model/attention.py", "examples/attention_by_hand.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

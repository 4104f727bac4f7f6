"""Claim (question 14): the feed-forward part is a bottleneck for long sequences.

Expected: the reverse. Its operations grow with n, those of scores and sums with n². At d = 512 and a hidden width
of 4·d attention overtakes projections and feed-forward together at exactly n = 6·d = 3,072.
"""

from collections.abc import Mapping, Sequence

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
from clearformer.model.attention import Attention, attend
from clearformer.model.attention_context import AttentionContext
from clearformer.model.layers import FeedForward

DIM = 512
LENGTHS = (128, 512, 1024, 3072, 8192, 32768)


def measure(trial: Trial) -> Measured:
    """Operations of one layer's parts by length, counted on the meta device."""
    counted: dict[str, list[int]] = {"projections": [], "attention": [], "feed_forward": []}
    with torch.device("meta"), torch.no_grad():
        attention, ffn = Attention(DIM, heads=8, kernel=attend), FeedForward(DIM, 4 * DIM)
        for length in LENGTHS:
            x, places = torch.zeros(1, length, DIM), torch.arange(length)[None]
            with FlopCounterMode(display=False) as whole:
                attention(x, AttentionContext(places, places))
            with FlopCounterMode(display=False) as projected:
                for part in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
                    part(x)
            with FlopCounterMode(display=False) as fed:
                ffn(x)
            counted["projections"].append(projected.get_total_flops())
            counted["attention"].append(whole.get_total_flops() - projected.get_total_flops())
            counted["feed_forward"].append(fed.get_total_flops())
    return dict(counted)


PARTS = (
    ("projections", Bilingual("projections", "投影")),
    ("attention", Bilingual("scores and sums", "打分与加权求和")),
    ("feed_forward", Bilingual("feed-forward", "前馈")),
)


def conclude(found: Sequence[Measurement]) -> Findings:
    """A bottleneck would take more and more of the whole."""
    [one] = found
    values = one.values
    shares = {
        name: [values[name][place] / sum(values[part][place] for part, _ in PARTS) for place in range(len(LENGTHS))]
        for name, _ in PARTS
    }
    at = LENGTHS.index(6 * DIM)
    table = MeasuredTable(
        title=Bilingual(
            "One layer, d = 512, hidden width 2,048: multiplications", "一层，d = 512，隐藏宽度 2048：乘法次数"
        ),
        columns=(
            Bilingual("tokens", "词元数"),
            *(label for _, label in PARTS),
            Bilingual("share of feed-forward", "前馈所占比例"),
        ),
        rows=[
            (
                length,
                *(f"{values[name][place] / 2e6:,.0f} M" for name, _ in PARTS),
                f"{shares['feed_forward'][place]:.1%}",
            )
            for place, length in enumerate(LENGTHS)
        ],
    )
    figure = _figure(shares)
    growth = (values["feed_forward"][-1] / values["feed_forward"][0]) / (LENGTHS[-1] / LENGTHS[0])
    equal = values["attention"][at] / (values["projections"][at] + values["feed_forward"][at])
    return Findings(
        claims=[
            Check(
                says=Bilingual("feed-forward's share at 32,768 tokens", "32768 个词元时前馈所占比例"),
                values=[shares["feed_forward"][-1]],
                low=0.5,
            )
        ],
        tables=[
            table,
            _two_numbers(growth, equal),
        ],
        figures=[figure],
    )


def _figure(shares: Mapping[str, Sequence[float]]) -> MeasuredFigure:
    return draw_curves(
        "shares",
        Bilingual("Shares of a layer's operations by length", "一层的运算份额随长度的变化"),
        Curves(
            x_label=Bilingual("tokens", "词元数"),
            lines=[(label, list(zip(LENGTHS, shares[name], strict=True))) for name, label in PARTS],
            log_x=True,
        ),
    )


def _two_numbers(growth: float, equal: float) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual("Two numbers", "两个数"),
        columns=("", ""),
        rows=[
            (
                Bilingual("feed-forward: growth ÷ growth of the length", "前馈的增长 ÷ 长度的增长"),
                number(growth),
            ),
            (
                Bilingual("n = 6·d = 3,072: attention ÷ all the rest", "n = 6·d = 3072：注意力 ÷ 其余全部"),
                number(equal),
            ),
        ],
    )


EXPERIMENT = Experiment(
    name="feed-forward-share",
    number="14",
    question=Bilingual("What does the feed-forward part cost?", "前馈神经网络的优缺点是什么？"),
    claim=Bilingual(
        "many parameters, much computation, a bottleneck for long sequences", "参数多、计算量大，对长序列处理存在瓶颈"
    ),
    expected=Bilingual(
        "share falls from 64 % to below 10 %; attention equals the rest at n = 6·d",
        "比例从 64% 降到 10% 以下；n = 6·d 时注意力等于其余之和",
    ),
    answer=Bilingual(
        "Two thirds of a layer's parameters are feed-forward, so much is true. But it works on each position alone, "
        "so its "
        "cost is proportional to the length, 8·n·d². Scores and sums cost 2·n²·d: with 4·n·d² for the projections they "
        "are equal to everything else at n = 6·d, and beyond that attention is what long sequences suffer from.",
        "一层的参数约有三分之二在前馈部分，这一点没错。但它对每个位置单独计算，开销与长度成正比：8·n·d²。打分和加权"
        "求和是 2·n²·d，加上投影的 "
        "4·n·d²，到 n = 6·d 时注意力正好等于其余全部之和；再长下去，拖累长序列的就是注意力，而不是前馈。",
    ),
    code=("src/clearformer/model/layers.py", "src/clearformer/model/cost.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

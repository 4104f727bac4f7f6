"""Claim: the feed-forward part extracts local patterns, relations between neighbours.

Expected: it sees one position alone: change a token's vector, and its neighbours' outputs change by exactly 0. A
convolution's neighbours change, and so do those of attention.
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
    MeasuredTable,
    Measurement,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.baselines.convolution import ConvolutionalEncoderLayer
from clearformer.model.layers import FeedForward

DIM, LENGTH, PLACE = 32, 15, 7


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Change one token, and see where the output changes."""
    x = torch.randn(1, LENGTH, DIM)
    changed = x.clone()
    changed[0, PLACE] += torch.randn(DIM)
    places = torch.arange(LENGTH)[None]
    ffn, attention = FeedForward(DIM, 4 * DIM), Attention(DIM, heads=4)
    convolution = ConvolutionalEncoderLayer(DIM, kernel=3).eval()

    def by_place(before: Tensor, after: Tensor) -> list[float]:
        changes: list[float] = (after - before)[0].abs().amax(-1).tolist()
        return changes

    def look(y: Tensor) -> Tensor:
        seen: Tensor = attention(y, AttentionContext(places, places))
        return seen

    reach = {
        "ffn": by_place(ffn(x), ffn(changed)),
        "convolution": by_place(convolution(x, None), convolution(changed, None)),
        "attention": by_place(look(x), look(changed)),
    }
    neighbours = {f"{name}_beside": max(line[PLACE - 1], line[PLACE + 1]) for name, line in reach.items()}
    return {**reach, **neighbours}


PARTS = (
    ("ffn", Bilingual("feed-forward", "前馈")),
    ("convolution", Bilingual("convolution, kernel 3", "卷积，核宽 3")),
    ("attention", Bilingual("self-attention", "自注意力")),
)


def conclude(found: Sequence[Measurement]) -> Findings:
    """What extracts relations between neighbours notices them."""
    table = MeasuredTable(
        title=Bilingual("One token changes: change of its neighbours' output", "改变一个词元：相邻位置输出的变化"),
        columns=(Bilingual("part", "部件"), Bilingual("change", "变化")),
        rows=[(label, spread(column(found, f"{name}_beside"))) for name, label in PARTS],
    )
    figure = draw_curves(
        "reach",
        Bilingual("Where the output changes when the token at place 7 does", "第 7 个词元改变时，哪些位置的输出跟着变"),
        Curves(
            x_label=Bilingual("place", "位置"),
            lines=[(label, list(enumerate(mean_lists(found, name)))) for name, label in PARTS],
        ),
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("feed-forward: change beside the token", "前馈：相邻位置的变化"),
                values=column(found, "ffn_beside"),
                low=1e-6,
            )
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="one-position",
    number="14",
    question=Bilingual("What does the feed-forward part see?", "前馈网络能看到什么？"),
    claim=Bilingual(
        "this layer acts as an extractor of local patterns and captures local relations in the sequence",
        "这个层充当了局部模式的提取器，帮助模型更好地捕获到输入序列中的局部关系",
    ),
    expected=Bilingual("neighbours change by exactly 0", "相邻位置的变化恰好为 0"),
    answer=Bilingual(
        "The feed-forward part is the same small network at each position, and sees that position's vector alone; what "
        "lies beside it is invisible. Local patterns are what a convolution extracts. Whatever a position knows of the "
        "others was brought to it by attention in the layers below; the feed-forward part works with what has arrived.",
        "前馈部分是在每个位置上各跑一遍的同一个小网络，只看得见该位置自己的向量，旁边是什么它一无所知。提取局部模式"
        "的是卷积。一个位置所知道的"
        "其他位置的信息，都是下面各层的注意力带过来的；前馈部分只负责加工已经到达的东西。",
    ),
    code=("src/clearformer/model/layers.py",),
    measure=measure,
    conclude=conclude,
)

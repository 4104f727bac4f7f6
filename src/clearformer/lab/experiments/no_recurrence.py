"""Claim: the Transformer is a model based on recurrent networks, with self-attention added.

Expected: no part of it hands a state from token to token. The way from the last token to the first is one layer,
for any distance; in an LSTM it is as many steps as there are tokens between them, and the effect fades on the way.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

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
from clearformer.lab.verdicts import Check, spread
from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.build import build
from clearformer.model.families import transformer

DIM = 32
DISTANCES = (1, 2, 4, 8, 16, 32, 64)


def measure(trial: Trial) -> Measured:
    """Count recurrent parts, and measure how a token far back reaches the last one, in fresh networks."""
    model = build(transformer(vocab_size=50, dim=DIM, hidden_dim=64, layers=6))
    recurrent = sum(isinstance(part, nn.RNNBase | nn.RNNCellBase) for part in model.modules())
    attention, lstm = Attention(DIM, heads=4), nn.LSTM(DIM, DIM, batch_first=True)
    through_attention, through_lstm = [], []
    for distance in DISTANCES:
        x = torch.randn(16, distance + 1, DIM)
        places = torch.arange(distance + 1)[None]
        context = AttentionContext(places, places)
        through_attention.append(_reach(x, partial(attention, context=context)) * (distance + 1))
        through_lstm.append(_reach(x, lambda y: lstm(y)[0]))
    return {
        "recurrent": recurrent,
        "attention": [value / through_attention[0] for value in through_attention],
        "lstm": [value / through_lstm[0] for value in through_lstm],
        "faded": through_lstm[-1] / through_lstm[0],
        "kept": through_attention[-1] / through_attention[0],
    }


def _reach(x: Tensor, network: Callable[[Tensor], Tensor]) -> float:
    """How much the first token moves the last one's output: the size of the derivative."""
    x = x.clone().requires_grad_()
    output = network(x)
    gradient = torch.autograd.grad((output[:, -1] * torch.randn_like(output[:, -1])).sum(), x)[0]
    size: float = gradient[:, 0].norm().item()
    return size


def conclude(found: Sequence[Measurement]) -> Findings:
    """Based on recurrence would mean: there is some."""
    table = MeasuredTable(
        title=Bilingual("Fresh networks", "新建的网络"),
        columns=("", Bilingual("number", "数值")),
        rows=[
            (
                Bilingual("recurrent parts in a Transformer", "Transformer 里的循环部件"),
                spread(column(found, "recurrent")),
            ),
            (
                Bilingual("LSTM: effect over 64 tokens ÷ over 1", "LSTM：隔 64 个词元的影响 ÷ 隔 1 个"),
                spread(column(found, "faded")),
            ),
            (
                Bilingual(
                    "attention: the same, per token that shares the weight", "注意力：同上，按分摊权重的词元数折算"
                ),
                spread(column(found, "kept")),
            ),
        ],
    )
    figure = _figure(found)
    return Findings(
        claims=[
            Check(
                says=Bilingual("recurrent parts in the model", "模型中的循环部件个数"),
                values=column(found, "recurrent"),
                low=1.0,
            )
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(found: Sequence[Measurement]) -> MeasuredFigure:
    return draw_curves(
        "reach",
        Bilingual(
            "Effect of a token on the last one by distance (distance 1 = 1)",
            "一个词元对末尾词元的影响随距离的变化（距离 1 记为 1）",
        ),
        Curves(
            x_label=Bilingual("distance", "距离"),
            lines=[
                (
                    Bilingual("self-attention × tokens", "自注意力 × 词元数"),
                    list(zip(DISTANCES, mean_lists(found, "attention"), strict=True)),
                ),
                ("LSTM", list(zip(DISTANCES, mean_lists(found, "lstm"), strict=True))),
            ],
            log_x=True,
            log_y=True,
        ),
    )


EXPERIMENT = Experiment(
    name="no-recurrence",
    number="–",
    question=Bilingual("Is the Transformer built on RNNs?", "Transformer 是基于 RNN 的吗？"),
    claim=Bilingual(
        "the Transformer is a deep learning model based on recurrent networks, with self-attention added",
        "Trasnformer 是基于循环神经网络 (RNN)，加入自注意力机制的深度学习模型",
    ),
    expected=Bilingual(
        "0 recurrent parts; an LSTM's effect fades with distance, attention's does not",
        "循环部件 0 个；LSTM 的影响随距离衰减，注意力不衰减",
    ),
    answer=Bilingual(
        "It is built without recurrence: that is what the paper's title says, and its text, “dispensing with "
        "recurrence "
        "and convolutions entirely”. No state is handed on; every token reaches every other in one layer. What came "
        "before "
        "were RNNs with attention added (Bahdanau); the Transformer kept the attention and left out the RNN. In a "
        "fresh "
        "LSTM the effect of a token fades with every step, and later tokens overwrite earlier ones.",
        "它恰恰去掉了循环：论文题目说的就是这个意思，正文也写着“完全舍弃循环和卷积”。没有任何状态在词元之间传递，任"
        "何两个词元之间只隔一层。"
        "在它之前才是“RNN 加注意力”（Bahdanau）；Transformer 留下了注意力，去掉了 RNN。在新建的 LSTM 里，一个词元的"
        "影响每走一步就衰减一次，"
        "后面的会覆盖前面的。",
    ),
    code=("src/clearformer/model/transformer.py", "src/clearformer/model/baselines/lstm.py"),
    measure=measure,
    conclude=conclude,
)

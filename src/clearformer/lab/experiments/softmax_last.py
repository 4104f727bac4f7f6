"""Claim: behind the decoder comes a softmax, which becomes a linear layer.

Expected: first the linear layer, whose logits the softmax turns into probabilities that sum to 1. The other way
round the numbers sum to anything, some are negative, and the choice is another one.
"""

from collections.abc import Sequence

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, spread

SENTENCES = ("Two dogs are playing with a ball in the deep snow.", "The train to Berlin leaves in ten minutes.")


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """The last states of the shipped translator through its own output layer, in both orders."""
    sums, negative, same, right = [], [], [], []
    for sentence in SENTENCES:
        read = read_shipped(sentence)
        memory, target = read.network.encode(read.tokens), torch.tensor([[1]])
        for _ in range(8):
            target = torch.cat((target, read.network.decode(target, memory)[:, -1:].argmax(-1)), dim=1)
        states = read.network.decoder(target, memory)
        proper = read.network.head(states).softmax(-1)
        swapped = read.network.head(states.softmax(-1))
        right.append((proper.sum(-1) - 1).abs().max().item())
        sums.append((swapped.sum(-1) - 1).abs().mean().item())
        negative.append((swapped < 0).float().mean().item())
        same.append((swapped.argmax(-1) == proper.argmax(-1)).float().mean().item())
    return {
        "right": max(right),
        "off": sum(sums) / len(sums),
        "negative": sum(negative) / len(negative),
        "same": sum(same) / len(same),
        "sorted_proper": proper[0, -1].sort(descending=True).values[:20].tolist(),
        "sorted_swapped": swapped[0, -1].sort(descending=True).values[:20].tolist(),
    }


def conclude(found: Sequence[Measurement]) -> Findings:
    """Probabilities sum to 1."""
    rows = (
        ("right", Bilingual("linear, then softmax: sums differ from 1 by", "先线性后 softmax：总和与 1 之差")),
        ("off", Bilingual("softmax, then linear: sums differ from 1 by", "先 softmax 后线性：总和与 1 之差")),
        (
            "negative",
            Bilingual("softmax, then linear: share of negative “probabilities”", "先 softmax 后线性：“概率”为负的比例"),
        ),
        ("same", Bilingual("the same token chosen", "选中同一个词元的比例")),
    )
    table = MeasuredTable(
        title=Bilingual("The shipped translator's output layer in both orders", "翻译模型输出层的两种次序"),
        columns=("", Bilingual("number", "数值")),
        rows=[(label, spread(column(found, name))) for name, label in rows],
    )
    values = found[0].values
    figure = draw_curves(
        "largest",
        Bilingual("The twenty largest numbers of one step", "某一步中最大的二十个数"),
        Curves(
            x_label=Bilingual("rank", "名次"),
            lines=[
                (Bilingual("linear, then softmax", "先线性后 softmax"), list(enumerate(values["sorted_proper"], 1))),
                (Bilingual("softmax, then linear", "先 softmax 后线性"), list(enumerate(values["sorted_swapped"], 1))),
            ],
        ),
    )
    return Findings(
        claims=[
            Check(says=rows[1][1], values=column(found, "off"), high=1e-3),
            Check(says=rows[2][1], values=column(found, "negative"), high=0.0),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="softmax-last",
    number="–",
    question=Bilingual("What stands behind the decoder?", "解码器之后接什么？"),
    claim=Bilingual("a softmax is attached, which becomes a linear layer", "Decoder 后，接上一个softmax变成一个线性层"),
    expected=Bilingual("the other way round sums are off, and tokens differ", "次序颠倒时总和不为 1，选中的词元也不同"),
    answer=Bilingual(
        "A linear layer turns each state of width d into one logit per token of the vocabulary, and the softmax turns "
        "logits into probabilities: linear first, softmax last. Its weights are often the embedding table itself "
        "(tying). "
        "With the order exchanged the result is no distribution: it does not sum to 1 and has negative entries.",
        "线性层把每个宽为 d 的状态变成词表上每个词元一个 logit，softmax 再把 logits 变成概率：先线性，后 softmax。线"
        "性层的权重常常就是嵌入表本身"
        "（权重共享）。次序颠倒以后得到的根本不是概率分布：总和不是 1，还会出现负数。",
    ),
    code=("src/clearformer/model/heads.py",),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

"""Claim: in the decoder what comes after t is set to 0; output embeddings are masked first.

Expected: neither hides anything. A score of 0 still draws weight, since exp(0) = 1: about as much as any other. A
zeroed embedding still is a key, and its place gives it away. Only a score of −∞ before the softmax gives weight 0.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.verdicts import Check, spread
from clearformer.model import masks
from clearformer.model.attention import attend
from clearformer.model.positions import Sinusoidal

LENGTH, DIM = 8, 64


def measure(trial: Trial) -> Measured:
    """How much weight the future gets, from a token in the middle, under three treatments."""
    seen_places = masks.causal(LENGTH, LENGTH)
    waves = Sinusoidal(DIM).embed(torch.arange(LENGTH)[None])
    shares: dict[str, list[float]] = {"scores": [], "embeddings": [], "infinite": []}
    for _ in range(20 if trial.quick else 200):
        words, w_q, w_k = torch.randn(1, LENGTH, DIM), *(torch.randn(DIM, DIM) / DIM**0.5 for _ in range(2))
        x = (words + waves)[:, None]
        q, k = x @ w_q, x @ w_k
        scores = q @ k.mT / DIM**0.5
        shares["scores"].append(_future((scores * seen_places).softmax(-1), seen_places))
        shares["embeddings"].append(_with_zeroed_words(words, waves, w_q, w_k))
        seen: dict[str, Tensor] = {}
        attend(q, k, k, mask=seen_places, notes=lambda name, value, seen=seen: seen.__setitem__(name, value))  # type: ignore[misc]
        shares["infinite"].append(_future(seen["weights"], seen_places))
    return {name: sum(values) / len(values) for name, values in shares.items()}


def _future(weights: Tensor, seen_places: Tensor) -> float:
    """The weight that queries give to what they should not see, on average; the last one has no future."""
    return (weights * ~seen_places).sum(-1)[..., :-1].mean().item()


def _with_zeroed_words(words: Tensor, waves: Tensor, w_q: Tensor, w_k: Tensor) -> float:
    """For each place in turn: the words behind it are zeroed, their places are not."""
    leaked: list[float] = []
    for place in range(LENGTH - 1):
        kept = torch.arange(LENGTH)[None, :, None] <= place
        x = words * kept + waves
        weights = ((x @ w_q) @ (x @ w_k).mT / DIM**0.5).softmax(-1)[0, place]
        leaked.append(weights[place + 1 :].sum().item())
    return sum(leaked) / len(leaked)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Hidden means weight 0."""
    rows = (
        ("scores", Bilingual("scores after t set to 0", "t 之后的分数置 0")),
        ("embeddings", Bilingual("embeddings after t set to 0", "t 之后的嵌入置 0")),
        ("infinite", Bilingual("scores after t set to −∞", "t 之后的分数置 −∞")),
    )
    table = MeasuredTable(
        title=Bilingual("Weight on the future, mean over places", "落在未来位置上的权重（各位置平均）"),
        columns=(Bilingual("treatment", "做法"), Bilingual("weight", "权重")),
        rows=[(label, spread(column(found, name))) for name, label in rows],
    )
    figure = draw_bars(
        "future",
        Bilingual("Weight that falls on hidden places", "落在应被遮住的位置上的权重"),
        [(label, sum(column(found, name)) / len(found)) for name, label in rows],
    )
    return Findings(
        claims=[
            Check(says=rows[0][1], values=column(found, "scores"), high=1e-6),
            Check(says=rows[1][1], values=column(found, "embeddings"), high=1e-6),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="masked-scores",
    number="–",
    question=Bilingual("What exactly does the decoder's mask set?", "解码器的掩码到底改的是什么？"),
    claim=Bilingual(
        "information after time t is set to 0; the output embeddings are masked first",
        "t时间后的信息置为0；Output Embeddings需要先做一个掩码（Masked），再进行输入",
    ),
    expected=Bilingual("0 instead of −∞: a third of the weight and more leaks", "用 0 代替 −∞：三分之一以上的权重泄露"),
    answer=Bilingual(
        "The mask acts on the scores, between product and softmax, and sets those of hidden keys to −∞, whose "
        "exponential "
        "is 0. A score of 0 is nothing special, exp(0) = 1: hidden places would get as much weight as an average one. "
        "Embeddings are not masked at all, they are shifted right by one; zeroing them would leave their places as "
        "keys, "
        "and what one query may not see the next one needs.",
        "掩码作用在分数上，位于点积和 softmax 之间，把被遮住的键的分数设为 −∞，其指数为 0。分数 0 并不特殊，exp(0) "
        "= 1，被遮的位置照样得到和普通位置"
        "差不多的权重。嵌入根本不做掩码，而是整体右移一位；若把嵌入置零，它们的位置仍然会作为键参与，而且一个查询不"
        "该看的，正是下一个查询需要的。",
    ),
    code=("src/clearformer/model/masks.py", "src/clearformer/model/attention.py"),
    measure=measure,
    conclude=conclude,
)

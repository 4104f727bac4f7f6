"""Claim (question 8): embeddings are multiplied by √d to keep the numbers in self-attention from becoming too large.

Expected: the opposite. At d = 512 a tied table starts with a size (rms) of 0.044; ×√d makes it 1.0, beside 0.707 of
the positions; scores of plain embeddings grow 512-fold.
"""

from collections.abc import Sequence
from typing import Any

import torch

from clearformer.lab.bilingual import Bilingual, Sayable
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.verdicts import Check, spread
from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig
from clearformer.model.families import transformer
from clearformer.model.positions import Sinusoidal

DIM, VOCABULARY, LENGTH = 512, 1000, 64


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """A fresh model of the paper's width: sizes of vectors, and of products between them."""
    sizes = {"vocab_size": VOCABULARY, "dim": DIM, "hidden_dim": 64, "layers": 1}
    model: Any = build(transformer(**sizes, embedding=EmbeddingConfig(scale=True, tie="all")))
    front = model.encoder.front
    tokens = torch.randint(VOCABULARY, (4, LENGTH))
    plain = front.embed(tokens)
    scaled = front.look_up(tokens)
    waves = Sinusoidal(DIM).embed(torch.arange(LENGTH)[None])

    def size(x: torch.Tensor) -> float:
        return x.square().mean().sqrt().item()

    def word_share(x: torch.Tensor) -> float:
        return x.square().sum().item() / (x + waves).square().sum().item()

    return {
        "plain": size(plain),
        "scaled": size(scaled),
        "waves": size(waves),
        "growth": size(scaled) / size(plain),
        "product_plain": _own_product(plain),
        "product_scaled": _own_product(scaled),
        "product_growth": _own_product(scaled) / _own_product(plain),
        "share_plain": word_share(plain),
        "share_scaled": word_share(scaled),
    }


def _own_product(x: torch.Tensor) -> float:
    """x·x ÷ d: what a score between equal words is made of."""
    return x.square().sum(-1).mean().item() / DIM


def conclude(found: Sequence[Measurement]) -> Findings:
    """“Keeps them from becoming large” would mean: not larger than before."""

    def row(label: Bilingual, *names: str) -> list[Sayable | float | int]:
        return [label, *(spread(column(found, name)) for name in names)]

    table = MeasuredTable(
        title=Bilingual("Embeddings at d = 512, tied table", "d = 512、共享嵌入表时的嵌入"),
        columns=(
            "",
            Bilingual("size (rms)", "大小（均方根）"),
            Bilingual("share of word + position", "在“词 + 位置”中所占比例"),
            "x·x ÷ d",
        ),
        rows=[
            row(Bilingual("from the table", "查表所得"), "plain", "share_plain", "product_plain"),
            row(Bilingual("× √d", "× √d 之后"), "scaled", "share_scaled", "product_scaled"),
            [Bilingual("positions", "位置"), spread(column(found, "waves")), "", ""],
        ],
    )
    figure = draw_bars(
        "sizes",
        Bilingual("Size of a token's vector beside its position's", "词元向量与位置向量的大小"),
        [
            (Bilingual("embedding", "嵌入"), found[0].values["plain"]),
            (Bilingual("embedding × √d", "嵌入 × √d"), found[0].values["scaled"]),
            (Bilingual("position", "位置"), found[0].values["waves"]),
        ],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("size after × √d ÷ size before", "× √d 之后的大小 ÷ 之前的大小"),
                values=column(found, "growth"),
                high=1.0,
            ),
            Check(
                says=Bilingual("products after × √d ÷ before", "× √d 之后的点积 ÷ 之前的点积"),
                values=column(found, "product_growth"),
                high=1.0,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="scaled-embeddings",
    number="8",
    question=Bilingual("Why are embeddings multiplied by √d?", "为什么词向量要乘以 embedding size 的开方？"),
    claim=Bilingual(
        "to keep the numbers in self-attention from becoming too large", "目的是防止在计算自注意力时得到的数值过大"
    ),
    expected=Bilingual(
        "size 0.044 → 1.0, positions 0.707; products 512 times as large",
        "大小 0.044 → 1.0，位置 0.707；点积变为 512 倍",
    ),
    answer=Bilingual(
        "It makes them larger, and is meant to. The table is also the output layer, so it starts at 1/√d, or logits "
        "would "
        "begin with a size of √d. But then a word's vector has size 0.044 at d = 512, and the position that is "
        "added has "
        "0.707: a word would be less than one percent of the sum. ×√d brings it to 1. What keeps scores from "
        "growing with "
        "the width is another root, ÷√d_k.",
        "乘以 √d 会让数值变大，而且本来就是为了变大。嵌入表同时也是输出层，所以初始值取 1/√d，否则一开始 logits 的大"
        "小就有 √d。但这样一来，"
        "d = 512 时词向量的大小只有 0.044，而加上去的位置编码有 0.707，词在总和里占不到百分之一。乘以 √d 之后词向量"
        "的大小回到 1。"
        "真正防止分数随宽度增长的是另一个根号：÷√d_k。",
    ),
    code=("src/clearformer/model/frontends.py", "src/clearformer/model/init.py"),
    measure=measure,
    conclude=conclude,
)

"""Claim: without positions, attention gives the same output values for words in another order.

Expected: nearly. Each word keeps its own output, to 1e-5, and the outputs move along with the words; place by place
they differ. With waves added, a word's output depends on where it stands.
"""

from collections.abc import Sequence
from typing import Any

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.verdicts import Check, spread
from clearformer.model.build import build
from clearformer.model.config import PositionConfig, PositionKind
from clearformer.model.families import transformer

LENGTH, VOCABULARY = 12, 200
KINDS: tuple[PositionKind, ...] = ("none", "sinusoidal", "learned", "rotary", "alibi", "buckets", "shaw", "relative")


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Shuffle the words, and compare each word's output with its own from before."""
    tokens = torch.randperm(VOCABULARY)[:LENGTH][None]
    order = torch.randperm(LENGTH)
    values: Measured = {}
    for kind in KINDS:
        sizes = {"vocab_size": VOCABULARY, "dim": 64, "hidden_dim": 128, "layers": 2, "max_len": LENGTH}
        model: Any = build(transformer(**sizes, position=PositionConfig(kind=kind))).eval()
        encoder = model.encoder
        for table in (part for part in encoder.modules() if isinstance(part, torch.nn.Embedding)):
            table.weight.normal_()  # as large as after training: fresh tables of positions are small
        before, after = encoder(tokens).states, encoder(tokens[:, order]).states
        values[f"{kind}_moved"] = (after - before[:, order]).abs().max().item()
        values[f"{kind}_placed"] = (after - before).abs().max().item()
    return values


def conclude(found: Sequence[Measurement]) -> Findings:
    """The same up to the order of the outputs."""
    table = MeasuredTable(
        title=Bilingual("Words shuffled: how far outputs differ", "打乱词序后输出相差多少"),
        columns=(
            Bilingual("positions", "位置方案"),
            Bilingual("word by word", "逐词比较"),
            Bilingual("place by place", "逐位置比较"),
        ),
        rows=[
            (kind, spread(column(found, f"{kind}_moved")), spread(column(found, f"{kind}_placed"))) for kind in KINDS
        ],
    )
    figure = draw_bars(
        "shuffled",
        Bilingual("How far a word's own output moves when words are shuffled", "打乱词序后，同一个词的输出变化多少"),
        [(kind, sum(column(found, f"{kind}_moved")) / len(found)) for kind in KINDS],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("without positions: change of a word's own output", "不加位置时，同一个词的输出变化"),
                values=column(found, "none_moved"),
                high=1e-4,
            )
        ],
        conditions=[
            Check(
                says=Bilingual("without positions: change place by place", "不加位置时，逐位置比较的变化"),
                values=column(found, "none_placed"),
                low=0.1,
            )
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="order-blindness",
    number="9",
    question=Bilingual("What does attention know of the order of words?", "注意力知道词的先后顺序吗？"),
    claim=Bilingual(
        "the output has no order in it: words in another order give the same values",
        "没有时序信息。意味着，输入不同的顺序词，输出的值相同",
    ),
    expected=Bilingual("word by word below 1e-4, place by place above 0.1", "逐词比较小于 1e-4，逐位置比较大于 0.1"),
    answer=Bilingual(
        "Self-attention is permutation-equivariant: shuffle the words, and the outputs are shuffled in the same "
        "way, each "
        "with the very same numbers. So no word knows where it stands, but the outputs as a sequence are not the same; "
        "only what sums over all of them is. Any position scheme ends that, whether it adds vectors, turns queries and "
        "keys, or biases scores.",
        "自注意力是置换等变的：把词打乱，输出就按同样的方式打乱，而每个词得到的数值完全不变。所以每个词都不知道自己"
        "站在哪里；但作为序列，"
        "输出并不相同，只有对所有位置求和之类的结果才相同。任何一种位置方案都会打破这种对称，不管是加向量、旋转查询"
        "和键，还是给分数加偏置。",
    ),
    code=("src/clearformer/model/positions.py",),
    measure=measure,
    conclude=conclude,
)

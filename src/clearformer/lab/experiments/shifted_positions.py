"""Claim (question 10): relative schemes depend on distances; learned positions cannot reach past their table.

Expected: move a text 100 places on, and relative, rotary, ALiBi, buckets and Shaw give the same output (below
1e-3), sinusoidal does not; learned positions refuse a text that is longer than their table.
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
from clearformer.model.families import gpt2

LENGTH, SHIFT, VOCABULARY = 16, 100, 100
RELATIVE: tuple[PositionKind, ...] = ("rotary", "alibi", "buckets", "shaw", "relative")
KINDS: tuple[PositionKind, ...] = ("sinusoidal", "learned", *RELATIVE)


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """The same tokens at places 0 … 15 and at 100 … 115, and at places beyond the table."""
    tokens = torch.randint(VOCABULARY, (2, LENGTH))
    near, values = torch.arange(LENGTH)[None], Measured()
    for kind in KINDS:
        sizes = {"vocab_size": VOCABULARY, "dim": 64, "hidden_dim": 128, "layers": 2, "max_len": 128}
        model: Any = build(gpt2(**sizes, position=PositionConfig(kind=kind))).eval()
        decoder = model.decoder
        for table in (part for part in decoder.modules() if isinstance(part, torch.nn.Embedding)):
            table.weight.normal_()
        states = decoder(tokens, positions=near)
        values[kind] = (decoder(tokens, positions=near + SHIFT) - states).abs().max().item()
        try:
            decoder(tokens, positions=near + 200)
            values[f"{kind}_beyond"] = 1
        except ValueError:
            values[f"{kind}_beyond"] = 0
    return values


def conclude(found: Sequence[Measurement]) -> Findings:
    """What should not depend on the place, does not."""
    answers = {1: Bilingual("yes", "能"), 0: Bilingual("refused", "拒绝")}
    table = MeasuredTable(
        title=Bilingual("A text 100 places further on", "把文本整体后移 100 个位置"),
        columns=(
            Bilingual("positions", "位置方案"),
            Bilingual("largest change of the output", "输出的最大变化"),
            Bilingual("beyond 128 places", "超过 128 个位置"),
        ),
        rows=[(kind, spread(column(found, kind)), answers[found[0].values[f"{kind}_beyond"]]) for kind in KINDS],
    )
    figure = draw_bars(
        "shift",
        Bilingual("Change of the output after a shift by 100 places", "平移 100 个位置后输出的变化"),
        [(kind, sum(column(found, kind)) / len(found)) for kind in KINDS],
    )
    worst = [max(one.values[kind] for kind in RELATIVE) for one in found]
    return Findings(
        claims=[
            Check(
                says=Bilingual("relative schemes: largest change after the shift", "相对方案：平移后的最大变化"),
                values=worst,
                high=1e-2,
            ),
            Check(
                says=Bilingual("sinusoidal, an absolute scheme: change", "正弦（绝对方案）：变化"),
                values=column(found, "sinusoidal"),
                low=0.1,
            ),
            Check(
                says=Bilingual("learned positions beyond their table (1 = works)", "可学习位置超出表长时（1 = 可用）"),
                values=column(found, "learned_beyond"),
                high=0.0,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="shifted-positions",
    number="10",
    question=Bilingual("Which other position schemes are there?", "还了解哪些位置编码技术？各自优缺点是什么？"),
    claim=Bilingual(
        "relative schemes, rotary positions and ALiBi express distances; learned positions cannot extrapolate",
        "Relative Position Encoding 表示位置间的相对关系；Learnable Position Embedding 不可外推",
    ),
    expected=Bilingual(
        "relative: below 0.01; sinusoidal: above 0.1; learned: refused", "相对方案小于 0.01；正弦大于 0.1；可学习：拒绝"
    ),
    answer=Bilingual(
        "Absolute schemes (waves, a learned table) add a vector for the place; relative ones (Shaw, Transformer-XL, "
        "T5's "
        "buckets), rotary positions and ALiBi let scores depend on distances. Shift a whole text and the latter "
        "give the "
        "same output, the former do not. A learned table ends at its last row. That a scheme can be computed for "
        "longer "
        "texts does not mean that a model is any good there: that takes training, and is another experiment.",
        "绝对方案（正弦波、可学习的表）给每个位置加一个向量；相对方案（Shaw、Transformer-XL、T5 的分桶）、RoPE 和 "
        "ALiBi 让分数取决于距离。"
        "把整段文本平移，后者输出不变，前者会变。可学习的表到最后一行就到头了。但一种方案“算得出”更长的位置，不等于"
        "模型在那里还好用："
        "那要靠训练来检验，是另一个实验。",
    ),
    code=("src/clearformer/model/positions.py",),
    measure=measure,
    conclude=conclude,
)

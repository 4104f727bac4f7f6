"""Claim (question 10): rotary positions are computed efficiently; relative ones are the more complicated kind.

Expected, the same small decoder with each scheme, 256 tokens: waves and a learned table cost nothing that one could
measure; rotary positions, which turn every query and key in every layer, a part of a layer's time; schemes that change
the scores of all pairs (Shaw, Transformer-XL) most.
"""

import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Seeds,
    Trial,
    column,
)
from clearformer.lab.verdicts import Check, number, spread
from clearformer.model.build import build
from clearformer.model.config import PositionConfig, PositionKind
from clearformer.model.families import gpt2

LENGTH, VOCABULARY = 256, 100
NONE: PositionKind = "none"
SCHEMES: dict[PositionKind, Bilingual] = {
    NONE: Bilingual("none", "无"),
    "sinusoidal": Bilingual("sinusoidal", "正弦"),
    "learned": Bilingual("learned", "可学习"),
    "rotary": Bilingual("rotary", "旋转（RoPE）"),
    "alibi": Bilingual("ALiBi", "ALiBi"),
    "buckets": Bilingual("buckets (T5)", "分桶（T5）"),
    "shaw": Bilingual("relative (Shaw)", "相对（Shaw）"),
    "relative": Bilingual("relative (Transformer-XL)", "相对（Transformer-XL）"),
}


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Parameters, counted products and time of one decoder with each scheme."""
    tokens, models = torch.randint(VOCABULARY, (4, LENGTH)), {}
    for kind in SCHEMES:
        sizes = {"vocab_size": VOCABULARY, "dim": 64, "hidden_dim": 256, "layers": 2, "heads": 4, "max_len": LENGTH}
        models[kind] = build(gpt2(**sizes, position=PositionConfig(kind=kind))).eval()
    taken: dict[str, list[float]] = {kind: [] for kind in SCHEMES}
    for _ in range(4 if trial.quick else 16):  # in turns, so that all of them meet the same disturbances
        for kind, model in models.items():
            taken[kind].append(_seconds(model, tokens))
    values: Measured = {}
    for kind, model in models.items():
        with FlopCounterMode(display=False) as counter:
            model(tokens)
        values[f"{kind}_time"] = min(taken[kind][1:]) / min(taken[NONE][1:])
        values[f"{kind}_operations"] = counter.get_total_flops()
        values[f"{kind}_parameters"] = sum(one.numel() for one in model.parameters())
    return values


def _seconds(model: Any, tokens: Tensor) -> float:
    """Of this thread's own time."""
    started = time.process_time()
    model(tokens)
    return time.process_time() - started


def conclude(found: Sequence[Measurement]) -> Findings:
    """Beside the same network without positions."""
    first = found[0].values
    rows = []
    for kind, label in SCHEMES.items():
        more = [first[f"{kind}_{what}"] - first[f"{NONE}_{what}"] for what in ("parameters", "operations")]
        share = more[1] / first[f"{NONE}_operations"]
        rows.append((label, number(more[0]), number(share), spread(column(found, f"{kind}_time"))))
    return Findings(
        claims=[
            Check(
                says=Bilingual("time with rotary positions ÷ without any", "用时：旋转位置 ÷ 无位置"),
                values=column(found, "rotary_time"),
                high=1.5,
            ),
            Check(
                says=Bilingual("time with Transformer-XL's ÷ with rotary positions", "用时：Transformer-XL ÷ 旋转位置"),
                values=[one.values["relative_time"] / one.values["rotary_time"] for one in found],
                low=1.0,
            ),
        ],
        tables=[
            MeasuredTable(
                title=Bilingual(
                    f"Two layers of width 64, {LENGTH} tokens, against the same without positions",
                    f"两层、宽 64、{LENGTH} 个词元，与没有位置的同一网络相比",
                ),
                columns=(
                    Bilingual("positions", "位置方案"),
                    Bilingual("more parameters", "多出的参数"),
                    Bilingual("more products, as a share", "多出的乘法（占比）"),
                    Bilingual("time, as a ratio", "时间之比"),
                ),
                rows=rows,
            )
        ],
        figures=[
            draw_bars(
                "time",
                Bilingual("Time of a pass, without positions = 1", "前向一次的时间（无位置 = 1）"),
                [(label, sum(column(found, f"{kind}_time")) / len(found)) for kind, label in SCHEMES.items()],
            )
        ],
    )


EXPERIMENT = Experiment(
    name="position-cost",
    number="10",
    question=Bilingual("What do position schemes cost?", "各种位置编码的开销有多大？"),
    claim=Bilingual(
        "rotary positions are computed efficiently; relative ones are more complicated",
        "RoPE 计算高效；Relative Position Encoding 实现更复杂",
    ),
    expected=Bilingual(
        "waves and a learned table: nothing; rotary: less than half as much again; Transformer-XL's: more than rotary",
        "正弦和可学习的表：测不出开销；旋转：多花不到一半；Transformer-XL：比旋转更多",
    ),
    answer=Bilingual(
        "A vector that is added once, below the first layer, costs nothing. Rotary positions turn every query and key "
        "of every layer: n·d products, no parameters. ALiBi and T5's buckets add a number to each of the n² scores; "
        "Shaw's and Transformer-XL's schemes multiply vectors of distances with the queries, another product of the "
        "size of the scores. That is why large models took to rotary positions: distances at the price of n·d.",
        "在第一层之下加一次向量，几乎不花钱。RoPE 要在每一层转动每个查询和键：n·d 次乘法，没有参数。ALiBi 和 T5 的分桶"
        "给 n² 个分数各加一个数；Shaw 和 Transformer-XL 还要拿距离向量与查询相乘，又是一次与打分同样大的乘法。大模型选 "
        "RoPE，原因就在这里：只花 n·d，就得到了距离。",
    ),
    code=("src/clearformer/model/positions.py",),
    measure=measure,
    conclude=conclude,
    seeds=Seeds(quick=1, full=3),
    timed=True,
)

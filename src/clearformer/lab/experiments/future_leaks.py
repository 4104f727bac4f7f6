"""Claim (question 20): the decoder's residuals leak nothing of the future, because the mask stands before the softmax.

Expected: change the tokens behind place t, and the outputs up to t change by exactly 0. But only together with the
shift to the right: fed its targets unshifted, the same decoder sees what it is to say. The test catches three leaky
models.
"""

from collections.abc import Callable, Sequence
from typing import Any

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
from clearformer.model import masks
from clearformer.model.attention_context import AttentionContext
from clearformer.model.build import build
from clearformer.model.families import gpt2

LENGTH, CHANGED, VOCABULARY = 16, 8, 50


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Change everything from place 8 on; where does the output change?"""
    sizes = {"vocab_size": VOCABULARY, "dim": 48, "hidden_dim": 96, "layers": 3, "max_len": 64}
    model: Any = build(gpt2(**sizes)).eval()
    decoder = model.decoder
    tokens = torch.randint(VOCABULARY, (4, LENGTH))
    other = torch.cat((tokens[:, :CHANGED], (tokens[:, CHANGED:] + 1) % VOCABULARY), dim=1)
    readings: dict[str, Callable[[Tensor], Tensor]] = {
        "sound": decoder,
        "open": lambda t: _read(decoder, t, torch.ones(LENGTH, LENGTH, dtype=torch.bool)),
        "late": lambda t: _read(decoder, t, masks.causal(LENGTH, LENGTH).roll(-1, 0) | masks.causal(LENGTH, LENGTH)),
        "mean": lambda t: decoder(t) + decoder.front(t)[0].mean(1, keepdim=True),
    }
    by_place = {name: _changes(read(tokens), read(other)) for name, read in readings.items()}
    return {
        **{f"{name}_places": line for name, line in by_place.items()},
        **{f"{name}_past": max(line[:CHANGED]) for name, line in by_place.items()},
        "unshifted": by_place["sound"][CHANGED],
    }


def _read(decoder: Any, tokens: Tensor, mask: Tensor) -> Tensor:
    """The same layers with another mask."""
    x, _, positions = decoder.front(tokens)
    context = AttentionContext(positions, positions, mask=mask)
    for layer in decoder.layers:
        x = layer(x, context)
    read: Tensor = decoder.norm(x)
    return read


def _changes(before: Tensor, after: Tensor) -> list[float]:
    changes: list[float] = (after - before).abs().amax((0, 2)).tolist()
    return changes


MODELS = (
    ("sound", Bilingual("this package's decoder", "本项目的解码器")),
    ("late", Bilingual("mask one place too wide", "掩码多放了一格")),
    ("mean", Bilingual("a mean over all tokens added", "加上了全句的平均")),
    ("open", Bilingual("no mask", "没有掩码")),
)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Nothing leaks, if the inputs are shifted."""
    table = MeasuredTable(
        title=Bilingual("Tokens from place 8 on are changed", "从第 8 个位置起改变词元"),
        columns=(Bilingual("model", "模型"), Bilingual("change of the outputs before", "之前各位置输出的变化")),
        rows=[(label, spread(column(found, f"{name}_past"))) for name, label in MODELS],
    )
    figure = draw_curves(
        "leaks",
        Bilingual(
            "Change of the output by place; inputs change from place 8 on", "各位置输出的变化；输入从第 8 个位置起改变"
        ),
        Curves(
            x_label=Bilingual("place", "位置"),
            lines=[(label, list(enumerate(mean_lists(found, f"{name}_places")))) for name, label in MODELS],
        ),
    )
    leaky = [min(one.values[f"{name}_past"] for name in ("late", "mean", "open")) for one in found]
    return Findings(
        claims=[
            Check(
                says=Bilingual("change of the past", "对过去位置的影响"), values=column(found, "sound_past"), high=0.0
            ),
            Check(
                says=Bilingual(
                    "the test sees leaks: smallest change in a leaky model", "检验能发现泄露：有漏洞的模型中最小的变化"
                ),
                values=leaky,
                low=1e-3,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "without the shift to the right: effect of a token on its own prediction",
                    "如果不右移：一个词元对“预测它自己”的影响",
                ),
                values=column(found, "unshifted"),
                low=1e-3,
            )
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="future-leaks",
    number="16, 20",
    question=Bilingual(
        "Why does the decoder need a causal mask, and can the residual leak the future?",
        "Decoder 为什么需要 sequence mask？残差会不会把后面的信息泄露进来？",
    ),
    claim=Bilingual(
        "nothing leaks, because the mask is added before the attention weights are computed",
        "不会造成信息泄露，因为 mask 是加在 attention 权重计算前的",
    ),
    expected=Bilingual(
        "past outputs change by exactly 0; leaky models by more than 0.001",
        "过去的输出变化恰好为 0；有漏洞的模型超过 0.001",
    ),
    answer=Bilingual(
        "In training the whole target stands in the decoder at once, so each place must be kept from those behind it: "
        "scores to the future become −∞. The residual adds a place's own vector to itself and so brings nothing "
        "new. But "
        "a place does see its own input: nothing leaks only because inputs are shifted right by one, so that place t "
        "holds token t − 1. The proof is a perturbation: change the future, and the past must not move by a single "
        "bit.",
        "训练时整个目标句一次性放进解码器，所以必须不让每个位置看到它后面的：指向未来的分数设为 −∞。残差只是把一个位"
        "置自己的向量加回自己，不会带来"
        "新东西。但一个位置看得到自己的输入；之所以不泄露，还因为输入整体右移了一位，位置 t 上放的是第 t − 1 个词元。"
        "证明的办法是扰动："
        "改变未来，过去的输出一个比特都不能动。",
    ),
    code=("src/clearformer/model/masks.py", "src/clearformer/model/transformer.py"),
    measure=measure,
    conclude=conclude,
)

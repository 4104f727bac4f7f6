"""Claim (question 5): padding is masked in the decoder's first attention, by hiding what comes after step t.

Expected: that is the causal mask; with it alone a sentence with padding to its left comes out differently than
without (by more than 0.1), while the padding mask leaves less than 1e-4. Zeroed keys still draw weight; zeroed
weights no longer sum to one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
    column,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model import masks
from clearformer.model.attention import attend
from clearformer.model.build import build
from clearformer.model.families import gpt2, transformer

REAL, PADS, VOCABULARY, DIM = 5, 3, 100, 64


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Sentences alone and with padding before them, in an encoder and in a decoder, with and without the mask."""
    sizes = {"vocab_size": VOCABULARY, "dim": DIM, "hidden_dim": 128, "layers": 2}
    reader: Any = build(transformer(**sizes)).eval()
    writer: Any = build(gpt2(**sizes)).eval()
    sentence = torch.randint(1, VOCABULARY, (8, REAL))
    padded = torch.cat((torch.zeros(8, PADS, dtype=torch.long), sentence), dim=1)
    keep = padded > 0
    places = (keep.long().cumsum(1) - 1).clamp(min=0)
    read: dict[str, Callable[..., Tensor]] = {
        "encoder": lambda *given, **choices: reader.encoder(*given, **choices).states,
        "decoder": writer.decoder,
    }
    values: Measured = {}
    for name, stack in read.items():
        alone = stack(sentence)
        for mask, given in (("masked", keep), ("bare", None)):
            states = stack(padded, positions=places, keep=given)[:, PADS:]
            values[f"{name}_{mask}"] = (states - alone).abs().max().item()
    return {**values, **_by_hand()}


def _by_hand() -> Measured:
    """One attention with three real keys and two of padding: what becomes of the padding's weight."""
    q, k = torch.randn(200, 1, 1, 16), torch.randn(200, 1, 5, 16)
    keep = torch.tensor([True, True, True, False, False])
    seen: dict[str, Tensor] = {}
    attend(q, k, k, mask=masks.padding(keep[None]), notes=lambda name, value: seen.__setitem__(name, value))
    zeroed_keys = _weights(q, k * keep[:, None])
    zeroed_weights = _weights(q, k) * keep
    return {
        "masked_weight": seen["weights"][..., ~keep].sum(-1).mean().item(),
        "masked_sum": seen["weights"].sum(-1).mean().item(),
        "keys_weight": zeroed_keys[..., ~keep].sum(-1).mean().item(),
        "keys_sum": zeroed_keys.sum(-1).mean().item(),
        "weights_weight": zeroed_weights[..., ~keep].sum(-1).mean().item(),
        "weights_sum": zeroed_weights.sum(-1).mean().item(),
    }


def _weights(q: Tensor, k: Tensor) -> Tensor:
    scores: Tensor = q @ k.mT / float(q.size(-1)) ** 0.5
    return scores.softmax(-1)


def conclude(found: Sequence[Measurement]) -> Findings:
    """If the claim were right, the causal mask would leave the sentence as it is alone."""
    hidden = (
        ("decoder_masked", Bilingual("decoder: causal and padding mask", "解码器：因果掩码加填充掩码")),
        ("decoder_bare", Bilingual("decoder: causal mask alone (the notes)", "解码器：只有因果掩码（笔记的做法）")),
        ("encoder_masked", Bilingual("encoder: padding mask", "编码器：填充掩码")),
        ("encoder_bare", Bilingual("encoder: no mask (the notes)", "编码器：不加掩码（笔记的做法）")),
    )
    by_hand = (
        ("masked", Bilingual("scores set to −∞ before the softmax", "softmax 之前把分数设为 −∞")),
        ("keys", Bilingual("keys set to zero", "把键向量置零")),
        ("weights", Bilingual("weights set to zero after the softmax", "softmax 之后把权重置零")),
    )
    whole = MeasuredTable(
        title=Bilingual(
            "A sentence alone against the same with padding before it", "同一个句子：单独处理与前面补了填充时的差"
        ),
        columns=(Bilingual("treatment", "做法"), Bilingual("largest difference", "最大差异")),
        rows=[(label, spread(column(found, name))) for name, label in hidden],
    )
    one = MeasuredTable(
        title=Bilingual("One attention, two of five keys are padding", "一次注意力，五个键中有两个是填充"),
        columns=(
            Bilingual("treatment", "做法"),
            Bilingual("weight on padding", "填充得到的权重"),
            Bilingual("sum of weights", "权重之和"),
        ),
        rows=[
            (label, spread(column(found, f"{name}_weight")), spread(column(found, f"{name}_sum")))
            for name, label in by_hand
        ],
    )
    figure = _figure(hidden, found)
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "in a decoder with the causal mask alone, padding changes nothing",
                    "解码器只用因果掩码时，填充不改变任何结果",
                ),
                values=column(found, "decoder_bare"),
                high=1e-4,
            )
        ],
        tables=[whole, one],
        figures=[figure],
    )


def _figure(hidden: Sequence[tuple[str, Bilingual]], found: Sequence[Measurement]) -> MeasuredFigure:
    return draw_bars(
        "difference",
        Bilingual("How far a padded sentence is from itself alone", "补齐后的句子与单独处理时相差多少"),
        [(label, sum(column(found, name)) / len(found)) for name, label in hidden],
    )


EXPERIMENT = Experiment(
    name="padding-mask",
    number="5",
    question=Bilingual("How is padding masked?", "计算 attention score 时如何对 padding 做 mask？"),
    claim=Bilingual(
        "in the decoder's first attention: the values of k after step t are set to a very large negative number before "
        "the softmax",
        "在decoder的mask multi-head attention，即第一个attention模块做mask操作。对k向量第t步以后的值在进入softmax之"
        "前置一个非常大的负数",
    ),
    expected=Bilingual(
        "padding mask: difference below 1e-4; causal mask: above 0.1; zeroed keys still draw weight",
        "填充掩码：差异小于 1e-4；因果掩码：大于 0.1；置零的键仍然分到权重",
    ),
    answer=Bilingual(
        "The padding mask hides, from every query, the keys that hold no token: their scores (not the keys) become −∞ "
        "before the softmax, so their weights are 0 and the others still sum to 1. It is needed in all three "
        "attentions: "
        "encoder, decoder, cross-attention. What the notes describe is the causal mask, which hides the future and "
        "lets "
        "everybody see padding to the left. A batch is right when each sentence comes out as it does alone.",
        "填充掩码让所有查询都看不到不含词元的键：在 softmax 之前把它们的分数（而不是键向量）设为 −∞，于是权重为 0，"
        "其余权重之和仍为 1。"
        "编码器自注意力、解码器自注意力和交叉注意力三处都需要它。笔记描述的其实是因果掩码，它遮的是未来，左边的填充"
        "照样人人可见。"
        "检验办法很简单：一个句子放在批里算出来的结果，应当和单独算时一样。",
    ),
    code=("src/clearformer/model/masks.py", "src/clearformer/model/attention.py"),
    measure=measure,
    conclude=conclude,
)

"""Claim (question 7): every sub-layer's output goes through LayerNorm, which gives it mean 0 and variance 1.

Expected: before the learned gain and bias, yes, token by token; behind them, in a trained model, the variance is
another one. The model is the translator that ships; the sentence is a real one.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_matrices
from clearformer.lab.experiment import (
    ONCE,
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
)
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, number
from clearformer.model.trace import trace

SENTENCE = "Two dogs are playing with a ball in the deep snow."


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """One sentence through the encoder, every step recorded."""
    read = read_shipped(SENTENCE)
    network, tokens = read.network, read.tokens
    with trace(network) as seen:
        network.encode(tokens)
    steps = [("front", seen["encoder.front.output"])]
    for layer in range(len(network.encoder.layers)):
        place = f"encoder.layers.{layer}"
        steps += [
            (f"{layer + 1}: self-attention", seen[f"{place}.self_attn.output"]),
            (f"{layer + 1}: x + attention", seen[f"{place}.self_attn_residual.sum"]),
            (f"{layer + 1}: feed-forward", seen[f"{place}.ffn.output"]),
            (f"{layer + 1}: x + feed-forward", seen[f"{place}.ffn_residual.sum"]),
        ]
    steps.append(("norm", seen["encoder.output"]))
    before, after = _norms(network, seen["encoder.layers.3.ffn_residual.sum"])
    weights = seen["encoder.layers.3.self_attn.weights"][0]
    return {
        "steps": [(name, list(value.shape), _size(value)) for name, value in steps],
        "mean_before": before.mean(-1).abs().max().item(),
        "variance_before": (before.var(-1, unbiased=False) - 1).abs().max().item(),
        "mean_after": after.mean(-1).abs().max().item(),
        "variance_after": after.var(-1, unbiased=False).mean().item(),
        "shift": (after.var(-1, unbiased=False) - 1).abs().mean().item(),
        "pieces": read.pieces,
        "vectors": seen["encoder.output"].size(1) / tokens.size(1),
        "weights": weights[1].tolist(),
    }


def _norms(network: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """The last norm without and with its gain and bias."""
    plain = torch.nn.functional.layer_norm(x, (x.size(-1),), eps=1e-9)
    return plain, network.encoder.norm(x)


def _size(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


def conclude(found: Sequence[Measurement]) -> Findings:
    """Right before gain and bias, and only there."""
    [one] = found
    values = one.values
    table = MeasuredTable(
        title=Bilingual("The sentence on its way through the encoder", "一个句子在编码器中的路径"),
        columns=(
            Bilingual("step", "步骤"),
            Bilingual("shape: batch × tokens × features", "形状：批 × 词元 × 特征"),
            Bilingual("size (root mean square)", "大小（均方根）"),
        ),
        rows=[(_named(name), " × ".join(map(str, shape)), number(size)) for name, shape, size in values["steps"]],
    )
    figure = _figure(values)
    return Findings(
        claims=[
            Check(
                says=Bilingual("before gain and bias: largest mean of a token", "增益和偏置之前：各词元均值的最大值"),
                values=[values["mean_before"]],
                high=1e-4,
            ),
            Check(
                says=Bilingual(
                    "before gain and bias: variance differs from 1 by", "增益和偏置之前：方差与 1 的最大偏差"
                ),
                values=[values["variance_before"]],
                high=1e-3,
            ),
            Check(
                says=Bilingual("vectors that come out, per token that went in", "每个输入词元对应的输出向量个数"),
                values=[values["vectors"]],
                low=1.0,
                high=1.0,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "behind gain and bias: variance differs from 1 by", "增益和偏置之后：方差与 1 的平均偏差"
                ),
                values=[values["shift"]],
                low=0.1,
            )
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(values: Measured) -> MeasuredFigure:
    caption = Bilingual("Who looks at whom: layer 4, head 2", "谁看谁：第 4 层第 2 头")
    return draw_matrices("head", caption, {caption: values["weights"]}, values["pieces"])


PARTS = {
    "front": Bilingual("embedding × √d + position", "嵌入 × √d + 位置"),
    "norm": Bilingual("last norm: the memory", "最后的归一化：编码结果"),
    "self-attention": Bilingual("self-attention", "自注意力"),
    "x + attention": Bilingual("x + attention", "x + 注意力"),
    "feed-forward": Bilingual("feed-forward", "前馈"),
    "x + feed-forward": Bilingual("x + feed-forward", "x + 前馈"),
}


def _named(step: str) -> Bilingual:
    layer, colon, part = step.partition(": ")
    if not colon:
        return PARTS[step]
    return Bilingual(f"layer {layer}: {PARTS[part].en}", f"第 {layer} 层：{PARTS[part].zh}")


EXPERIMENT = Experiment(
    name="encoder-walk",
    number="7",
    question=Bilingual("What does the encoder do?", "大概讲一下 Transformer 的 Encoder 模块？"),
    claim=Bilingual(
        "each sub-layer's output is put through layer normalisation, so that its mean is 0 and its variance 1",
        "每个子模块的输出都会经过层归一化，使得其均值为0，方差为1",
    ),
    expected=Bilingual(
        "mean 0 and variance 1 before gain and bias; another variance behind them; as many vectors out as tokens in",
        "增益和偏置之前均值 0、方差 1；之后不再是 1；输入多少词元，输出多少向量",
    ),
    answer=Bilingual(
        "The encoder turns n tokens into n vectors that know their context: batch × tokens × features goes in, and the "
        "same shape comes out of every step. Each layer adds to the stream what attention found elsewhere and what the "
        "feed-forward part made of each position alone. LayerNorm sets mean 0 and variance 1 per token and then "
        "applies a "
        "learned gain and bias, so its output has neither. The model here normalises before each part, as most do "
        "today, "
        "so the stream itself grows from layer to layer.",
        "编码器把 n 个词元变成 n 个带有上下文的向量：输入是“批 × 词元 × 特征”，每一步输出的形状都不变。每一层往残差"
        "流里加两样东西：注意力从"
        "别处取来的信息，以及前馈网络对每个位置单独加工的结果。LayerNorm 对每个词元先归一成均值 0、方差 1，再乘以学"
        "到的增益、加上偏置，"
        "所以它的输出一般不再是 0 和 1。这里的模型像如今多数模型那样先归一化再进子层，因此残差流本身会逐层变大。",
    ),
    code=("src/clearformer/model/transformer.py", "src/clearformer/model/layers.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

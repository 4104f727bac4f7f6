"""Claim (question 12): pre-norm trains more stably than post-norm.

Expected, for fresh models (Xiong et al., 2020): the gradient of the last layer's feed-forward weights stays the
same with depth for post-norm and shrinks for pre-norm.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

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
    mean_lists,
)
from clearformer.lab.made_tasks import copying_batch
from clearformer.lab.stacks import DEPTHS
from clearformer.lab.verdicts import Check, number
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig, NormConfig
from clearformer.model.families import gpt2

DIM, VOCABULARY = 64, 32
PLACES = ("post", "pre")


def measure(trial: Trial) -> Measured:
    """Fresh language models of every depth: the gradient of the last layer's second matrix."""
    tokens = copying_batch(16, 12, VOCABULARY)
    values: Measured = {}
    for place in PLACES:
        last, first = [], []
        for depth in DEPTHS:
            model: Any = _model(depth, place)
            logits = model(tokens[:, :-1])
            loss: Any = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            layers = model.decoder.layers
            last.append(layers[-1].ffn.down_proj.weight.grad.norm().item())
            first.append(layers[0].ffn.down_proj.weight.grad.norm().item())
        values |= {f"{place}_last": last, f"{place}_first": first}
    return values


def _model(depth: int, place: str) -> nn.Module:
    norm = NormConfig(place="post" if place == "post" else "pre")
    sizes = {"vocab_size": VOCABULARY, "dim": DIM, "hidden_dim": 4 * DIM, "layers": depth, "max_len": 64}
    return build(gpt2(**sizes, norm=norm, dropout=DropoutConfig.everywhere(0.0), init_std=None))


def conclude(found: Sequence[Measurement]) -> Findings:
    """How the gradient of the last layer grows from 2 to 24 layers."""
    last = {place: mean_lists(found, f"{place}_last") for place in PLACES}
    first = {place: mean_lists(found, f"{place}_first") for place in PLACES}
    labels = {"post": Bilingual("post-norm", "post-norm"), "pre": Bilingual("pre-norm", "pre-norm")}
    table = MeasuredTable(
        title=Bilingual(
            "Gradient of the feed-forward part's second matrix in a fresh model", "新建模型中前馈第二个矩阵的梯度"
        ),
        columns=(
            Bilingual("layers", "层数"),
            Bilingual("post-norm, last layer", "post-norm，末层"),
            Bilingual("post-norm, first layer", "post-norm，首层"),
            Bilingual("pre-norm, last layer", "pre-norm，末层"),
            Bilingual("pre-norm, first layer", "pre-norm，首层"),
        ),
        rows=[
            (depth, *(number(values[place][row]) for place in PLACES for values in (last, first)))
            for row, depth in enumerate(DEPTHS)
        ],
    )
    figure = _figure(last, first, labels)

    def growth(one: Measurement, place: str) -> float:
        grown: float = one.values[f"{place}_last"][-1] / one.values[f"{place}_last"][0]
        return grown

    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "fresh models, last layer's gradient at 24 layers ÷ at 2: post-norm over pre-norm",
                    "新建模型，末层梯度 24 层 ÷ 2 层：post-norm 与 pre-norm 之比",
                ),
                values=[growth(one, "post") / growth(one, "pre") for one in found],
                low=1.5,
            )
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(
    last: Mapping[str, Sequence[float]], first: Mapping[str, Sequence[float]], labels: Mapping[str, Bilingual]
) -> MeasuredFigure:
    return draw_curves(
        "gradients",
        Bilingual("Gradients of fresh models against depth", "新建模型的梯度随深度的变化"),
        *(
            Curves(
                title=title,
                x_label=Bilingual("layers", "层数"),
                lines=[(labels[place], list(zip(DEPTHS, values[place], strict=True))) for place in PLACES],
            )
            for title, values in (
                (Bilingual("last layer", "末层"), last),
                (Bilingual("first layer", "首层"), first),
            )
        ),
    )


EXPERIMENT = Experiment(
    name="norm-place",
    number="12",
    question=Bilingual("Where does LayerNorm stand?", "LayerNorm 在 Transformer 的位置是哪里？"),
    claim=Bilingual(
        "post-norm in the paper; pre-norm, with the norm first and then the residual, trains more stably",
        "原论文为 Post-LN 结构，在残差后再 LayerNorm；Pre-LN 先 LayerNorm 再做残差结构，训练更稳定",
    ),
    expected=Bilingual(
        "with depth, the last layer's gradient stays the same for post-norm and shrinks for pre-norm",
        "随着深度增加，post-norm 末层的梯度不变，pre-norm 的缩小",
    ),
    answer=Bilingual(
        "Post-norm is LayerNorm(x + f(x)), pre-norm is x + f(LayerNorm(x)) with one more norm at the end. In a fresh "
        "post-norm model the last layers have large gradients whatever the depth, so the first steps at a full "
        "learning "
        "rate throw them off: hence the warm-up. In pre-norm the stream grows with depth, every layer adds a "
        "smaller part "
        "of it, and gradients shrink accordingly. The paper's text is post-norm; the authors' code later made pre-norm "
        "its default.",
        "Post-norm 是 LayerNorm(x + f(x))；Pre-norm 是 x + f(LayerNorm(x))，最后再加一次归一化。新建的 post-norm 模"
        "型不管多深，末几层的梯度都很大，"
        "一开始就用满学习率会把它们推歪，所以需要 warm-up。Pre-norm 的残差流随深度增长，每层加进去的份额越来越小，梯"
        "度也相应变小。论文正文写的是"
        "post-norm，作者的代码后来把默认改成了 pre-norm。",
    ),
    code=("src/clearformer/model/layers.py",),
    measure=measure,
    conclude=conclude,
)

"""Claim (question 11): residual connections ease the vanishing of gradients in deep networks.

Expected: in a fresh stack of 24 post-norm layers the gradient at the input keeps at least a hundredth of its size at
the output; with neither sum nor norm less than a tenth of that is left. Norms alone keep its size, but make all tokens
alike within a few layers.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

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
from clearformer.lab.stacks import DEPTHS, Bypassed, gradients_by_layer, stack_of
from clearformer.lab.verdicts import Check, number
from clearformer.model.layers import post_norm, pre_norm

DIM = 64


def measure(trial: Trial) -> Measured:
    """Fresh stacks of every depth, with the sum and without: gradients, and how alike tokens are at the end."""
    kinds = {
        "post": lambda: post_norm(lambda: nn.LayerNorm(DIM)),
        "pre": lambda: pre_norm(lambda: nn.LayerNorm(DIM)),
        "without": lambda: Bypassed(nn.LayerNorm(DIM)),
        "bare": lambda: Bypassed(nn.Identity()),
    }
    values: Measured = {}
    for kind, residual in kinds.items():
        kept, alike = [], []
        for depth in DEPTHS:
            stack = stack_of(depth, DIM, residual)
            sizes, output = gradients_by_layer(stack, torch.randn(4, 16, DIM))
            kept.append(sizes[0] / sizes[-1])
            alike.append(_likeness(output))
        values |= {f"{kind}_kept": kept, f"{kind}_alike": alike}
    return values


def _likeness(x: Tensor) -> float:
    """Mean cosine between the tokens of a sentence: 1 where all have become the same vector."""
    unit = nn.functional.normalize(x, dim=-1)
    products = unit @ unit.mT
    count = x.size(1)
    return ((products.sum((1, 2)) - count) / (count * (count - 1))).mean().item()


KINDS = (
    ("post", Bilingual("residual, post-norm", "有残差，post-norm")),
    ("pre", Bilingual("residual, pre-norm", "有残差，pre-norm")),
    ("without", Bilingual("no residual, norm", "无残差，有归一化")),
    ("bare", Bilingual("no residual, no norm", "无残差，无归一化")),
)


def conclude(found: Sequence[Measurement]) -> Findings:
    """At the greatest depth."""
    deepest = len(DEPTHS) - 1
    kept = {kind: mean_lists(found, f"{kind}_kept") for kind, _ in KINDS}
    alike = {kind: mean_lists(found, f"{kind}_alike") for kind, _ in KINDS}
    table = MeasuredTable(
        title=Bilingual("Gradient at the input ÷ gradient before the last layer", "输入处的梯度 ÷ 最后一层之前的梯度"),
        columns=(Bilingual("layers", "层数"), *(label for _, label in KINDS)),
        rows=[(depth, *(number(kept[kind][place]) for kind, _ in KINDS)) for place, depth in enumerate(DEPTHS)],
    )
    depth = Bilingual("layers", "层数")
    figure = _figure(depth, kept, alike)
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "24 layers: gradient without the sum ÷ gradient with it (no norm against post-norm)",
                    "24 层：无残差的梯度 ÷ 有残差的梯度（无归一化对 post-norm）",
                ),
                values=[one.values["bare_kept"][deepest] / one.values["post_kept"][deepest] for one in found],
                high=0.1,
            ),
            Check(
                says=Bilingual("24 layers with the sum: gradient kept", "24 层有残差：保留下来的梯度"),
                values=[one.values["post_kept"][deepest] for one in found],
                low=0.01,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "24 layers, norms but no sum: gradient kept (its size needs no residual then)",
                    "24 层，有归一化、无残差：保留的梯度（此时梯度大小并不靠残差）",
                ),
                values=[one.values["without_kept"][deepest] for one in found],
                low=0.1,
            ),
            Check(
                says=Bilingual(
                    "2 layers, norms but no sum: likeness of tokens (what they said is lost)",
                    "2 层，有归一化、无残差：词元相似度（内容丢失）",
                ),
                values=[one.values["without_alike"][0] for one in found],
                low=0.9,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


def _figure(
    depth: Bilingual, kept: Mapping[str, Sequence[float]], alike: Mapping[str, Sequence[float]]
) -> MeasuredFigure:
    return draw_curves(
        "depth",
        Bilingual("What the residual keeps", "残差保住了什么"),
        Curves(
            title=Bilingual("gradient at the input", "输入处的梯度"),
            x_label=depth,
            lines=[(label, list(zip(DEPTHS, kept[kind], strict=True))) for kind, label in KINDS],
            log_y=True,
        ),
        Curves(
            title=Bilingual("likeness of tokens at the end", "末层各词元的相似度"),
            x_label=depth,
            lines=[(label, list(zip(DEPTHS, alike[kind], strict=True))) for kind, label in KINDS],
        ),
    )


EXPERIMENT = Experiment(
    name="residual-gradients",
    number="11",
    question=Bilingual("What are residual connections for?", "Transformer 中的残差结构有什么意义？"),
    claim=Bilingual(
        "they ease the training of deep networks and keep gradients from vanishing",
        "缓解深层网络训练困难，防止梯度消失，加快收敛速度",
    ),
    expected=Bilingual(
        "24 layers with neither sum nor norm: less than a tenth of the gradient; without the sum tokens become alike",
        "24 层既无残差又无归一化：梯度不到十分之一；没有残差，词元变得彼此相同",
    ),
    answer=Bilingual(
        "The derivative of x + f(x) is 1 + f′(x): through the 1 the gradient reaches every layer, however small f′ is. "
        "With neither sum nor norm it shrinks a millionfold in 24 layers. Norms alone keep its size up, too, but "
        "not what "
        "it says: attention averages, and without the sum two layers make all tokens nearly the same vector. With it, "
        "that takes about 16 layers in a fresh post-norm stack, and pre-norm does not get there in 24.",
        "x + f(x) 的导数是 1 + f′(x)：不管 f′ 多小，梯度都能沿着那个 1 到达每一层。既无残差又无归一化时，24 层之后梯"
        "度只剩百万分之一。"
        "单靠归一化也能把梯度的大小撑住，却保不住内容：注意力是在做平均，没有残差的话，两层之后所有词元就几乎成了同"
        "一个向量。有了残差，"
        "新建的 post-norm 要到 16 层左右才会这样，pre-norm 到 24 层也还没有。",
    ),
    code=("src/clearformer/model/layers.py",),
    measure=measure,
    conclude=conclude,
)

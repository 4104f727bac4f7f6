"""Claim (question 1): several heads attend in several subspaces and catch several patterns, so the model gets better.

Expected, at equal parameters and equal training: one head is worse than four. But no single head matters much: with
most of them removed one at a time, the loss hardly moves (Michel et al., 2019), and the heads differ in where they
look.
"""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    Variant,
    difference_check,
    names,
    scores_of,
    train_variant,
    variants_figure,
    variants_table,
)
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
    mean_lists,
)
from clearformer.lab.looking import encoder_looks
from clearformer.lab.trained_networks import TrainedNetwork
from clearformer.lab.verdicts import Check, number
from clearformer.model.attention import Attention

VARIANTS = tuple(
    Variant(
        name=str(heads),
        label=Bilingual(f"{heads} head{'s' * (heads > 1)}", f"{heads} 个头"),
        changes=(f"model.attention.heads={heads}",),
    )
    for heads in (1, 2, 4, 8)
)
USUAL = "4"
PLACES = (-1, 0, 1)  # of the token that a head looks at, seen from its own


def measure(trial: Trial) -> Measured:
    """Train with so many heads; with four, also take one away at a time, and see where each one looks."""
    network = train_variant(trial, VARIANTS)
    values = scores_of(network)
    if trial.case == USUAL:
        attentions = _attentions(network.model, first=trial.quick)
        values["names"] = [f"{name} {head + 1}" for name, part in attentions for head in range(part.heads.count)]
        values["removed"] = [
            _loss_without(network, part, head) - values["loss"]
            for _, part in attentions
            for head in range(part.heads.count)
        ]
        values["looks"] = encoder_looks(network, PLACES)
    return values


def _attentions(model: nn.Module, *, first: bool) -> list[tuple[str, Attention]]:
    """Every attention by a short name. first: only the one that comes first, where seconds have to suffice."""
    found = [(name.replace(".layers", ""), part) for name, part in model.named_modules() if isinstance(part, Attention)]
    return found[:1] if first else found


@torch.no_grad()
def _loss_without(network: TrainedNetwork, part: Attention, head: int) -> float:
    """The development loss when one head gives nothing."""
    with _removed(part, head):
        return network.loss()


@contextmanager
def _removed(part: Attention, head: int) -> Iterator[None]:
    width = part.heads.value_dim
    columns = part.out_proj.weight[:, head * width : (head + 1) * width]
    kept = columns.clone()
    columns.zero_()
    try:
        yield
    finally:
        columns.copy_(kept)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Equal cost, more heads; and what a single head is worth."""
    four = [one for one in found if one.trial.case == USUAL]
    removed = mean_lists(four, "removed")
    cost = [statistics.median(one.values["removed"]) for one in four]
    parameters = column(found, "parameters")
    heads = sorted(zip(four[0].values["names"], removed, strict=True), key=lambda one: -one[1])
    return Findings(
        claims=[
            Check(
                says=Bilingual("largest number of parameters ÷ smallest", "参数量：最多 ÷ 最少"),
                values=[max(parameters) / min(parameters)],
                high=1.0,
            ),
            difference_check(found, Bilingual("loss with one head − with four", "损失：1 个头 − 4 个头"), ("1", USUAL)),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "four heads: loss added by removing one head, median over heads",
                    "4 个头：去掉一个头增加的损失，中位数",
                ),
                values=cost,
                high=0.1,
            )
        ],
        tables=[
            variants_table(Bilingual("English to French, trained alike", "英译法，训练相同"), found, VARIANTS),
            _looks_table(four[0].values["looks"]),
        ],
        figures=[
            variants_figure(Bilingual("Loss by number of heads", "损失与头数"), found, VARIANTS),
            draw_bars(
                "removed",
                Bilingual("Loss added when one head is removed", "去掉一个头时增加的损失"),
                heads[:12],
            ),
        ],
    )


def _looks_table(seen: Sequence[Sequence[float]]) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual(
            "Four heads, first seed: where encoder heads look (share of weight; layer after layer)",
            "4 个头，首个种子：编码器各头看向哪里（权重占比，逐层排列）",
        ),
        columns=(
            Bilingual("head", "头"),
            Bilingual("token before", "前一个词元"),
            Bilingual("itself", "自己"),
            Bilingual("token behind", "后一个词元"),
        ),
        rows=[(str(row + 1), *(number(share) for share in shares)) for row, shares in enumerate(seen)],
    )


EXPERIMENT = Experiment(
    name="several-heads",
    number="1",
    question=Bilingual("Why several heads?", "为何使用多头注意力？"),
    claim=Bilingual(
        "each head is a subspace of its own; several heads extract several patterns and generalise better",
        "每个头对应一个表征空间，用多头能在多个表征空间进行 attention，提取多种 patten 信息，提高泛化能力",
    ),
    expected=Bilingual(
        "the same number of parameters for 1, 2, 4 and 8 heads; one head worse than four; most single heads "
        "dispensable",
        "1、2、4、8 个头参数量相同；1 个头不如 4 个；单个头大多可有可无",
    ),
    answer=Bilingual(
        "A softmax is one average: one head can look at one kind of place at a time. Several heads of d/h features "
        "cost "
        "exactly as much as one of d, and each looks at a place of its own, say the token before, itself, or the "
        "aligned "
        "word. How much that is worth is measured by training alike with 1, 2, 4 and 8 heads. A single head is rarely "
        "indispensable: the others carry much of the same.",
        "一次 softmax 只给出一种加权平均：一个头同一时刻只能看一类位置。h 个宽为 d/h 的头与一个宽为 d 的头开销完全相"
        "同，"
        "却能各看各的：前一个词、自己、对应的源词。这值多少，用 1、2、4、8 个头做相同训练来测。单个头很少不可缺少，"
        "因为其余的头承担了不少相同的工作。",
    ),
    code=("src/clearformer/model/attention.py", "src/clearformer/lab/comparison.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=5,
)

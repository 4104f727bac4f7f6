"""Claim (questions 3 and 4): dot product or addition makes little difference; the dot product needs ÷√d_k, or the
softmax saturates.

Expected, trained alike on translation: at d_k = 16 all scorers (dot product, scaled and not, and addition) come out
about the same; at d_k = 512 the unscaled dot product is clearly the worst (Vaswani et al., 2017, section 3.2.1), and
addition needs no scale.
"""

from collections.abc import Sequence

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
    within_check,
)
from clearformer.lab.experiment import Experiment, Findings, Measured, Measurement, Seeds, Trial
from clearformer.model.attention import Additive, Attention

WIDTHS = (16, 128, 512)
SMALL = ("model.layers=1", "model.attention.heads=2", "training.steps=200")


def compare_by_addition(model: nn.Module) -> None:
    """Bahdanau's scorer in every attention."""
    for part in list(model.modules()):
        if isinstance(part, Attention):
            part.kernel = Additive(part.heads.key_dim)


def _variants() -> tuple[Variant, ...]:
    made: list[Variant] = []
    for width in WIDTHS:
        sized = (*SMALL, f"model.attention.head_dim={width}")
        made += [
            Variant(name=f"scaled-{width}", label=Bilingual(f"q·k ÷ √{width}", f"q·k ÷ √{width}"), changes=sized),
            Variant(
                name=f"unscaled-{width}",
                label=Bilingual(f"q·k, d_k = {width}", f"q·k，d_k = {width}"),
                changes=(*sized, "model.attention.scale=1.0"),
            ),
        ]
    for width in (WIDTHS[0], WIDTHS[-1]):
        label = Bilingual(f"addition, d_k = {width}", f"加法，d_k = {width}")
        sized = (*SMALL, f"model.attention.head_dim={width}")
        made.append(Variant(name=f"additive-{width}", label=label, changes=sized, adjust=compare_by_addition))
    return tuple(made)


VARIANTS = _variants()


def measure(trial: Trial) -> Measured:
    """Train with one scorer at one width."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """What scaling is worth at a large width; and that addition needs none."""
    wide, narrow = WIDTHS[-1], WIDTHS[0]
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual(f"d_k = {wide}: loss unscaled − scaled", f"d_k = {wide}：损失，不缩放 − 缩放"),
                (f"unscaled-{wide}", f"scaled-{wide}"),
            ),
        ],
        conditions=[
            within_check(
                found,
                Bilingual(
                    f"d_k = {narrow}: loss unscaled − scaled: no more than 0.2 either way",
                    f"d_k = {narrow}：损失，不缩放 − 缩放，相差不超过 0.2",
                ),
                (f"unscaled-{narrow}", f"scaled-{narrow}"),
                most=0.2,
            ),
        ],
        tables=[variants_table(Bilingual("English to French, one layer", "英译法，一层"), found, VARIANTS)],
        figures=[variants_figure(Bilingual("Loss by scorer and width", "损失与打分方式、宽度"), found, VARIANTS)],
    )


EXPERIMENT = Experiment(
    name="trained-scorers",
    number="3, 4",
    question=Bilingual("What is ÷√d_k worth in training?", "训练中 ÷√d_k 值多少？"),
    claim=Bilingual(
        "at large d_k products are large, the softmax saturates and gradients are small; hence the scale",
        "当维度很大时，点乘之后的结果数据量级很大，softmax 会进入饱和区，梯度值很小，因而需要 scaled",
    ),
    expected=Bilingual(
        "at d_k = 512 unscaled is the worst; at 16 the scale hardly matters; addition needs none",
        "d_k = 512 时不缩放最差；16 时缩放与否几乎无别；加法无需缩放",
    ),
    answer=Bilingual(
        "The product of two random vectors of width d_k has the deviation √d_k, so without the scale a wide head "
        "begins "
        "with a softmax that is nearly one-hot and hardly learns where else to look. Dividing by √d_k brings every "
        "width "
        "to the same start. Addition passes through a tanh, which is bounded, so it needs no scale; it costs a tanh "
        "per "
        "pair and feature instead of one matrix product. For narrow heads all of them come out alike.",
        "宽为 d_k 的两个随机向量，内积的标准差是 √d_k；不缩放的话，宽的头一开始 softmax 就几乎是 one-hot，很难学到还"
        "可以看哪里。除以 √d_k，各种宽度的起点就一样了。加法经过有界的 tanh，不需要缩放，代价是每对、每个特征都要算一次"
        " tanh，而不是一次矩阵乘法。头窄时三者相差无几。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)

"""Claim (questions 12, 13 and 19): post-norm needs a warm-up, and fails at depth without; pre-norm is more stable.

Expected (Xiong et al., 2020; Liu et al., 2020): with 6 + 6 layers and no warm-up, post-norm stays far above pre-norm
trained alike; with a warm-up it comes closer.
"""

from collections.abc import Sequence

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import Variant, difference_check, names, scores_of, train_variant, variants_table
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    Measurement,
    Seeds,
    Trial,
    mean_lists,
)
from clearformer.lab.verdicts import Check

DEEP = 6
USUAL = (
    "training.optimiser.kind=adam",
    "training.optimiser.clip=0.0",
    "training.steps=120",
    "training.batch_tokens=256",
    "training.schedule.kind=constant",
    "model.dim=32",
    "model.hidden_dim=128",
)
RATES = ("0.002", "0.006")  # highest learning rates
WARMUP = 40  # steps, where there is one


def _variant(place: str, warm: bool, depth: int, rate: str) -> Variant:
    warmed = Bilingual("warm-up", "有预热") if warm else Bilingual("no warm-up", "无预热")
    return Variant(
        name=f"{place}-{'warm' if warm else 'cold'}-{depth}-{rate}",
        label=Bilingual(
            f"{place}-norm, {warmed.en}, {depth} + {depth} layers, rate {rate}",
            f"{place}-norm，{warmed.zh}，{depth} + {depth} 层，学习率 {rate}",
        ),
        changes=(
            *USUAL,
            f"model.layers={depth}",
            f"model.norm.place={place}",
            f"training.schedule.warmup={WARMUP if warm else 1}",
            f"training.schedule.peak={rate}",
        ),
    )


SLOW, FAST = RATES
VARIANTS = (
    _variant("post", False, DEEP, SLOW),
    _variant("pre", False, DEEP, SLOW),
    _variant("post", False, DEEP, FAST),
    _variant("post", True, DEEP, FAST),
    _variant("pre", False, DEEP, FAST),
)


def measure(trial: Trial) -> Measured:
    """Train one depth at one rate, with one place of the norm, with or without a warm-up; nothing is clipped."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """Deep and without a warm-up, first of all."""

    def check(says: Bilingual, one: str, other: str, low: float = 0.0) -> Check:
        return difference_check(found, says, (one, other), low=low)

    return Findings(
        claims=[
            check(
                Bilingual(
                    f"{DEEP} + {DEEP} layers, no warm-up, rate {rate}: loss, post-norm − pre-norm",
                    f"{DEEP} + {DEEP} 层，无预热，学习率 {rate}：损失，post-norm − pre-norm",
                ),
                f"post-cold-{DEEP}-{rate}",
                f"pre-cold-{DEEP}-{rate}",
                low=0.2,
            )
            for rate in RATES
        ],
        conditions=[
            check(
                Bilingual(
                    f"rate {FAST}: post-norm with a warm-up, loss − pre-norm's without",
                    f"学习率 {FAST}：有预热的 post-norm 的损失 − 无预热的 pre-norm 的",
                ),
                f"post-warm-{DEEP}-{FAST}",
                f"pre-cold-{DEEP}-{FAST}",
            ),
        ],
        tables=[variants_table(Bilingual("English to French, nothing clipped", "英译法，不裁剪梯度"), found, VARIANTS)],
        figures=[_curves(found)],
    )


def _curves(found: Sequence[Measurement]) -> MeasuredFigure:
    deep = [one for one in VARIANTS if f"-{DEEP}-" in one.name]
    lines = []
    for one in deep:
        losses = mean_lists(found, "losses", one.name)
        lines.append((one.label, [(float(step), loss) for step, loss in enumerate(losses)]))
    return draw_curves(
        "losses",
        Bilingual("Training loss of the deep networks", "深网络的训练损失"),
        Curves(x_label=Bilingual("fortieths of the training", "训练进度（四十分之一）"), lines=lines),
    )


EXPERIMENT = Experiment(
    name="trained-depth",
    number="12, 19",
    question=Bilingual("Does deep post-norm fail without a warm-up?", "深的 post-norm 网络没有预热就训练不起来吗？"),
    claim=Bilingual(
        "the rate warms up first, then declines; pre-norm trains more stably than post-norm",
        "先 warmup 再衰减；Pre-LN 先 LayerNorm 再做残差结构，训练更稳定",
    ),
    expected=Bilingual(
        "with 6 + 6 layers and no warm-up post-norm is far worse than pre-norm; with a warm-up less so",
        "6 + 6 层、无预热时 post-norm 远差于 pre-norm；有预热时差距缩小",
    ),
    answer=Bilingual(
        "In a fresh post-norm network the last layers' gradients are large whatever the depth, and Adam's first steps, "
        "whose second moments rest on a few batches, are too long. At depth the network is thrown into a state from "
        "which "
        "it does not recover: the loss stays where frequencies of words alone would bring it. A warm-up keeps the "
        "first "
        "steps short; pre-norm needs none, because the stream has a straight path past every layer.",
        "新建的 post-norm 网络不管多深，末几层的梯度都大；而 Adam 最初几步的二阶矩只靠几个批次估计，步子太长。"
        "层数一深，网络就被甩到回不来的状态：损失停在只知道词频的水平。预热让最初的步子短；pre-norm 不需要，"
        "因为残差流有一条绕过每一层的直路。",
    ),
    code=("src/clearformer/model/layers.py", "src/clearformer/training/schedule.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=12,
)

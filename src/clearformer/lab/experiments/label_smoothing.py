"""Claim (the paper, section 5.4): label smoothing of 0.1 hurts perplexity, and helps BLEU.

Expected: the loss without smoothing is the lower one, since it is what is trained for, and BLEU may be higher with it
by a point or less: a network as small as this one may not show that within the spread over seeds.
"""

from collections.abc import Sequence

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
from clearformer.lab.experiment import Experiment, Findings, Measured, Measurement, Seeds, Trial

VARIANTS = tuple(
    Variant(
        name=rate,
        label=Bilingual(f"smoothing {rate}", f"平滑 {rate}"),
        changes=(f"objective.smoothing={rate}",),
    )
    for rate in ("0.0", "0.1")
)


def measure(trial: Trial) -> Measured:
    """Train with one rate; the loss that is told is always the plain one."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """Both halves of the sentence."""
    return Findings(
        claims=[
            difference_check(found, Bilingual("loss with 0.1 − with none", "损失：平滑 0.1 − 不平滑"), ("0.1", "0.0")),
            difference_check(
                found, Bilingual("BLEU with 0.1 − with none", "BLEU：平滑 0.1 − 不平滑"), ("0.1", "0.0"), key="bleu"
            ),
        ],
        tables=[
            variants_table(
                Bilingual("English to French; the loss without the smoothing", "英译法；损失不含平滑项"),
                found,
                VARIANTS,
            )
        ],
        figures=[
            variants_figure(Bilingual("Plain loss by smoothing", "不含平滑项的损失"), found, VARIANTS),
        ],
    )


EXPERIMENT = Experiment(
    name="label-smoothing",
    number="–",
    question=Bilingual("What does label smoothing do?", "标签平滑起什么作用？"),
    claim=Bilingual(
        "(the paper:) label smoothing of 0.1 hurts perplexity but improves accuracy and BLEU",
        "（论文：）0.1 的标签平滑使困惑度变差，但提高准确率和 BLEU",
    ),
    expected=Bilingual(
        "a higher plain loss with smoothing; BLEU higher by less than a point, perhaps within the spread",
        "平滑后不含平滑项的损失更高；BLEU 高出不到一分，可能落在离散范围之内",
    ),
    answer=Bilingual(
        "Smoothing asks the network to give a tenth of the probability to all other tokens. It then never becomes as "
        "sure as the data would let it, so the likelihood of the right token falls and perplexity rises. What it "
        "gains is "
        "ranking: the beam compares less overconfident numbers. The first effect is large and certain, the second a "
        "fraction of a point of BLEU, which small networks show only with many seeds.",
        "平滑要求网络把十分之一的概率分给其余所有词元。于是它永远不会像数据允许的那样有把握，正确词元的似然下降，困惑度"
        "上升。换来的是排序：束搜索比较的数字不再过分自信。前一个效应大而确定，后一个只有零点几分 BLEU，"
        "小网络要很多种子才看得出来。",
    ),
    code=("src/clearformer/training/loss.py",),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)

"""Claim: what the paper's text describes is what the authors' code computes.

Expected: it is not. The text has post-norm, waves that alternate, and dropout at two places; the code came to have
pre-norm, waves in two halves, and dropout of attention weights and of ReLU as well. Trained alike, the place of the
norm makes a difference, the layout of the waves none.
"""

from collections.abc import Sequence

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    Variant,
    difference_check,
    differences,
    interval,
    names,
    scores_of,
    train_variant,
    variants_figure,
    variants_table,
)
from clearformer.lab.experiment import Experiment, Findings, Measured, Measurement, Seeds, Trial
from clearformer.lab.verdicts import Check

PAPER = ("model.norm.place=post", "training.optimiser.kind=adam", "training.schedule.peak=0.004")
NORM = ("model.norm.place=pre",)
WAVES = ("model.position.kind=tensor2tensor",)
SITES = ("model.dropout.attention=0.1", "model.dropout.activation=0.1")


def _variant(name: str, label: Bilingual, *changes: str) -> Variant:
    return Variant(name=name, label=label, changes=(*PAPER, *changes))


VARIANTS = (
    _variant("paper-text", Bilingual("paper-text", "paper-text（论文正文）")),
    _variant("norm", Bilingual("paper-text with pre-norm", "论文正文，改 pre-norm"), *NORM),
    _variant("waves", Bilingual("paper-text with the code's waves", "论文正文，改代码的正弦布局"), *WAVES),
    _variant("sites", Bilingual("paper-text with the code's dropout", "论文正文，改代码的 dropout 位置"), *SITES),
    _variant("t2t-code", Bilingual("t2t-code", "t2t-code（作者代码）"), *NORM, *WAVES, *SITES),
)


def measure(trial: Trial) -> Measured:
    """Train one of them."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """The two side by side, and which difference does it."""
    apart = {one.name: differences(found, "loss", one.name, "paper-text") for one in VARIANTS[1:]}
    enough = len(apart["t2t-code"]) > 1
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "loss, t2t-code − paper-text: no more than 0.02 either way",
                    "损失，t2t-code − paper-text：相差不超过 0.02",
                ),
                values=interval(apart["t2t-code"]),
                low=-0.02,
                high=0.02,
                enough=enough,
            )
        ],
        conditions=[
            difference_check(
                found,
                Bilingual("loss, paper-text − with pre-norm", "损失，paper-text − 改 pre-norm"),
                ("paper-text", "norm"),
            ),
            Check(
                says=Bilingual(
                    "loss, the code's waves − the text's: no more than 0.02", "损失，代码布局 − 正文布局：不超过 0.02"
                ),
                values=interval(apart["waves"]),
                low=-0.02,
                high=0.02,
                enough=enough,
            ),
        ],
        tables=[variants_table(Bilingual("English to French, trained alike", "英译法，训练相同"), found, VARIANTS)],
        figures=[
            variants_figure(Bilingual("Loss, from the text to the code", "损失：从论文正文到作者代码"), found, VARIANTS)
        ],
    )


EXPERIMENT = Experiment(
    name="paper-or-code",
    number="–",
    question=Bilingual("Do the paper's text and its code say the same?", "论文正文与作者代码一致吗？"),
    claim=Bilingual(
        "output = LayerNorm(x + Sublayer(x)); PE(pos, 2i) is a sine, PE(pos, 2i + 1) a cosine: what was trained in "
        "2017",
        "output = LayerNorm(x + Sublayer(x))；PE(pos, 2i) 为正弦，PE(pos, 2i+1) 为余弦：2017 年训练的就是这个",
    ),
    expected=Bilingual(
        "the place of the norm shows in the loss; the layout of the waves does not",
        "归一化的位置在损失上看得出来；正弦的布局看不出来",
    ),
    answer=Bilingual(
        "The text says post-norm, alternating sines and cosines, and dropout of each sub-layer's output and of the "
        "embeddings. "
        "tensor2tensor's later default has pre-norm, all sines before all cosines with a slightly other divisor, and "
        "dropout of attention weights and inside the feed-forward part. The layout is a permutation of features, "
        "which a "
        "trained projection absorbs. Whoever reproduces the paper has to say which of the two.",
        "正文写的是 post-norm、正弦余弦交替、dropout 用在各子层输出和嵌入上。tensor2tensor 后来的默认设置是 pre-norm、"
        "正弦全在前余弦全在后（除数也略有不同），注意力权重和前馈内部也有 dropout。布局只是特征的重新排列，训练出的投"
        "影能够"
        "吸收。复现论文的人必须说明复现的是哪一个。",
    ),
    code=("src/clearformer/model/presets.py", "src/clearformer/model/layers.py", "src/clearformer/model/positions.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=5,
)

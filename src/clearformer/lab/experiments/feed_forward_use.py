"""Claim (question 14): the feed-forward part strengthens what features can express; ReLU in the paper, GELU in BERT.

Expected, trained alike: without feed-forward parts the loss is clearly worse, and it falls with their width. ReLU and
GELU differ by less than the spread over seeds (they did not: GELU was ahead with every seed).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

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
from clearformer.model.layers import DecoderLayer, EncoderLayer


class AddsNothing(nn.Module):
    """In the place of a feed-forward part: the residual keeps what there was."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def leave_out(model: nn.Module) -> None:
    """No feed-forward parts at all."""
    for part in model.modules():
        if isinstance(part, EncoderLayer | DecoderLayer):
            part.ffn = AddsNothing()


VARIANTS = (
    Variant(name="none", label=Bilingual("none", "没有前馈"), adjust=leave_out),
    Variant(name="64", label=Bilingual("width 64 (d)", "宽 64（d）"), changes=("model.hidden_dim=64",)),
    Variant(name="256", label=Bilingual("width 256 (4d), ReLU", "宽 256（4d），ReLU")),
    Variant(name="1024", label=Bilingual("width 1,024 (16d)", "宽 1024（16d）"), changes=("model.hidden_dim=1024",)),
    Variant(name="gelu", label=Bilingual("width 256, GELU", "宽 256，GELU"), changes=("model.activation=gelu",)),
)


def measure(trial: Trial) -> Measured:
    """Train with one width or activation."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """With and without; wide and narrow; ReLU and GELU."""
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual("loss without feed-forward parts − with them", "损失：没有前馈 − 有前馈"),
                ("none", "256"),
            )
        ],
        conditions=[
            difference_check(
                found,
                Bilingual("width 64: loss added to that of width 256", "宽 64 比宽 256 多出的损失"),
                ("64", "256"),
            ),
            difference_check(
                found,
                Bilingual("loss with ReLU − with GELU", "损失：ReLU − GELU"),
                ("256", "gelu"),
            ),
        ],
        tables=[variants_table(Bilingual("English to French, trained alike", "英译法，训练相同"), found, VARIANTS)],
        figures=[variants_figure(Bilingual("Loss by feed-forward part", "损失与前馈部分"), found, VARIANTS)],
    )


EXPERIMENT = Experiment(
    name="feed-forward-use",
    number="14",
    question=Bilingual("What is the feed-forward part worth?", "前馈网络值多少？"),
    claim=Bilingual(
        "it strengthens what features can express; ReLU originally, GELU in BERT",
        "增强特征表示能力；原版使用 ReLU，也有 GELU（如 BERT）",
    ),
    expected=Bilingual(
        "worse without; better with width; ReLU and GELU within the spread",
        "没有前馈更差；越宽越好；ReLU 与 GELU 的差别在离散范围之内",
    ),
    answer=Bilingual(
        "Attention only averages values: without the feed-forward part the only non-linearities left are the softmax "
        "and "
        "the norms. Two thirds of a layer's parameters stand there, and what a token means in its context is worked "
        "out "
        "there. The paper takes four times the width and ReLU. Which smooth activation replaces ReLU matters far less "
        "than whether there is a feed-forward part, and how wide it is.",
        "注意力只是对值求平均：没有前馈部分，剩下的非线性就只有 softmax 和归一化。一层三分之二的参数在前馈里，词元在"
        "上下文"
        "中的含义也在那里加工出来。论文取四倍宽度和 ReLU。用哪种平滑激活函数代替 ReLU，远不如有没有前馈、前馈多宽来得"
        "重要。",
    ),
    code=("src/clearformer/model/layers.py",),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=5,
)

"""Claim (question 2): without matrices of their own for queries and keys, expressiveness and generalisation suffer.

Expected, after equal training: with one matrix for both in every self-attention, a token looks at itself several times
as much as with two. Whether the loss is worse is measured: such a model has fewer parameters, and is known to come
close (Kitaev et al., 2020, found no loss in language models with it).
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
)
from clearformer.lab.experiment import Experiment, Findings, Measured, Measurement, Seeds, Trial
from clearformer.lab.looking import encoder_looks
from clearformer.model.layers import DecoderLayer, EncoderLayer


def share_matrix(model: nn.Module) -> None:
    """Keys are made by the queries' own projection, in every self-attention."""
    for part in model.modules():
        if isinstance(part, EncoderLayer | DecoderLayer):
            part.self_attn.k_proj = part.self_attn.q_proj


VARIANTS = (
    Variant(name="own", label=Bilingual("a matrix each", "各用各的矩阵")),
    Variant(name="shared", label=Bilingual("one matrix for both", "共用一个矩阵"), adjust=share_matrix),
)


def measure(trial: Trial) -> Measured:
    """Train either, and see how much tokens look at themselves."""
    network = train_variant(trial, VARIANTS)
    looks = encoder_looks(network, (0,))
    return {**scores_of(network), "itself": sum(row[0] for row in looks) / len(looks)}


def conclude(found: Sequence[Measurement]) -> Findings:
    """Worse, and by what."""
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual("loss with one matrix − with two", "损失：共用一个 − 各用各的"),
                ("shared", "own"),
            )
        ],
        conditions=[
            difference_check(
                found,
                Bilingual("weight on itself with one matrix − with two", "看自己的权重：共用一个 − 各用各的"),
                ("shared", "own"),
                key="itself",
            )
        ],
        tables=[variants_table(Bilingual("English to French, trained alike", "英译法，训练相同"), found, VARIANTS)],
        figures=[
            variants_figure(
                Bilingual("How much encoder tokens look at themselves", "编码器词元看自己的权重"),
                found,
                VARIANTS,
                "itself",
            )
        ],
    )


EXPERIMENT = Experiment(
    name="shared-keys",
    number="2",
    question=Bilingual(
        "What does a shared matrix for Q and K cost after training?", "Q 和 K 共用一个矩阵，训练之后差多少？"
    ),
    claim=Bilingual(
        "without matrices of their own, expressiveness and generalisation are limited",
        "如果不用参数矩阵，直接用 Q 和 K 点乘……表达能力和泛化能力有限",
    ),
    expected=Bilingual(
        "tokens look at themselves more; the loss a little worse, or within the spread",
        "词元更多地看自己；损失略差，或差别落在离散范围之内",
    ),
    answer=Bilingual(
        "With one matrix for both, the score of i for j is that of j for i, and a token's score for itself is a sum of "
        "squares, so it looks at itself first. Different matrices let “who looks” differ from “who is looked at”, "
        "which "
        "a sentence needs: an adjective looks at its noun, and not the other way round. Training works around part of "
        "it, which is why the difference in quality is far smaller than the difference in fresh weights.",
        "共用一个矩阵时，i 对 j 的分数就是 j 对 i 的分数，而对自己的分数是平方和，所以总是先看自己。两个矩阵让“谁在看”"
        "与“谁被看”可以不同，句子正需要这个：形容词看它的名词，反过来则不必。训练能绕开其中一部分，"
        "所以质量上的差别远小于新建权重上的差别。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=3,
)

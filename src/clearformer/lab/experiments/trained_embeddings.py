"""Claim (question 8): embeddings are multiplied by √d for stability in training; and the paper shares one table.

Expected, trained alike: with a shared table, which begins small, training without × √d is worse. With tables of their
own the factor matters less. Sharing saves three tenths of the parameters and costs little or nothing (it did cost).
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

TIES = {
    "all": Bilingual("one table", "同一个表"),
    "none": Bilingual("three tables", "三个表"),
}
VARIANTS = tuple(
    Variant(
        name=f"{tie}-{'scaled' if scaled else 'plain'}",
        label=Bilingual(f"{said.en}{', × √d' if scaled else ''}", f"{said.zh}{'，× √d' if scaled else ''}"),
        changes=(f"model.embedding.tie={tie}", f"model.embedding.scale={str(scaled).lower()}"),
    )
    for tie, said in TIES.items()
    for scaled in (True, False)
)


def measure(trial: Trial) -> Measured:
    """Train with one choice."""
    return scores_of(train_variant(trial, VARIANTS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """Worth of the factor, worth of sharing."""
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual("one table: loss without × √d − with it", "同一个表：损失，不乘 √d − 乘 √d"),
                ("all-plain", "all-scaled"),
            )
        ],
        conditions=[
            difference_check(
                found,
                Bilingual("× √d: loss of one table − of three", "乘 √d：损失，同一个表 − 三个表"),
                ("all-scaled", "none-scaled"),
            ),
            difference_check(
                found,
                Bilingual("three tables: loss with × √d − without it", "三个表：损失，乘 √d − 不乘 √d"),
                ("none-scaled", "none-plain"),
            ),
        ],
        tables=[variants_table(Bilingual("English to French, trained alike", "英译法，训练相同"), found, VARIANTS)],
        figures=[variants_figure(Bilingual("Loss by tables and factor", "损失与表的共用、缩放"), found, VARIANTS)],
    )


EXPERIMENT = Experiment(
    name="trained-embeddings",
    number="8",
    question=Bilingual("What are × √d and a shared table worth in training?", "训练中，乘 √d 与共用词表各值多少？"),
    claim=Bilingual(
        "multiplying embeddings by √d makes training stable and ends in better performance",
        "将嵌入乘以嵌入维度的平方根……有助于模型的训练稳定性，最终达到更好的性能",
    ),
    expected=Bilingual(
        "with one table, without × √d is worse; with three tables it need not be",
        "共用一个表时不乘 √d 更差；三个表时未必",
    ),
    answer=Bilingual(
        "The table that is also the output layer begins at a size of 1/√d, so that the first logits are of size 1. "
        "As an "
        "input it would drown beside positions of size 0.7, hence the factor √d, which makes vectors larger, not "
        "smaller. "
        "It also makes them move faster: Adam moves every number by about the rate, which then counts √d times. A "
        "table of its own could begin larger; begun alike, it needs the factor, too. Sharing saves three tenths of the "
        "parameters of so small a network, and costs some of what it could learn.",
        "这个表同时是输出层，初始大小取 1/√d，好让最初的 logits 约为 1。作为输入，它会淹没在大小 0.7 的位置编码里，"
        "所以要乘 √d：是变大，不是变小。词向量也因此变化更快：Adam 每步的变化约等于学习率，乘上 √d 才进入网络。"
        "各用各的表可以一开始就取大些；如果初始值照旧，也同样需要这个系数。在这么小的网络里，共用能省下三成参数，"
        "代价是少学一些东西。",
    ),
    code=("src/clearformer/model/frontends.py", "src/clearformer/model/init.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)

"""Claim (the paper's Table 3): single heads, narrow keys, fewer layers, no dropout make a translator worse; larger ones
are better; learned positions are as good as waves.

Expected, one thing varied at a time on a small translator of Multi30k's captions: width and depth show clearly within
a short training; heads, keys and positions within or near the spread over seeds; dropout hurts rather than helps before
anything is learned by heart.
"""

from collections.abc import Sequence

from clearformer.data.catalogue.fetch import locate
from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    BLEU,
    CAPTIONS,
    LOSS,
    TRANSLATION,
    Variant,
    differences,
    interval,
    names,
    scores_of,
    train_variant,
    variants_figure,
)
from clearformer.lab.experiment import (
    DataNeededError,
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Seeds,
    Trial,
    column,
)
from clearformer.lab.verdicts import Check, number, spread

BASE = "base"


def _row(row: str, en: str, zh: str, *changes: str) -> Variant:
    return Variant(
        name=f"{row}-{en.replace(' ', '-')}", label=Bilingual(f"({row}) {en}", f"（{row}）{zh}"), changes=changes
    )


VARIANTS = (
    Variant(name=BASE, label=Bilingual("base", "基准")),
    _row("A", "1 head", "1 个头", "model.attention.heads=1"),
    _row("A", "8 heads", "8 个头", "model.attention.heads=8"),
    _row("B", "keys of 4", "键宽 4", "model.attention.head_dim=4"),
    _row("C", "1 layer", "1 层", "model.layers=1"),
    _row("C", "4 layers", "4 层", "model.layers=4"),
    _row("C", "width 32", "宽 32", "model.dim=32"),
    _row("C", "width 128", "宽 128", "model.dim=128", "model.hidden_dim=512"),
    _row("C", "feed-forward 1024", "前馈宽 1024", "model.hidden_dim=1024"),
    _row("D", "no dropout", "无 dropout", "model.dropout.embedding=0.0", "model.dropout.residual=0.0"),
    _row("D", "dropout 0.3", "dropout 0.3", "model.dropout.embedding=0.3", "model.dropout.residual=0.3"),
    _row("D", "smoothing 0.1", "标签平滑 0.1", "objective.smoothing=0.1"),
    _row("E", "learned positions", "可学习的位置", "model.position.kind=learned"),
)
WORSE = ("A-1-head", "B-keys-of-4", "C-1-layer", "C-width-32", "D-no-dropout")  # the paper says so of each
BETTER = ("C-width-128", "C-feed-forward-1024")


def measure(trial: Trial) -> Measured:
    """Train one row of the table: on captions, or, where seconds have to suffice, on the corpus that ships."""
    if not trial.quick and locate("multi30k") is None:
        raise DataNeededError("needs the corpus multi30k; `clearformer data fetch multi30k` gets it")
    return scores_of(train_variant(trial, VARIANTS, TRANSLATION if trial.quick else CAPTIONS))


def conclude(found: Sequence[Measurement]) -> Findings:
    """Each row against the base, with the interval over seeds."""
    apart = {one.name: interval(differences(found, "loss", one.name, BASE)) for one in VARIANTS[1:]}
    enough = len(column(found, "loss", BASE)) > 1
    labels = {one.name: one.label for one in VARIANTS}

    def check(name: str, *, worse: bool) -> Check:
        label = labels[name]
        assert isinstance(label, Bilingual)
        words = ("worse", "更差") if worse else ("better", "更好")
        ends = apart[name] if worse else [-end for end in reversed(apart[name])]
        says = Bilingual(f"{label.en}: {words[0]} than the base by", f"{label.zh}：比基准{words[1]}")
        return Check(says=says, values=ends, low=0.0, enough=enough)

    table = MeasuredTable(
        title=Bilingual("English to German captions, one thing varied at a time", "图片说明英译德，每次只改一处"),
        columns=(
            Bilingual("row", "行"),
            Bilingual("parameters", "参数量"),
            LOSS,
            Bilingual("difference to the base, 95 %", "与基准之差，95% 区间"),
            BLEU,
        ),
        rows=[
            (
                one.label,
                spread(column(found, "parameters", one.name)),
                spread(column(found, "loss", one.name)),
                " … ".join(number(end) for end in apart.get(one.name, [0.0])),
                spread(column(found, "bleu", one.name)),
            )
            for one in VARIANTS
        ],
    )
    return Findings(
        claims=[
            *(check(name, worse=True) for name in WORSE),
            *(check(name, worse=False) for name in BETTER),
        ],
        tables=[table],
        figures=[variants_figure(Bilingual("Loss by row of the table", "损失与表中各行"), found, VARIANTS)],
    )


EXPERIMENT = Experiment(
    name="small-table",
    number="–",
    question=Bilingual("What does the paper's Table 3 look like in small?", "论文的表 3，小规模重做是什么样？"),
    claim=Bilingual(
        "(an empty heading; the paper:) one head, narrow keys, fewer layers and no dropout are worse, larger models "
        "better",
        "（笔记中标题下为空；论文：）单头、窄键、层数少、不用 dropout 都更差，模型越大越好",
    ),
    expected=Bilingual(
        "width and depth show; heads and positions hardly; dropout hurts in a short training",
        "宽度和深度看得出来；头数和位置几乎看不出；训练短时 dropout 反而有害",
    ),
    answer=Bilingual(
        "The paper varies one thing at a time and finds what to keep: eight heads, keys that are not too narrow, size, "
        "dropout. In small most of it has the same sign, if it shows at all. What differs is dropout: it keeps a "
        "network "
        "from learning its text by heart, and a short training never gets so far. A table without intervals would have "
        "called several of these differences effects.",
        "论文每次只改一处，由此知道该留什么：八个头、不太窄的键、规模、dropout。小规模重做，凡看得出来的大多方向一致。"
        "不同的是 dropout：它防止网络死记训练文本，而短训练到不了那一步。没有区间的话，这张表里会有好几个差别被误当作"
        "效应。",
    ),
    code=("src/clearformer/lab/small_translation.toml", "src/clearformer/lab/comparison.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=12,
)

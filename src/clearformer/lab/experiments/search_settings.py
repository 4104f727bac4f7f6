"""Claim (the paper, sections 5.4 and 6.1): a beam of 4 with a length penalty of 0.6, and averaged checkpoints.

Expected, on one small translator per seed: a beam of 4 is better than greedy search by a point of BLEU or less; larger
beams add nothing; without a length penalty translations are shorter. Averaging the last checkpoints helps little where
the rate has already gone down to zero.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import Variant, differences, interval, names, train_variant
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Seeds,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.trained_networks import TrainedNetwork
from clearformer.lab.verdicts import Check, number, spread
from clearformer.tasks.task import Judging
from clearformer.training.distributed import Ranks

SMOOTHED = ("objective.smoothing=0.1",)
VARIANTS = (
    Variant(name="last", label=Bilingual("last weights", "最后的权重"), changes=SMOOTHED),
    Variant(
        name="averaged",
        label=Bilingual("mean of 4 checkpoints", "4 个检查点的平均"),
        changes=(*SMOOTHED, "training.average=4", "training.validate_every=1000000"),
    ),
)
BEAMS, PENALTIES = (1, 2, 4, 8), (0.0, 0.6, 1.0)


def measure(trial: Trial) -> Measured:
    """Search with every beam, and with a beam of 4 and every penalty."""
    spaced = replace(VARIANTS[1], changes=(*VARIANTS[1].changes, f"training.save_every={4 if trial.quick else 25}"))
    network = train_variant(trial, (VARIANTS[0], spaced))
    beams = BEAMS if trial.case == "last" else (4,)
    values: Measured = {"loss": network.loss(), "beams": [_bleu(network, beam=beam) for beam in beams]}
    values["bleu"] = values["beams"][beams.index(4)]
    if trial.case == "last":
        values["penalties"] = [_bleu(network, beam=4, penalty="gnmt", alpha=alpha) for alpha in PENALTIES]
        values["lengths"] = [_words(network, beam=4, penalty="gnmt", alpha=alpha) for alpha in PENALTIES]
        values["gain"], values["more"] = (
            values["beams"][2] - values["beams"][0],
            values["beams"][3] - values["beams"][2],
        )
    return values


def _bleu(network: TrainedNetwork, **changes: Any) -> float:
    """On the development set."""
    training: Any = network.task.training
    options = replace(network.recipe.use, **changes)
    judging = Judging(options=options, scoring=network.recipe.scoring, ranks=Ranks.alone())
    return float(training.score(network.predictor(), network.prepared.held, judging)["bleu"])


def _words(network: TrainedNetwork, **changes: Any) -> float:
    """Words of its translations ÷ words of the references."""
    held, options = network.prepared.held, replace(network.recipe.use, **changes)
    count = network.recipe.scoring.examples
    found = network.predictor().translate(held.sources[:count], options, any_language=True)
    said, wanted = (
        sum(len(text.split()) for text in texts) for texts in ([one.text for one in found], held.references[:count])
    )
    return said / wanted


def conclude(found: Sequence[Measurement]) -> Findings:
    """What the beam, the penalty and the mean are worth."""
    last = [one for one in found if one.trial.case == "last"]
    enough = len(last) > 1
    averaged = differences(found, "bleu", "averaged", "last")
    return Findings(
        claims=[
            Check(
                says=Bilingual("BLEU, beam 4 − greedy", "BLEU，束宽 4 − 贪心"),
                values=interval(column(last, "gain")),
                low=0.0,
                enough=enough,
            ),
            Check(
                says=Bilingual("BLEU, mean of 4 checkpoints − last weights", "BLEU，4 个检查点的平均 − 最后的权重"),
                values=interval(averaged),
                low=0.0,
                enough=enough,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual("BLEU, beam 8 − beam 4: no more than 0.5", "BLEU，束宽 8 − 束宽 4：不超过 0.5"),
                values=interval(column(last, "more")),
                high=0.5,
                enough=enough,
            ),
            Check(
                says=Bilingual(
                    "words of the translations ÷ of the references, penalty 1 − none",
                    "译文词数 ÷ 参考译文词数，惩罚 1 − 不惩罚",
                ),
                values=interval([one.values["lengths"][-1] - one.values["lengths"][0] for one in last]),
                low=0.0,
                enough=enough,
            ),
        ],
        tables=[_table(found, last)],
        figures=[_figure(last)],
    )


def _figure(last: Sequence[Measurement]) -> MeasuredFigure:
    line = [(float(beam), bleu) for beam, bleu in zip(BEAMS, mean_lists(last, "beams"), strict=True)]
    return draw_curves(
        "beams",
        Bilingual("BLEU by beam", "BLEU 与束宽"),
        Curves(
            x_label=Bilingual("beam", "束宽"),
            y_label="BLEU",
            lines=[(Bilingual("mean over seeds", "各种子的平均"), line)],
        ),
    )


def _table(found: Sequence[Measurement], last: Sequence[Measurement]) -> MeasuredTable:
    rows = [
        (f"beam {beam}", "–", spread([one.values["beams"][place] for one in last]), "–")
        for place, beam in enumerate(BEAMS)
    ]
    rows += [
        (
            "beam 4",
            number(alpha),
            spread([one.values["penalties"][place] for one in last]),
            spread([one.values["lengths"][place] for one in last]),
        )
        for place, alpha in enumerate(PENALTIES)
    ]
    return MeasuredTable(
        title=Bilingual("English to French, development set", "英译法，开发集"),
        columns=(
            Bilingual("search", "搜索"),
            Bilingual("length penalty α", "长度惩罚 α"),
            "BLEU",
            Bilingual("words ÷ reference's", "词数 ÷ 参考译文"),
        ),
        rows=[
            *rows,
            (
                Bilingual("mean of 4 checkpoints, beam 4", "4 个检查点的平均，束宽 4"),
                "–",
                spread(column(found, "bleu", "averaged")),
                "–",
            ),
        ],
    )


EXPERIMENT = Experiment(
    name="search-settings",
    number="–",
    question=Bilingual("What are beam, length penalty and averaging worth?", "束搜索、长度惩罚和检查点平均各值多少？"),
    claim=Bilingual(
        "(the paper:) a beam of 4 with a length penalty of 0.6, and the mean of the last checkpoints",
        "（论文：）束宽 4，长度惩罚 0.6，最后若干检查点取平均",
    ),
    expected=Bilingual(
        "a beam of 4 above greedy search; nothing more from 8; averaging within the spread",
        "束宽 4 好于贪心；8 不再提高；平均落在离散范围之内",
    ),
    answer=Bilingual(
        "Greedy search cannot take back a word that leads nowhere; a beam keeps a few alternatives, and most of the "
        "gain is "
        "there with four. Sums of log-probabilities favour short translations, hence the division by a power of the "
        "length. The mean of checkpoints smooths the last steps' noise, as a falling rate does: whoever lets the "
        "rate go "
        "to zero has little left to smooth.",
        "贪心搜索无法收回走不通的词；束搜索保留几个备选，四个就能得到大部分收益。对数概率之和偏爱短译文，所以要除以长"
        "度的"
        "某次幂。检查点平均抹平最后若干步的噪声，学习率下降也起同样作用：学习率降到零之后，就没剩多少可抹平的了。",
    ),
    code=("src/clearformer/decoding/beam.py", "src/clearformer/training/finish.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=5,
)

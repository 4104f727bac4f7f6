"""Variants of one small network, trained alike, and what their differences are worth.

A difference between two variants is taken seed by seed (the same seed means the same data in the same order), and told
as the two ends of its 95 % interval over seeds (Student's t). A check passes for both ends, for none, or, where the
interval contains the bound, it stays open: an effect that is smaller than the spread is not called one.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.lab.bilingual import Bilingual, Sayable
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import Measured, MeasuredFigure, MeasuredTable, Measurement, Trial, column
from clearformer.lab.trained_networks import Change, TrainedNetwork, Wanted, train_wanted
from clearformer.lab.verdicts import Check, spread

HERE = Path(__file__).parent
TRANSLATION, WRITING = str(HERE / "small_translation.toml"), str(HERE / "small_writing.toml")
CAPTIONS = str(HERE / "small_captions.toml")  # needs multi30k
QUICK = ("training.steps=12", "training.save_every=1000", "training.batch_tokens=256")
FEW = ("scoring.examples=20",)  # for translators, whose development set takes longer than 12 steps
# Student's t, two-sided, 95 %, by the number of seeds.
T_VALUES = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571}
LOSS = Bilingual("loss per token", "每词元损失")
BLEU = Bilingual("BLEU", "BLEU")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to build or train the network. changes: as on the command line; adjust: of the fresh network."""

    name: str
    label: Sayable
    changes: tuple[str, ...] = ()
    adjust: Change | None = None


def train_variant(trial: Trial, variants: Sequence[Variant], recipe: str = TRANSLATION) -> TrainedNetwork:
    """The network of a trial: its case names the variant."""
    variant = next(one for one in variants if one.name == trial.case)
    quick = (*QUICK, *(FEW if recipe == TRANSLATION else ())) if trial.quick else ()
    wanted = Wanted(recipe=recipe, changes=(*variant.changes, *quick), seed=trial.seed, adjust=variant.adjust)
    return train_wanted(wanted)


def scores_of(network: TrainedNetwork) -> Measured:
    """What every comparison wants to know."""
    step = max(1, len(network.losses) // 40)
    return {**network.scores(), "parameters": network.parameters, "losses": network.losses[::step]}


def names(variants: Sequence[Variant]) -> tuple[str, ...]:
    """The cases of an experiment."""
    return tuple(one.name for one in variants)


def differences(found: Sequence[Measurement], key: str, case: str, other: str) -> list[float]:
    """One variant minus another, seed by seed."""
    return [mine - theirs for mine, theirs in zip(column(found, key, case), column(found, key, other), strict=True)]


def interval(values: Sequence[float]) -> list[float]:
    """The ends of the 95 % interval of the mean; of a single number, the number."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return list(values)
    reach = T_VALUES.get(len(values), 2.571) * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return [mean - reach, mean + reach]


def difference_check(
    found: Sequence[Measurement], says: Bilingual, pair: tuple[str, str], *, key: str = "loss", low: float = 0.0
) -> Check:
    """Whether the first variant's number lies above the second's by more than `low`, beyond the spread over seeds."""
    apart = differences(found, key, *pair)
    return Check(says=says, values=interval(apart), low=low, enough=len(apart) > 1)


def within_check(
    found: Sequence[Measurement], says: Bilingual, pair: tuple[str, str], *, key: str = "loss", most: float
) -> Check:
    """Whether two variants differ by no more than `most`, whichever is larger."""
    apart = differences(found, key, *pair)
    return Check(says=says, values=interval(apart), low=-most, high=most, enough=len(apart) > 1)


def variants_table(title: Bilingual, found: Sequence[Measurement], variants: Sequence[Variant]) -> MeasuredTable:
    """Numbers that were learned, loss, and BLEU where there is one: mean, smallest and largest over seeds."""
    judged = "bleu" in found[0].values
    rows = []
    for one in variants:
        cells = [one.label, spread(column(found, "parameters", one.name)), spread(column(found, "loss", one.name))]
        rows.append([*cells, spread(column(found, "bleu", one.name))] if judged else cells)
    columns = [Bilingual("variant", "做法"), Bilingual("parameters", "参数量"), LOSS]
    return MeasuredTable(title=title, columns=[*columns, BLEU] if judged else columns, rows=rows)


def variants_figure(
    caption: Bilingual, found: Sequence[Measurement], variants: Sequence[Variant], key: str = "loss"
) -> MeasuredFigure:
    """One bar per variant: the mean over seeds."""
    bars = [(one.label, statistics.fmean(column(found, key, one.name))) for one in variants]
    return draw_bars("variants", caption, bars)

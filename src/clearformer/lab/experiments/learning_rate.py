"""Claim (question 19): lr = d^-0.5 · min(step^-0.5, step · warmup^-1.5), first a warm-up, then a decline.

Expected: with d = 512 and a warm-up of 4,000 the peak is 6.987712e-4, at step 4,000; the schedule of this package
is this formula to the last digits.
"""

from collections.abc import Sequence

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial
from clearformer.lab.verdicts import Check
from clearformer.training.schedule import ScheduleConfig, make_schedule

DIM, WARMUP, STEPS = 512, 4000, 100_000
SHOWN = (1, 1000, 4000, 10_000, 40_000, 100_000)


def measure(trial: Trial) -> Measured:
    """The schedule at every step beside the formula."""
    rate = make_schedule(ScheduleConfig(), dim=DIM, steps=STEPS)
    ours = [rate(step) for step in range(1, STEPS + 1)]
    formula = [DIM**-0.5 * min(step**-0.5, step * WARMUP**-1.5) for step in range(1, STEPS + 1)]
    return {
        "apart": max(abs(a / b - 1) for a, b in zip(ours, formula, strict=True)),
        "peak": max(ours),
        "peak_step": ours.index(max(ours)) + 1,
        "shown": [ours[step - 1] for step in SHOWN],
        "warmups": {
            str(warmup): [[step, _paper(step, warmup)] for step in range(100, 40_001, 300)]
            for warmup in (1000, 4000, 8000)
        },
    }


def _paper(step: int, warmup: int) -> float:
    rate: float = make_schedule(ScheduleConfig(warmup=warmup), dim=DIM, steps=STEPS)(step)
    return rate


def conclude(found: Sequence[Measurement]) -> Findings:
    """A formula is right or not."""
    [one] = found
    values = one.values
    table = MeasuredTable(
        title=Bilingual("The paper's learning rate (d = 512)", "论文的学习率（d = 512）"),
        columns=(Bilingual("step", "步"), Bilingual("rate", "学习率")),
        rows=[(step, f"{rate:.7g}") for step, rate in zip(SHOWN, values["shown"], strict=True)],
    )
    figure = draw_curves(
        "schedule",
        Bilingual("Warm up, then decline with the root of the step", "先预热，再按步数的平方根下降"),
        Curves(
            x_label=Bilingual("step", "步"),
            y_label=Bilingual("learning rate", "学习率"),
            lines=[
                (Bilingual(f"warm-up {name}", f"预热 {name} 步"), [(x, y) for x, y in points])
                for name, points in values["warmups"].items()
            ],
        ),
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("peak ÷ 6.987712e-4", "峰值 ÷ 6.987712e-4"),
                values=[values["peak"] / 6.987712e-4],
                low=1 - 1e-6,
                high=1 + 1e-6,
            ),
            Check(
                says=Bilingual("step of the peak", "峰值所在的步"), values=[values["peak_step"]], low=4000, high=4000
            ),
            Check(
                says=Bilingual("schedule against formula, largest relative difference", "实现与公式的最大相对误差"),
                values=[values["apart"]],
                high=1e-12,
            ),
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="learning-rate",
    number="19",
    question=Bilingual("How is the learning rate set?", "训练时的学习率是如何设定的？"),
    claim=Bilingual(
        "lr = d^-0.5 · min(step^-0.5, step · warmup^-1.5): warm up first, then decline",
        "lr = d^-0.5 · min(step^-0.5, step · warmup^-1.5)，即先 warmup 再衰减",
    ),
    expected=Bilingual("peak 6.987712e-4 at step 4,000", "第 4000 步达到峰值 6.987712e-4"),
    answer=Bilingual(
        "The rate rises in a straight line for 4,000 steps and then falls with the root of the step; both branches "
        "meet "
        "at the warm-up, where the rate is (d · warmup)^-½ = 6.99e-4. Wider models get smaller rates. The warm-up is "
        "there because Adam's estimates are poor at first, and because a fresh post-norm model has large gradients "
        "in its "
        "last layers.",
        "学习率先在 4000 步内直线上升，然后按步数的平方根下降；两段在预热结束处相接，此时学习率是 (d · warmup)^-½ = "
        "6.99e-4。模型越宽，学习率越小。"
        "之所以要预热，一是 Adam 的估计一开始不准，二是新建的 post-norm 模型末几层的梯度很大。",
    ),
    code=("src/clearformer/training/schedule.py",),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)

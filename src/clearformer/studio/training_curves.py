"""What a drawing of training runs shows: one plot per quantity, one line per run."""

from collections.abc import Mapping, Sequence

from clearformer.figures.chart import Plot, Plots
from clearformer.figures.sheet import Table, TabledFigure

TITLES = {
    "train_loss": "training loss",
    "validation_loss": "development loss",
    "learning_rate": "learning rate",
    "gradient_norm": "gradient norm",
    "bleu": "development BLEU",
    "tokens_per_second": "target tokens per second",
}

Points = Sequence[tuple[int, float]]


def curves_figure(runs: Mapping[str, Mapping[str, Points]]) -> TabledFigure:
    """runs: the name of a run -> the name of a quantity -> (step, value)."""
    quantities = [name for name in TITLES if any(run.get(name) for run in runs.values())]
    if not quantities:
        raise ValueError("nothing was recorded yet; let the run take a few steps")
    runs = {run: found for run, found in runs.items() if any(found.values())}
    plots = [
        Plot(title=TITLES[name], x_label="step", series={run: found.get(name, ()) for run, found in runs.items()})
        for name in quantities
    ]
    rows = [
        (run, name, step, float(value))
        for run, found in runs.items()
        for name in quantities
        for step, value in found.get(name, ())
    ]
    return TabledFigure(Plots(plots=plots), Table(("run", "quantity", "step", "value"), rows))

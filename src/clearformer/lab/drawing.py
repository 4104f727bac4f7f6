"""Figures of the lab: the package's own charts and matrices, drawn once per language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearformer.figures.bars import Bar, Bars
from clearformer.figures.chart import Plot, Plots, Points
from clearformer.figures.matrices import Matrices, Panel
from clearformer.lab.bilingual import Bilingual, Language, Sayable, in_each, say
from clearformer.lab.experiment import MeasuredFigure


@dataclass(frozen=True, kw_only=True)
class Curves:
    """One pair of axes. lines: by name."""

    title: Sayable = ""
    x_label: Sayable
    y_label: Sayable = ""
    lines: Sequence[tuple[Sayable, Points]]
    log_x: bool = False
    log_y: bool = False


def draw_curves(name: str, caption: Bilingual, *curves: Curves) -> MeasuredFigure:
    """Plots side by side, two in a row."""

    def draw(language: Language) -> str:
        plots = [
            Plot(
                title=say(one.title, language),
                x_label=say(one.x_label, language),
                y_label=say(one.y_label, language),
                series={say(label, language): points for label, points in one.lines},
                log_x=one.log_x,
                log_y=one.log_y,
            )
            for one in curves
        ]
        return Plots(plots=plots).svg(caption.said(language))

    lines = [
        (_both(label), [y for _, y in sorted(points)])
        for one in curves
        for label, points in one.lines
        if len(points) > 2
    ]
    return MeasuredFigure(name=name, caption=caption, svg=in_each(draw), lines=lines)


def draw_bars(name: str, caption: Bilingual, bars: Sequence[tuple[Sayable, float]]) -> MeasuredFigure:
    """Numbers as lengths, one below the other."""

    def draw(language: Language) -> str:
        return Bars(bars=[Bar(say(label, language), value) for label, value in bars]).svg(caption.said(language))

    return MeasuredFigure(name=name, caption=caption, svg=in_each(draw))


def draw_matrices(
    name: str,
    caption: Bilingual,
    panels: Mapping[Sayable, Sequence[Sequence[float]]],
    names: Sequence[str],
    *,
    signed: bool = False,
    across: int = 3,
) -> MeasuredFigure:
    """Matrices of the same size side by side; rows and columns have the same names."""

    def draw(language: Language) -> str:
        drawn = [
            Panel(title=say(title, language), rows=names, columns=names, values=values, signed=signed)
            for title, values in panels.items()
        ]
        return Matrices(panels=drawn, across=across, cell=22.0 if len(names) <= 12 else None).svg(
            caption.said(language)
        )

    return MeasuredFigure(name=name, caption=caption, svg=in_each(draw))


def _both(text: Sayable) -> Bilingual:
    return Bilingual(text, text) if isinstance(text, str) else text

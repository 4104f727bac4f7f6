"""Figures in both languages."""

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_bars, draw_curves, draw_matrices

CAPTION = Bilingual("Growth", "增长")


def test_curves_have_their_names_in_each_language():
    figure = draw_curves(
        "growth",
        CAPTION,
        Curves(x_label=Bilingual("step", "步"), lines=[(Bilingual("ours", "我们的"), [(2, 4.0), (1, 1.0), (3, 9.0)])]),
    )
    assert "ours" in figure.svg.en
    assert "我们的" in figure.svg.zh
    assert "ours" not in figure.svg.zh
    assert figure.lines == [(Bilingual("ours", "我们的"), [1.0, 4.0, 9.0])]


def test_bars_and_matrices_too():
    bars = draw_bars("sizes", CAPTION, [(Bilingual("word", "词"), 0.5), ("d_k", 1.0)])
    assert "词" in bars.svg.zh
    assert "d_k" in bars.svg.zh
    matrix = draw_matrices("weights", CAPTION, {Bilingual("head", "头"): [[0.5, 0.5], [1.0, 0.0]]}, ["a", "b"])
    assert matrix.svg.en.count("<rect") > 4
    assert "增长" in matrix.svg.zh

"""Lines of text."""

from clearformer.lab.sparkline import WIDEST, sparkline


def test_lowest_and_highest():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([3, 1]) == "█▁"
    assert sparkline([5, 5, 5]) == "▄▄▄"


def test_long_lines_are_thinned_out():
    assert len(sparkline(list(range(1000)))) <= WIDEST

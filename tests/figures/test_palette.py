"""One palette: what is told apart can be told apart, and the pages have the same colours."""

import re
from importlib import resources
from pathlib import Path

import pytest

from clearformer.figures import palette
from clearformer.figures.palette import DASHES, DIVERGING, SEQUENTIAL, SERIES, ink_on, series_style, shade

STATIC = Path(str(resources.files("clearformer") / "studio" / "static"))


def test_colours_run_from_light_to_dark_and_both_ways_from_zero():
    brightness = [sum(map(int, shade(step / 10, signed=False)[4:-1].split(","))) for step in range(11)]
    assert brightness == sorted(brightness, reverse=True)
    assert shade(0, signed=True) == "rgb(252,252,250)"
    assert shade(-2, signed=True) == shade(-1, signed=True) != shade(1, signed=True)


def test_no_two_lines_look_alike():
    styles = [series_style(number) for number in range(len(SERIES) * len(DASHES))]
    assert len(set(styles)) == len(styles)


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [palette.INK, palette.SOFT, palette.ACCENT, *SERIES])
def test_lines_and_words_can_be_read_on_paper(colour):
    """The contrast that the accessibility guidelines ask of text: 4.5 to 1."""
    assert (luminance(palette.PAPER) + 0.05) / (luminance(colour) + 0.05) >= 4.5


@pytest.mark.parametrize("signed", [False, True])
def test_words_can_be_read_on_every_shade(signed):
    for step in range(-20 if signed else 0, 21):
        colour = shade(step / 20, signed=signed)
        written = "#" + "".join(f"{int(value):02x}" for value in colour[4:-1].split(","))
        light, dark = sorted((luminance(written), luminance(ink_on(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_the_pages_have_the_same_colours():
    style = (STATIC / "studio.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w-]+): (#\w+);", style.split("@media")[0]))
    for name in ("paper", "surface", "ink", "soft", "line", "accent", "tint"):
        assert light[name] == getattr(palette, name.upper()), name
    found = re.findall(r"\.series-(\d+) \{ stroke: (#\w+);(?: stroke-dasharray: ([\d ]+);)? \}", style)
    assert [(colour, dashes) for _, colour, dashes in found] == [series_style(number) for number in range(len(SERIES))]
    script = (STATIC / "palette.js").read_text(encoding="utf-8")
    assert f"length: {len(SERIES)} }}" in script
    lights = [re.findall(r"\[(\d+), (\d+), (\d+)\]", line) for line in re.findall(r"light: (.*)", script)]
    assert [[tuple(map(int, stop)) for stop in stops] for stops in lights] == [list(SEQUENTIAL), list(DIVERGING)]

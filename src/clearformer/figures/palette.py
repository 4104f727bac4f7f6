"""The colours of every picture: on the pages, in the documentation, in results and from the command line.

The pages need the same colours in CSS and JavaScript (`studio/static`); a test compares them with these.
"""

PAPER, SURFACE, INK, SOFT, LINE = "#fbfaf7", "#ffffff", "#1e1d22", "#595663", "#dedad2"
ACCENT, TINT = "#55348b", "#efe8f7"

# Lines are told apart by colour and by dashes, so that nobody depends on colour alone.
SERIES = (
    "#55348b", "#b35900", "#00785a", "#a8285c", "#1f6fb5", "#7a6a00",
    "#555555", "#8e44ad", "#8a3f2a", "#0b6f86", "#3f6b00", "#b5122e",
)  # fmt: skip
DASHES = ("", "7 3", "2 3", "10 3 2 3")

# Numbers as colours. Probabilities: one hue, darker for more. Signed values: two hues that colour-blind people tell
# apart, and paper white for zero.
SEQUENTIAL = ((255, 255, 255), (222, 207, 240), (151, 108, 202), (61, 22, 112))
DIVERGING = ((22, 88, 150), (140, 190, 222), (252, 252, 250), (240, 165, 120), (165, 42, 20))


def series_style(number: int) -> tuple[str, str]:
    """Colour and dashes of a line by its place in the legend; after the last colour the dashes shift by one."""
    return SERIES[number % len(SERIES)], DASHES[(number + number // len(SERIES)) % len(DASHES)]


def shade(share: float, *, signed: bool) -> str:
    """The colour of a number. share: 0 … 1, or -1 … 1 where signed; anything beyond is drawn as the end."""
    stops = DIVERGING if signed else SEQUENTIAL
    place = min(1.0, max(0.0, (share + 1) / 2 if signed else share)) * (len(stops) - 1)
    low = min(len(stops) - 2, int(place))
    mixed = (round(a + (place - low) * (b - a)) for a, b in zip(stops[low], stops[low + 1], strict=True))
    return f"rgb({','.join(map(str, mixed))})"


def ink_on(colour: str) -> str:
    """Black or white, whichever can be read on a colour that `shade` gave: the contrast is at least 4.5 to 1."""
    channels = [int(value) / 255 for value in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return "#000000" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 else "#ffffff"

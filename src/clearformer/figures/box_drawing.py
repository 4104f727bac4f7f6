"""Boxes over a picture: as pixels, for people to look at, or as SVG, whose lines stay sharp.

Each class has one colour of the palette, and its name stands at every box, so that nobody depends on colour alone.
"""

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from clearformer.figures.palette import series_style

FONT = 12  # pixels, on a picture of SIDE
SIDE = 640
MARGIN = 2


class DrawnBox(NamedTuple):
    """Edges in pixels, what to write at it, and the number of its class, which decides the colour."""

    box: Sequence[float]
    text: str
    colour: int


def draw_png(pixels: Any, boxes: Sequence[DrawnBox]) -> bytes:
    """The picture with its boxes as a PNG file. pixels: height, width, channels, as bytes."""
    from PIL import ImageDraw, ImageFont

    image = _image(pixels).convert("RGB")
    size = _size(image.size)
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(image)
    for one in reversed(boxes):  # the surest is drawn last, over the others
        colour = series_style(one.colour)[0]
        left, top, right, bottom = one.box
        pen.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), outline=colour, width=max(1, size // 6))
        ground = pen.textbbox((0, 0), one.text, font=font)
        wide, high = ground[2] + 2 * MARGIN, ground[3] + 2 * MARGIN
        x, y = _label_place(one.box, wide, high, image.size)
        pen.rectangle((x, y, x + wide, y + high), fill=colour)
        pen.text((x + MARGIN, y + MARGIN), one.text, fill="#ffffff", font=font)
    made = io.BytesIO()
    image.save(made, format="PNG")
    return made.getvalue()


def draw_svg(pixels: Any, boxes: Sequence[DrawnBox], title: str) -> str:
    """The same as SVG, with the picture inside."""
    image = _image(pixels)
    packed = io.BytesIO()
    image.save(packed, format="PNG")
    width, height = image.size
    size = _size(image.size)
    inside = base64.b64encode(packed.getvalue()).decode()
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="sans-serif" font-size="{size}">',
        f"<title>{escape(title)}</title>",
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{inside}"/>',
    ]
    for one in reversed(boxes):
        colour, dashes = series_style(one.colour)
        left, top, right, bottom = one.box
        wide, high = len(one.text) * size * 0.6 + 2 * MARGIN, size + 2 * MARGIN
        x, y = _label_place(one.box, wide, high, image.size)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        lines += [
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="none" '
            f'stroke="{colour}" stroke-width="{max(1, size // 6)}"{dashed}/>',
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}"/>',
            f'<text x="{x + MARGIN:.1f}" y="{y + size:.1f}" fill="#ffffff">{escape(one.text)}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _image(pixels: Any) -> Any:
    from PIL import Image

    return Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)


def _size(sides: tuple[int, int]) -> int:
    return max(9, round(FONT * max(sides) / SIDE))


def _label_place(box: Sequence[float], wide: float, high: float, sides: tuple[int, int]) -> tuple[float, float]:
    """Above the box's upper left corner, or wherever the picture has room."""
    x = min(max(0.0, box[0]), max(0.0, sides[0] - wide))
    y = box[1] - high if box[1] >= high else box[1]
    return x, min(max(0.0, y), max(0.0, sides[1] - high))

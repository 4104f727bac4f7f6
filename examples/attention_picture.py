"""Draw what a model attends to, as an SVG: docs/attention.svg in the README comes from here.

    python examples/attention_picture.py docs/attention.svg

The numbers are those of the running model (examples/backwards.py, trained for a few seconds), read with `cf.trace`.
"""

import sys
from pathlib import Path

import torch
from backwards import learn, small_model, write
from torch import Tensor

WORD = "desserts"
INK, FAINT, BLUE = "#1f2933", "#7b8794", "#1d5fbf"


def text(x: float, y: float, words: str, *, size: int = 20, colour: str = INK, anchor: str = "middle") -> str:
    """Words at a place."""
    font = "font-family='ui-monospace, Menlo, DejaVu Sans Mono, monospace'"
    return f"<text x='{x:g}' y='{y:g}' {font} font-size='{size}' fill='{colour}' text-anchor='{anchor}'>{words}</text>"


def faint(x: float, y: float, words: str) -> str:
    """A label in a quiet colour."""
    return text(x, y, words, size=12, colour=FAINT, anchor="start")


def grid(weights: Tensor, x: float, y: float, cell: float) -> list[str]:
    """One square per weight: the larger, the bluer. weights: T S, rows sum to one (the end symbol takes the rest)."""
    marks = []
    for row, line in enumerate(weights.tolist()):
        for column, weight in enumerate(line):
            left, top = x + column * cell, y + row * cell
            square = f"x='{left:g}' y='{top:g}' width='{cell - 2:g}' height='{cell - 2:g}' rx='{cell / 9:.1f}'"
            marks.append(f"<rect {square} fill='#eef1f5'/>")
            marks.append(f"<rect {square} fill='{BLUE}' opacity='{weight:.3f}'><title>{weight:.3f}</title></rect>")
    return marks


def picture(word: str, written: str, weights: Tensor) -> str:
    """The mean of the heads large, with its letters; the heads small beside it. weights: H T S."""
    cell, left, top = 40.0, 110.0, 100.0
    width, height = left + len(word) * cell, top + len(written) * cell
    small = (len(written) * cell - 54) / 2 / max(len(word), len(written))
    parts = [text(left, 36, f"{word} → {written}", size=22, anchor="start")]
    parts += [faint(left, 58, "mean of the heads"), faint(20, top - 12, "reads →"), faint(20, top + 25, "writes ↓")]
    parts += [text(left + (i + 0.5) * cell - 1, top - 12, letter) for i, letter in enumerate(word)]
    parts += [text(left - 14, top + (i + 0.5) * cell + 6, letter) for i, letter in enumerate(written)]
    parts += grid(weights.mean(dim=0), left, top, cell)
    for head, own in enumerate(weights):
        x = width + 50 + head % 2 * (small * len(word) + 26)
        y = top + head // 2 * (small * len(written) + 54)
        parts += [faint(x, y - 10, f"head {head + 1}"), *grid(own, x, y, small)]
    right = width + 50 + 2 * small * len(word) + 26 + 36
    size = f"width='{right:.0f}' height='{height + 30:.0f}' viewBox='0 0 {right:.0f} {height + 30:.0f}'"
    back = "<rect width='100%' height='100%' rx='12' fill='#ffffff'/>"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", back, *parts, "</svg>", ""])


def main(out: Path, steps: int = 200) -> None:
    torch.manual_seed(2017)
    model = small_model()
    print(f"{learn(model, steps):.0%} of new words written backwards without a mistake")
    written, weights = write(model, WORD)
    out.write_text(picture(WORD, written, weights), encoding="utf-8")
    print(f"{WORD} -> {written}, drawn in {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "attention.svg"))

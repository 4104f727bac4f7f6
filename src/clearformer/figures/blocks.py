"""A machine as blocks: stacks side by side, input below, output above; under them bars of what each part costs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clearformer.figures.palette import ACCENT, INK, LINE, SOFT, SURFACE, TINT
from clearformer.figures.sheet import HEADER, LETTER, box, rectangle, rule, sheet, words

WIDTH, HEIGHT, GAP, ASIDE = 260.0, 46.0, 12.0, 90.0
BAR, COLUMN = 100.0, 230.0  # the longest bar, and how far the next column of bars stands to the right

ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker></defs>'
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A box with a title and a detail. reads: takes the output of the stack before, too."""

    title: str
    detail: str
    tinted: bool = False
    reads: bool = False


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Layers of the same blocks, bottom to top, between what feeds them and what reads them."""

    name: str
    count: int
    entry: str
    front: Block
    layer: Sequence[Block]
    head: Block | None = None

    @property
    def height(self) -> float:
        """What one layer takes."""
        return len(self.layer) * (HEIGHT + GAP)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The drawing. costs: a quantity -> a part -> how much; every quantity has the same parts."""

    stacks: Sequence[Stack]
    costs: Mapping[str, Mapping[str, int]]

    def svg(self, title: str) -> str:
        """The whole sheet."""
        floor = HEADER + 210 + max((stack.height for stack in self.stacks), default=0.0)
        parts, before = [ARROW], 0.0  # where the stack before ends: its output goes to the next one
        for place, stack in enumerate(self.stacks):
            x = 32 + place * (WIDTH + ASIDE)
            top = floor - 94 - GAP - stack.height
            parts += _stack(stack, x, floor, top, before)
            before = top
        parts += _bars(self.costs, floor + 40)
        rows = max((len(parts_of) for parts_of in self.costs.values()), default=0)
        width = max(len(self.stacks) * (WIDTH + ASIDE) + 20, _names_end(self.costs) + len(self.costs) * COLUMN + 10)
        return sheet(width, floor + 80 + 22 * rows, title, parts)


def _stack(stack: Stack, x: float, floor: float, top: float, before: float) -> Iterator[str]:
    middle, front = x + WIDTH / 2, floor - 20 - HEIGHT
    bottom = front - 28
    yield words(middle, floor + 14, stack.entry, "middle")
    yield _arrow(middle, floor, middle, front + HEIGHT)
    yield from _block(stack.front, x, front, LINE)
    yield _arrow(middle, front, middle, bottom)
    yield box(x - 12, top, WIDTH + 24, bottom - top)
    yield words(x - 10, top - 8, stack.name, fill=INK)
    yield words(x + WIDTH + 10, top - 8, f"× {stack.count}", "end", fill=INK)
    for row, block in enumerate(stack.layer):
        y = bottom - (row + 1) * (HEIGHT + GAP)
        yield from _block(block, x, y, TINT if block.tinted else SURFACE)
        if row:
            yield _arrow(middle, y + HEIGHT + GAP, middle, y + HEIGHT)
        if block.reads:
            left = x - WIDTH - ASIDE + WIDTH / 2
            path = f"M{left:.1f} {before:.1f}v-24H{x - 28:.1f}V{y + HEIGHT / 2:.1f}H{x - 1:.1f}"
            yield f'<path d="{path}" fill="none" stroke="{SOFT}" marker-end="url(#arrow)"/>'
    if stack.head is not None:
        y = top - 28 - HEIGHT
        yield _arrow(middle, top, middle, y + HEIGHT)
        yield from _block(stack.head, x, y, LINE)
        yield _arrow(middle, y, middle, y - 20)


def _block(block: Block, x: float, y: float, fill: str) -> Iterator[str]:
    yield box(x, y, WIDTH, HEIGHT, fill=fill, edge=SOFT)
    yield words(x + WIDTH / 2, y + 18, block.title, "middle", size=13, fill=INK)
    yield words(x + WIDTH / 2, y + 35, block.detail, "middle", size=11)


def _bars(costs: Mapping[str, Mapping[str, int]], y: float) -> Iterator[str]:
    start = _names_end(costs)
    for place, (quantity, parts) in enumerate(costs.items()):
        x, total = start + 6 + place * COLUMN, sum(parts.values()) or 1
        yield words(x, y, f"{quantity}: {sum(parts.values()):,}", fill=INK)
        for row, (name, amount) in enumerate(parts.items()):
            level, length = y + 10 + 22 * row, BAR * amount / total
            yield rectangle(x, level, round(length, 1), 14, ACCENT)
            yield words(x + length + 8, level + 11, f"{amount:,}", size=11)
            if place == 0:
                yield words(start, level + 11, name, "end", size=11)


def _names_end(costs: Mapping[str, Mapping[str, int]]) -> float:
    """Where the names of the parts end and the bars begin."""
    return 20 + LETTER * max((len(name) for parts in costs.values() for name in parts), default=0)


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return rule(x1, y1, x2, y2, stroke=SOFT, more=' marker-end="url(#arrow)"')

"""The architecture as a drawing made from the model's own description, and what each part costs."""

from collections.abc import Iterator
from typing import Any

from clearformer.studio.sheet import ACCENT, HEADER, INK, LINE, SOFT, TINT, SheetTable, box, sheet, words

WIDTH, HEIGHT, GAP, ASIDE = 260.0, 46.0, 12.0, 90.0
KINDS = {"self": "self-attention", "masked": "masked self-attention", "cross": "cross-attention"}
COSTS = 190.0  # how far right of the names the bars stand


class Blueprint:
    """model: what `describe` says; parts: what `anatomy` counts."""

    def __init__(self, model: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        self.model, self.parts, self.config = model, parts, model["config"]

    def table(self) -> SheetTable:
        """One row a part: parameters, and operations of one forward pass."""
        rows = [(part["name"], part["parameters"], part["operations"]) for part in self.parts]
        return SheetTable(("part", "parameters", "operations"), rows)

    def csv(self) -> str:
        return self.table().csv()

    def json(self) -> str:
        return self.table().json()

    def svg(self, title: str) -> str:
        """Stacks side by side, from the input below to the output above, and the costs under them."""
        stacks = list(self.model["layers"].items())
        tallest = max((len(self._layer(stack)) for stack, _ in stacks), default=0)
        floor = HEADER + 210 + tallest * (HEIGHT + GAP)
        parts = [
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker></defs>'
        ]
        memory = 0.0  # where the stack before ends: its output goes to the next one's cross-attention
        for place, (stack, layers) in enumerate(stacks):
            x = 32 + place * (WIDTH + ASIDE)
            top = floor - 94 - GAP - len(self._layer(stack)) * (HEIGHT + GAP)
            parts += self._stack(stack, layers, x, floor, top, memory, last=place == len(stacks) - 1)
            memory = top
        parts += self._costs(floor + 40)
        width = max(len(stacks) * (WIDTH + ASIDE) + 20, 660.0)
        return sheet(width, floor + 80 + 22 * len(self.parts), title, parts)

    def _layer(self, stack: str) -> list[tuple[str, str, bool]]:
        """A layer from bottom to top: title, detail, whether it reads another stack."""
        place = f"norm {'before' if self.config['norm']['place'] == 'pre' else 'after'}"
        found = []
        for site in self.model["sites"]:
            if site["stack"] == stack and site["layer"] == 0:
                shared = f", {site['kv_heads']} of keys" if site["kv_heads"] != site["heads"] else ""
                detail = f"{site['heads']} heads × {site['key_dim']}{shared} · {place}"
                found.append((KINDS.get(site["kind"], site["kind"]), detail, site["kind"] == "cross"))
        dim, hidden = self.config["dim"], self.config["hidden_dim"]
        detail = f"{dim} → {hidden} → {dim} · {self.config['activation']} · {place}"
        return [*found, ("feed-forward", detail, False)]

    def _stack(
        self, stack: str, layers: int, x: float, floor: float, top: float, memory: float, *, last: bool
    ) -> Iterator[str]:
        middle, front = x + WIDTH / 2, floor - 20 - HEIGHT
        bottom = front - 28
        table = f"{self.config['vocab_size']:,} × {self.config['dim']} · {self.config['position']['kind']}"
        yield words(middle, floor + 14, "input" if memory == 0 else "what is written so far", "middle")
        yield _arrow(middle, floor, middle, front + HEIGHT)
        yield from _block(x, front, "embedding + position", table, LINE)
        yield _arrow(middle, front, middle, bottom)
        yield box(x - 12, top, WIDTH + 24, bottom - top)
        yield words(x - 10, top - 8, stack, fill=INK)
        yield words(x + WIDTH + 10, top - 8, f"× {layers}", "end", fill=INK)
        for row, (title, detail, crosses) in enumerate(self._layer(stack)):
            y = bottom - (row + 1) * (HEIGHT + GAP)
            yield from _block(x, y, title, detail, TINT if "attention" in title else "white")
            if row:
                yield _arrow(middle, y + HEIGHT + GAP, middle, y + HEIGHT)
            if crosses:
                left = x - WIDTH - ASIDE + WIDTH / 2
                path = f"M{left:.1f} {memory:.1f}v-24H{x - 28:.1f}V{y + HEIGHT / 2:.1f}H{x - 1:.1f}"
                yield f'<path d="{path}" fill="none" stroke="{SOFT}" marker-end="url(#arrow)"/>'
        if last:
            y = top - 28 - HEIGHT
            yield _arrow(middle, top, middle, y + HEIGHT)
            yield from _block(x, y, self.config["head"]["kind"].replace("-", " "), self._head(), LINE)
            yield _arrow(middle, y, middle, y - 20)

    def _head(self) -> str:
        if self.config["head"]["kind"] != "language-model":
            return f"from {self.config['dim']}"
        return f"{self.config['dim']} → {self.config.get('target_vocab_size') or self.config['vocab_size']:,} · softmax"

    def _costs(self, y: float) -> Iterator[str]:
        for column, name in ((COSTS, "parameters"), (COSTS + 230, "operations")):
            total = sum(part[name] for part in self.parts) or 1
            yield words(column + 32, y, f"{name}: {total:,}", fill=INK)
            for row, part in enumerate(self.parts):
                level = y + 10 + 22 * row
                length = 100 * part[name] / total
                yield f'<rect x="{column + 32:.1f}" y="{level:.1f}" width="{length:.1f}" height="14" fill="{ACCENT}"/>'
                yield words(column + 40 + length, level + 11, f"{part[name]:,}", size=11)
        for row, part in enumerate(self.parts):
            yield words(COSTS + 26, y + 21 + 22 * row, part["name"], "end", size=11)


def _block(x: float, y: float, title: str, detail: str, fill: str) -> Iterator[str]:
    yield box(x, y, WIDTH, HEIGHT, fill=fill, edge=SOFT)
    yield words(x + WIDTH / 2, y + 18, title, "middle", size=13, fill=INK)
    yield words(x + WIDTH / 2, y + 35, detail, "middle", size=11)


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{SOFT}" marker-end="url(#arrow)"/>'

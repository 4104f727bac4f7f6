"""The figures that the command line can write, by name."""

from collections.abc import Callable, Sequence

import torch

from clearformer.model.positions import Sinusoidal
from clearformer.studio.app import Desk
from clearformer.studio.drawing import Panel
from clearformer.studio.requests import Input
from clearformer.studio.sites import Site
from clearformer.studio.spelling import Token


def heads(desk: Desk, text: str, site: str | None, head: int | None) -> list[Panel]:
    """Every head of every layer (or of one site), small."""
    chosen = [desk.site(site)] if site else list(desk.sites.values())
    look = desk.look(Input(text=text))
    panels = []
    for one in chosen:
        rows, columns = _names(desk, text, one)
        for number, weights in enumerate(desk.weights(look, one)):
            panels.append(Panel(title=f"{_short(one)} · {number + 1}", rows=rows, columns=columns, values=weights))
    return panels


def attention(desk: Desk, text: str, site: str | None, head: int | None) -> list[Panel]:
    """One head, or the mean of a layer's heads, large."""
    one = desk.site(site) if site else list(desk.sites.values())[-1]
    weights = desk.weights(desk.look(Input(text=text)), one)
    if head is not None and not 0 <= head < len(weights):
        raise ValueError(f"{one.name} has {len(weights)} heads, from 1; there is no head {head + 1}")
    rows, columns = _names(desk, text, one)
    title = f"{one.name} · {'mean' if head is None else head + 1}"
    return [Panel(title=title, rows=rows, columns=columns, values=weights.mean(0) if head is None else weights[head])]


def alignment(desk: Desk, text: str, site: str | None, head: int | None) -> list[Panel]:
    """Which source tokens each written token looked at: the mean head of the last cross layer but one."""
    crossing = [one for one in desk.sites.values() if one.kind == "cross"]
    if not crossing:
        raise ValueError("this model has no cross-attention, so nothing is aligned; choose --figure heads")
    look = desk.look(Input(text=text))
    tokens = desk.subject.tokens(look)
    weights = desk.weights(look, crossing[max(0, len(crossing) - 2)]).mean(0)[:-1]
    rows, columns = _texts(tokens["target"][1:]), _texts(tokens["source"])
    return [Panel(title="alignment", rows=rows, columns=columns, values=weights)]


def positions(desk: Desk, text: str, site: str | None, head: int | None) -> list[Panel]:
    """The 2017 paper's waves, as wide as the model."""
    width = desk.subject.config.dim - desk.subject.config.dim % 2
    waves = Sinusoidal(width).embed(torch.arange(64))
    rows, columns = [str(row) for row in range(64)], [str(column) for column in range(width)]
    return [Panel(title="sinusoidal positions", rows=rows, columns=columns, values=waves, signed=True)]


FIGURES: dict[str, Callable[[Desk, str, str | None, int | None], list[Panel]]] = {
    "heads": heads,
    "attention": attention,
    "alignment": alignment,
    "positions": positions,
}


def _names(desk: Desk, text: str, site: Site) -> tuple[list[str], list[str]]:
    tokens = desk.subject.tokens(desk.look(Input(text=text)))
    own = tokens["target"] if site.stack == "decoder" and tokens["target"] else tokens["source"]
    return _texts(own), _texts(tokens["source"] if site.kind == "cross" else own)


def _texts(tokens: Sequence[Token]) -> list[str]:
    """XML has no place for control characters; they are written as their numbers."""
    return [
        "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in token["text"].strip()) or "␣" for token in tokens
    ]


def _short(site: Site) -> str:
    return f"{site.stack} {site.layer + 1} {site.kind}"

"""The figures that the command line can write, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from clearformer.figures.matrices import Matrices, Panel
from clearformer.figures.sheet import Figure, printable
from clearformer.model.positions import Sinusoidal
from clearformer.studio.app import Handlers
from clearformer.studio.architecture import architecture_figure
from clearformer.studio.attention_layers import Site
from clearformer.studio.requests import Input
from clearformer.studio.search_tree import search_figure
from clearformer.studio.spelling import Token
from clearformer.studio.training_curves import curves_figure


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a figure is about. text: not for those of a model or a run; site: all or the last; head: the mean."""

    text: str = ""
    site: str | None = None
    head: int | None = None


def heads(desk: Handlers, wish: Wish) -> Figure:
    """Every head of every layer (or of one site), small."""
    chosen = [desk.site(wish.site)] if wish.site else list(desk.sites.values())
    look = desk.look(Input(text=wish.text))
    panels = []
    for one in chosen:
        rows, columns = _names(desk, wish.text, one)
        for number, weights in enumerate(desk.weights(look, one)):
            panels.append(
                Panel(title=f"{_short(one)} · {number + 1}", rows=rows, columns=columns, values=weights.tolist())
            )
    return Matrices(panels=panels, across=chosen[0].heads if chosen else 4)


def attention(desk: Handlers, wish: Wish) -> Figure:
    """One head, or the mean of a layer's heads, large."""
    one = desk.site(wish.site) if wish.site else list(desk.sites.values())[-1]
    weights, head = desk.weights(desk.look(Input(text=wish.text)), one), wish.head
    if head is not None and not 0 <= head < len(weights):
        raise ValueError(f"{one.name} has {len(weights)} heads, from 1; there is no head {head + 1}")
    rows, columns = _names(desk, wish.text, one)
    title = f"{one.name} · {'mean' if head is None else head + 1}"
    values = weights.mean(0) if head is None else weights[head]
    return Matrices(panels=[Panel(title=title, rows=rows, columns=columns, values=values.tolist())])


def alignment(desk: Handlers, wish: Wish) -> Figure:
    """Which source tokens each written token looked at: the mean head of the last cross layer but one."""
    crossing = [one for one in desk.sites.values() if one.kind == "cross"]
    if not crossing:
        raise ValueError("this model has no cross-attention, so nothing is aligned; choose --figure heads")
    look = desk.look(Input(text=wish.text))
    tokens = desk.subject.tokens(look)
    weights = desk.weights(look, crossing[max(0, len(crossing) - 2)]).mean(0)[:-1]
    rows, columns = _texts(tokens["target"][1:]), _texts(tokens["source"])
    return Matrices(panels=[Panel(title="alignment", rows=rows, columns=columns, values=weights.tolist())])


def positions(desk: Handlers, wish: Wish) -> Figure:
    """The 2017 paper's waves, as wide as the model."""
    width = desk.subject.config.dim - desk.subject.config.dim % 2
    waves = Sinusoidal(width).embed(torch.arange(64))
    rows, columns = [str(row) for row in range(64)], [str(column) for column in range(width)]
    panel = Panel(title="sinusoidal positions", rows=rows, columns=columns, values=waves.tolist(), signed=True)
    return Matrices(panels=[panel], cell=5.0)


def tree(desk: Handlers, wish: Wish) -> Figure:
    """The beam search with every candidate kept or cut."""
    found = desk.writer.tree(wish.text, desk.writer.settings(), ())
    return search_figure(found["nodes"], found["best"])


def architecture(desk: Handlers, wish: Wish) -> Figure:
    """The model's parts, and what they cost for 32 tokens."""
    return architecture_figure(desk.model(), desk.anatomy(32)["parts"])


def curves(desk: Handlers, wish: Wish) -> Figure:
    """What the training runs recorded."""
    runs = [desk.run(one["id"]) for one in desk.list_runs()]
    if not runs:
        raise ValueError("there is no training run to draw; name its folder with --runs")
    return curves_figure({run["name"]: run["curves"] for run in runs})


FIGURES: dict[str, Callable[[Handlers, Wish], Figure]] = {
    "heads": heads,
    "attention": attention,
    "alignment": alignment,
    "tree": tree,
    "positions": positions,
    "architecture": architecture,
    "curves": curves,
}


def _names(desk: Handlers, text: str, site: Site) -> tuple[list[str], list[str]]:
    tokens = desk.subject.tokens(desk.look(Input(text=text)))
    own = tokens["target"] if site.stack == "decoder" and tokens["target"] else tokens["source"]
    return _texts(own), _texts(tokens["source"] if site.kind == "cross" else own)


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [printable(token["text"].strip()) or "␣" for token in tokens]


def _short(site: Site) -> str:
    return f"{site.stack} {site.layer + 1} {site.kind}"

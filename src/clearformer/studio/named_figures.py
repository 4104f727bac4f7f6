"""The figures that the command line can write, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from clearformer.figures.matrices import Matrices, Panel
from clearformer.figures.sheet import Figure, printable
from clearformer.model.positions import Sinusoidal
from clearformer.studio.app import Handlers
from clearformer.studio.architecture import architecture_figure
from clearformer.studio.attention_layers import AttentionLayer
from clearformer.studio.requests import Input
from clearformer.studio.search_tree import search_figure
from clearformer.studio.spelling import Token
from clearformer.studio.training_curves import curves_figure


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a figure is about. text: not needed for a model or a run; layer: None is all, or the last; head: None is
    the mean."""

    text: str = ""
    layer: str | None = None
    head: int | None = None


def heads(handlers: Handlers, wish: Wish) -> Figure:
    """Every head of every attention layer, or of one, small."""
    chosen = [handlers.layer(wish.layer)] if wish.layer else list(handlers.layers.values())
    look = handlers.look(Input(text=wish.text))
    panels = []
    for one in chosen:
        rows, columns = _names(handlers, wish.text, one)
        for number, weights in enumerate(handlers.weights(look, one)):
            panels.append(
                Panel(title=f"{_short(one)} · {number + 1}", rows=rows, columns=columns, values=weights.tolist())
            )
    return Matrices(panels=panels, across=chosen[0].heads if chosen else 4)


def attention(handlers: Handlers, wish: Wish) -> Figure:
    """One head, or the mean of a layer's heads, large."""
    one = handlers.layer(wish.layer) if wish.layer else list(handlers.layers.values())[-1]
    weights, head = handlers.weights(handlers.look(Input(text=wish.text)), one), wish.head
    if head is not None and not 0 <= head < len(weights):
        raise ValueError(f"{one.name} has {len(weights)} heads, from 1; there is no head {head + 1}")
    rows, columns = _names(handlers, wish.text, one)
    title = f"{one.name} · {'mean' if head is None else head + 1}"
    values = weights.mean(0) if head is None else weights[head]
    return Matrices(panels=[Panel(title=title, rows=rows, columns=columns, values=values.tolist())])


def alignment(handlers: Handlers, wish: Wish) -> Figure:
    """Which source tokens each written token looked at: the mean head of the last cross layer but one."""
    crossing = [one for one in handlers.layers.values() if one.kind == "cross"]
    if not crossing:
        raise ValueError("this model has no cross-attention, so nothing is aligned; choose --figure heads")
    look = handlers.look(Input(text=wish.text))
    tokens = handlers.shown_model.tokens(look)
    weights = handlers.weights(look, crossing[max(0, len(crossing) - 2)]).mean(0)[:-1]
    rows, columns = _texts(tokens["target"][1:]), _texts(tokens["source"])
    return Matrices(panels=[Panel(title="alignment", rows=rows, columns=columns, values=weights.tolist())])


def positions(handlers: Handlers, wish: Wish) -> Figure:
    """The 2017 paper's waves, as wide as the model."""
    width = handlers.shown_model.config.dim - handlers.shown_model.config.dim % 2
    waves = Sinusoidal(width).embed(torch.arange(64))
    rows, columns = [str(row) for row in range(64)], [str(column) for column in range(width)]
    panel = Panel(title="sinusoidal positions", rows=rows, columns=columns, values=waves.tolist(), signed=True)
    return Matrices(panels=[panel], cell=5.0)


def tree(handlers: Handlers, wish: Wish) -> Figure:
    """The beam search with every candidate kept or cut."""
    found = handlers.writer.tree(wish.text, handlers.writer.settings(), ())
    return search_figure(found["nodes"], found["best"])


def architecture(handlers: Handlers, wish: Wish) -> Figure:
    """The model's parts, and what they cost for 32 tokens."""
    return architecture_figure(handlers.model(), handlers.anatomy(32)["parts"])


def curves(handlers: Handlers, wish: Wish) -> Figure:
    """What the training runs recorded."""
    runs = [handlers.run(one["id"]) for one in handlers.list_runs()]
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


def _names(handlers: Handlers, text: str, layer: AttentionLayer) -> tuple[list[str], list[str]]:
    tokens = handlers.shown_model.tokens(handlers.look(Input(text=text)))
    own = tokens["target"] if layer.stack == "decoder" and tokens["target"] else tokens["source"]
    return _texts(own), _texts(tokens["source"] if layer.kind == "cross" else own)


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [printable(token["text"].strip()) or "␣" for token in tokens]


def _short(layer: AttentionLayer) -> str:
    return f"{layer.stack} {layer.index + 1} {layer.kind}"

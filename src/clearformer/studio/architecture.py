"""What a drawing of the architecture shows: the blocks of each stack, from the model's own description."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearformer.figures.blocks import Block, Blocks, Stack
from clearformer.figures.sheet import Table, TabledFigure

KINDS = {"self": "self-attention", "masked": "masked self-attention", "cross": "cross-attention"}
QUANTITIES = ("parameters", "operations")


def architecture_figure(model: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> TabledFigure:
    """model: what `describe` says; parts: what `anatomy` counts."""
    costs = {quantity: {part["name"]: part[quantity] for part in parts} for quantity in QUANTITIES}
    rows = [(part["name"], *(part[quantity] for quantity in QUANTITIES)) for part in parts]
    names = list(model["layers"])
    stacks = [_stack(model, name, first=name == names[0], last=name == names[-1]) for name in names]
    return TabledFigure(Blocks(stacks=stacks, costs=costs), Table(("part", *QUANTITIES), rows))


def _stack(model: Mapping[str, Any], name: str, *, first: bool, last: bool) -> Stack:
    config = model["config"]
    table = f"{config['vocab_size']:,} × {config['dim']} · {config['position']['kind']}"
    return Stack(
        name=name,
        count=model["layers"][name],
        entry="input" if first else "what is written so far",
        front=Block(title="embedding + position", detail=table),
        layer=_layer(model, name),
        head=Block(title=config["head"]["kind"].replace("-", " "), detail=_head(config)) if last else None,
    )


def _layer(model: Mapping[str, Any], stack: str) -> list[Block]:
    """The blocks of a layer, from bottom to top."""
    config = model["config"]
    norm = f"norm {'before' if config['norm']['place'] == 'pre' else 'after'}"
    blocks = []
    for site in model["sites"]:
        if site["stack"] == stack and site["layer"] == 0:
            shared = f", {site['kv_heads']} of keys" if site["kv_heads"] != site["heads"] else ""
            detail = f"{site['heads']} heads × {site['key_dim']}{shared} · {norm}"
            title = KINDS.get(site["kind"], site["kind"])
            blocks.append(Block(title=title, detail=detail, tinted=True, reads=site["kind"] == "cross"))
    widths = f"{config['dim']} → {config['hidden_dim']} → {config['dim']}"
    return [*blocks, Block(title="feed-forward", detail=f"{widths} · {config['activation']} · {norm}")]


def _head(config: Mapping[str, Any]) -> str:
    if config["head"]["kind"] != "language-model":
        return f"from {config['dim']}"
    return f"{config['dim']} → {config.get('target_vocab_size') or config['vocab_size']:,} · softmax"

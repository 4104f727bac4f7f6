"""The attention layers of a model, named as in the model."""

from dataclasses import dataclass
from typing import Literal

from torch import nn

from clearformer.model.attention import Additive, Attention
from clearformer.model.positions import Rotary


@dataclass(frozen=True, kw_only=True)
class AttentionLayer:
    """index: its place in the stack, from 0.

    kind: self (both ways), masked (the past only) or cross (from the target to the source).
    exact: scores are scaled dot products, so that each cell's arithmetic can be shown.
    """

    name: str
    stack: str
    index: int
    kind: Literal["self", "masked", "cross"]
    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    position: str
    exact: bool


def attention_layers(model: nn.Module) -> list[AttentionLayer]:
    """In the order in which they run: self before cross within a layer, the encoder before the decoder."""
    return [
        _describe(name, module)
        for name, module in model.named_modules(remove_duplicate=False)
        if name.rsplit(".", 1)[-1] in ("self_attn", "cross_attn") and module is not None
    ]


def _describe(name: str, module: nn.Module) -> AttentionLayer:
    words = name.split(".")
    index = next((int(word) for word in words if word.isdigit()), 0)
    stack = words[0]
    kind: Literal["self", "masked", "cross"] = "self"
    if words[-1] == "cross_attn":
        kind = "cross"
    elif stack == "decoder":
        kind = "masked"
    if not isinstance(module, Attention):  # the recurrent and convolutional baselines look in ways of their own
        heads = getattr(module, "heads", 1)
        count = heads if isinstance(heads, int) else 1
        return AttentionLayer(
            name=name, stack=stack, index=index, kind=kind, heads=count, kv_heads=count,
            key_dim=0, value_dim=0, position="none", exact=False,
        )  # fmt: skip
    return AttentionLayer(
        name=name,
        stack=stack,
        index=index,
        kind=kind,
        heads=module.heads.count,
        kv_heads=module.heads.kv_count,
        key_dim=module.heads.key_dim,
        value_dim=module.heads.value_dim,
        position="rotary" if isinstance(module.position, Rotary) else type(module.position).__name__.lower(),
        exact=not isinstance(module.kernel, Additive),
    )


def input_of(layer: AttentionLayer) -> str:
    """The name of the value that flows into a layer's residual: what the attention's output is added to."""
    if layer.kind == "cross":
        return f"{layer.stack}.layers.{layer.index}.self_attn_residual.after"
    return f"{layer.stack}.front.output" if layer.index == 0 else f"{layer.stack}.layers.{layer.index - 1}.output"

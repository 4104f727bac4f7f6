"""The stacks of a Transformer in CTranslate2's layout: embeddings, positions, norms, attention, feed-forward parts.

What is written is the engine's own description of an encoder or a decoder, filled with NumPy arrays from our file.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from clearformer.foundation import storage
from clearformer.model.config import ModelConfig, PositionConfig

Array = NDArray[np.float32]

# How many positions sinusoidal tables are computed for. A longer sentence is not an error: PyTorch reads it.
PLACES = 1024
WAVES = ("sinusoidal", "split-sinusoidal", "tensor2tensor")
ACTIVATIONS = {
    "relu": "RELU",
    "gelu": "GELU",
    "gelu-tanh": "GELUTanh",
    "quick-gelu": "GELUSigmoid",
    "silu": "SWISH",
    "tanh": "Tanh",
}


class Weights:
    """A file of weights, each of which has to be used: an unused one is named in an error."""

    def __init__(self, path: Path) -> None:
        try:
            self._arrays = load_file(path)
        except SafetensorError as error:
            raise storage.DamagedError(f"{path} cannot be read: {error}; download the folder again") from error
        self._path, self._used = path, set[str]()

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def take(self, name: str) -> Array:
        """One of them, converted to float32."""
        if name not in self._arrays:
            raise storage.DamagedError(
                f"{self._path} has no {name}, which config.json asks for; download the folder again"
            )
        self._used.add(name)
        return self._arrays[name].astype(np.float32)

    def below(self, prefix: str) -> dict[str, Array]:
        """All whose names begin like this, in float32."""
        return {name: self.take(name) for name in self._arrays if name.startswith(prefix)}

    def finish(self, *, but: str | None = None) -> None:
        """Every weight must have been used. but: the beginning of the names of those that are used elsewhere."""
        left = sorted(name for name in self._arrays.keys() - self._used if but is None or not name.startswith(but))
        if left:
            raise storage.DamagedError(f"{self._path} has {', '.join(left[:3])}, which config.json does not ask for")


def stack_settings(specs: ModuleType, config: ModelConfig, *, encoder: bool) -> dict[str, Any]:
    """The settings of a stack, under the engine's names."""
    place = config.position if encoder else config.decoder_position or config.position
    chosen: dict[str, Any] = {
        "pre_norm": config.norm.place == "pre",
        "activation": specs.Activation[ACTIVATIONS[config.activation]],
        "layernorm_embedding": config.embedding.norm,
        "ffn_glu": config.gated,
        "rms_norm": config.norm.kind == "rms",
        "relative_attention_bias": place.kind == "buckets",
    }
    if config.attention.kv_heads is not None:
        chosen["num_heads_kv"] = config.attention.kv_heads
    if config.attention.head_dim is not None:
        chosen["head_dim"] = config.attention.head_dim
    if place.kind == "rotary":
        width = config.attention.head_dim or config.dim // config.attention.heads
        base = place.base * place.factor ** (width / max(width - 2, 1)) if place.scaling == "ntk" else place.base
        chosen |= {"rotary_dim": 0, "rotary_interleave": place.pairs == "neighbours", "rotary_base": base}
        if place.scaling == "linear":
            chosen |= {"rotary_scaling_type": specs.RotaryScalingType.Linear, "rotary_scaling_factor": place.factor}
    return chosen


def fill_stack(stack: Any, name: str, config: ModelConfig, place: PositionConfig, weights: Weights) -> None:
    """An encoder or a decoder: embeddings, positions, norms and layers."""
    table = stack.embeddings[0] if name == "encoder" else stack.embeddings
    table.weight = weights.take(input_table(name, weights))
    stack.scale_embeddings = config.embedding.scale
    if hasattr(stack, "position_encodings") and place.kind != "rotary":
        stack.position_encodings.encodings = _places(place, name, config, weights)
    if config.embedding.norm:
        fill_norm(stack.layernorm_embedding, f"{name}.front.norm", config, weights)
    if hasattr(stack, "layer_norm"):
        fill_norm(stack.layer_norm, f"{name}.norm", config, weights)
    fill_layers(stack, name, config, weights)
    if place.kind == "buckets":
        scheme = weights.take(f"{name}.layers.0.self_attn.position.table.weight")
        for layer in stack.layer:
            layer.self_attention.relative_attention_bias = scheme
            layer.self_attention.relative_attention_max_distance = np.int32(place.max_distance)


def fill_layers(stack: Any, name: str, config: ModelConfig, weights: Weights) -> None:
    """Attention and feed-forward parts of every layer."""
    for number, layer in enumerate(stack.layer):
        # A shared layer is stored once; the engine's own writer merges equal arrays again.
        path = f"{name}.layers.{0 if config.share_layers else number}"
        _fill_attention(layer.self_attention, f"{path}.self_attn", config, weights)
        if name == "decoder":
            _fill_attention(layer.attention, f"{path}.cross_attn", config, weights)
        _fill_feed_forward(layer.ffn, f"{path}.ffn", config, weights)


def _fill_attention(spec: Any, path: str, config: ModelConfig, weights: Weights) -> None:
    """Queries, keys and values, joined as the engine stores them: all three, or keys and values in cross-attention."""
    joined = ("q", "k", "v"), ("q",), ("k", "v")
    groups = joined[:1] if len(spec.linear) == 2 else joined[1:]
    for linear, group in zip(spec.linear, groups, strict=False):
        parts = [f"{path}.{letter}_proj" for letter in group]
        linear.weight = np.concatenate([weights.take(f"{part}.weight") for part in parts])
        if any(f"{part}.bias" in weights for part in parts):
            linear.bias = np.concatenate([_bias(part, weights) for part in parts])
    _fill_linear(spec.linear[-1], f"{path}.out_proj", weights)
    fill_norm(spec.layer_norm, _residual(path, config), config, weights)
    if config.attention.scale is not None:
        spec.queries_scale = float(config.attention.scale)


def _bias(part: str, weights: Weights) -> Array:
    """A projection's bias; Whisper's keys have none, which is the same as zeros."""
    if f"{part}.bias" in weights:
        return weights.take(f"{part}.bias")
    return np.zeros(len(weights.take(f"{part}.weight")), dtype=np.float32)


def _fill_feed_forward(spec: Any, path: str, config: ModelConfig, weights: Weights) -> None:
    _fill_linear(spec.linear_0, f"{path}.{'gate' if config.gated else 'up'}_proj", weights)
    if config.gated:
        _fill_linear(spec.linear_0_noact, f"{path}.up_proj", weights)
    _fill_linear(spec.linear_1, f"{path}.down_proj", weights)
    fill_norm(spec.layer_norm, _residual(path, config), config, weights)


def _fill_linear(spec: Any, path: str, weights: Weights) -> None:
    spec.weight = weights.take(f"{path}.weight")
    if f"{path}.bias" in weights:
        spec.bias = weights.take(f"{path}.bias")


def fill_norm(spec: Any, path: str, config: ModelConfig, weights: Weights) -> None:
    """A layer norm, or one without a shift."""
    spec.gamma = weights.take(f"{path}.weight")
    if config.norm.kind == "layer":
        spec.beta = weights.take(f"{path}.bias")


def _residual(path: str, config: ModelConfig) -> str:
    """Where the norm of a sublayer is stored."""
    return f"{path}_residual.{'before' if config.norm.place == 'pre' else 'after'}"


def input_table(name: str, weights: Weights) -> str:
    """A table that both sides share is stored once, under the encoder's name."""
    own = f"{name}.front.embed.weight"
    return own if own in weights else "encoder.front.embed.weight"


def _places(place: PositionConfig, name: str, config: ModelConfig, weights: Weights) -> Array:
    """A vector for each position, added to the embeddings."""
    if place.kind == "learned":
        return weights.take(f"{name}.front.position.table.weight")[place.offset :]
    if place.kind == "none":
        return np.zeros((_computed(config), config.dim), dtype=np.float32)
    return waves(place, _computed(config), config.dim)


def _computed(config: ModelConfig) -> int:
    """How many positions a computed table has: what a model that only reads is ever given has room in it."""
    return max(PLACES, config.max_len) if config.shape == "encoder" else PLACES


def places_known(config: ModelConfig) -> dict[str, int | None]:
    """How many positions each side has vectors for; None if its scheme has no limit."""

    def known(place: PositionConfig) -> int | None:
        if place.kind == "learned":
            return config.max_len
        return None if place.kind in ("rotary", "buckets") else _computed(config)

    return {"source": known(config.position), "target": known(config.decoder_position or config.position)}


def waves(place: PositionConfig, count: int, dim: int) -> Array:
    """The table of a sinusoidal scheme; `model/positions.py` explains each, and a test compares the two."""
    half = np.arange(dim // 2, dtype=np.float64)
    exponent = half / max(dim // 2 - 1, 1) if place.kind == "tensor2tensor" else half * 2 / dim
    angles = (np.arange(count, dtype=np.float64) + place.offset)[:, None] * place.base**-exponent
    sines, cosines = np.sin(angles).astype(np.float32), np.cos(angles).astype(np.float32)
    if place.kind == "sinusoidal":
        return np.stack((sines, cosines), axis=-1).reshape(count, dim)
    return np.concatenate((sines, cosines), axis=-1)

"""A model folder for CTranslate2, the fast engine for CPUs: the same weights in its layout.

The result is a folder for CTranslate2 and for us at once: its `config.json` has the keys of both, so either program
opens it. The weights are read and written as NumPy arrays; PyTorch is not needed, and not imported.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation import settings, storage
from clearformer.model.config import ModelConfig, PositionConfig
from clearformer.text.tokenizer import Tokenizer

Quantization = Literal["float32", "int16", "int8", "int8_float32"]
Array = NDArray[np.float32]

# How many positions sinusoidal tables are computed for. A longer sentence is not an error: PyTorch translates it.
PLACES = 1024
WAVES = ("sinusoidal", "split-sinusoidal", "tensor2tensor")
LAYOUT = 1  # version of what is written here; copies with an older layout are converted again
ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu-tanh": "GELUTanh", "silu": "SWISH", "tanh": "Tanh"}


def convert(
    folder: Path | ModelFolder,
    out: Path,
    *,
    quantization: Quantization = "float32",
    shortlist: Callable[[Path], None] | None = None,
) -> None:
    """Write a model folder's weights as CTranslate2 reads them, whole or not at all.

    shortlist: writes the file of a vocabulary shortlist (see `shortlist.py`).
    """
    if quantization not in get_args(Quantization):
        raise ValueError(f"there is no quantization {quantization!r}; choose from {', '.join(get_args(Quantization))}")
    opened = open_folder(folder)
    opened.verify()
    config = settings.parse(ModelConfig, opened.description.model, str(opened.path / "config.json"))
    check(config)
    if opened.description.adapters is not None:
        raise ValueError(
            f"ctranslate2 wants whole weights, and {opened.path} holds adapters; merge them first: clearformer export "
            f"{opened.path} FOLDER --to clearformer"
        )
    read = opened.preprocessing
    source, target = read.sides
    spec = describe(config, Weights(opened.path / "model.safetensors"))
    _name_tokens(spec, config, source, target, read.framing.start)
    spec.validate()
    spec.optimize(quantization)
    with storage.new_folder(out) as aside:
        spec.save(str(aside))
        made = {
            "quantization": quantization,
            "layout": LAYOUT,
            "made_from": opened.fingerprint,
            "places": _places_known(config),
            "shortlist": shortlist is not None,
        }
        theirs = storage.read_json(aside / "config.json")
        storage.write_json(aside / "config.json", opened.description.plain() | theirs | {"ctranslate2": made})
        read.save_files(aside)
        if shortlist is not None:
            shortlist(aside / "vmap.txt")


def check(config: ModelConfig) -> None:
    """Refuse, by name, a model that CTranslate2's Transformer cannot express."""
    if reasons := reasons_against(config):
        raise ValueError(f"ctranslate2 cannot run this {config.family}: {'; '.join(reasons)}; use the torch engine")


def reasons_against(config: ModelConfig) -> list[str]:
    """What the engine cannot express of a model; empty for a model that it can run."""
    a, e, h = config.attention, config.embedding, config.head
    places = (config.position, config.decoder_position or config.position)
    foreign: dict[str, bool] = {
        f"its shape is {config.shape}, not an encoder–decoder of attention": config.shape != "encoder-decoder",
        f"it reads {config.front.kind}, not tokens": config.front.kind != "tokens",
        f"its head is for {h.kind}, not for tokens": h.kind != "language-model",
        f"its norm is {config.norm.kind}": config.norm.kind not in ("layer", "rms"),
        "its final norms are not where its norm placement puts them": config.norm.final
        not in (None, config.norm.place == "pre"),
        "its decoder looks back through a window": a.window is not None,
        "its embeddings are narrower than the model": e.dim not in (None, config.dim),
        "its tokens have types": e.types > 0,
        "its output has an extra layer before the table": h.transform,
    }
    for place in dict.fromkeys(places):
        foreign[f"its positions are {place.kind}"] = place.kind not in (*WAVES, "learned", "none", "rotary", "buckets")
    mixed = {"rotary", "buckets"} & {place.kind for place in places} and places[0] != places[1]
    foreign["its encoder and decoder use position schemes that cannot be combined"] = bool(mixed)
    return [reason for reason, applies in foreign.items() if applies]


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

    def finish(self) -> None:
        """Every weight must have been used."""
        if left := sorted(self._arrays.keys() - self._used):
            raise storage.DamagedError(f"{self._path} has {', '.join(left[:3])}, which config.json does not ask for")


def describe(config: ModelConfig, weights: Weights) -> Any:
    """The engine's own description of a model, filled with these weights."""
    specs = _specs()
    encoder = specs.TransformerEncoderSpec(config.layers, config.attention.heads, **_stack(specs, config, encoder=True))
    count = config.layers if config.decoder_layers is None else config.decoder_layers
    decoder = specs.TransformerDecoderSpec(
        count,
        config.attention.heads,
        alignment_layer=max(0, count - 2),  # what `Translator.align` looks at: all heads of the last layer but one
        alignment_heads=config.attention.heads,
        **_stack(specs, config, encoder=False),
    )
    _fill_stack(encoder, "encoder", config, config.position, weights)
    _fill_stack(decoder, "decoder", config, config.decoder_position or config.position, weights)
    decoder.projection.weight = weights.take(_output_table(weights))
    if config.head.bias:
        decoder.projection.bias = weights.take("head.bias")
    if config.head.shrink:
        decoder.scale_outputs = float(config.dim**-0.5)
    weights.finish()
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.layer_norm_epsilon = config.norm.eps
    return spec


def _stack(specs: ModuleType, config: ModelConfig, *, encoder: bool) -> dict[str, Any]:
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


def _fill_stack(stack: Any, name: str, config: ModelConfig, place: PositionConfig, weights: Weights) -> None:
    """An encoder or a decoder: embeddings, positions, norms and layers."""
    table = stack.embeddings[0] if name == "encoder" else stack.embeddings
    table.weight = weights.take(_input_table(name, weights))
    stack.scale_embeddings = config.embedding.scale
    if hasattr(stack, "position_encodings") and place.kind != "rotary":
        stack.position_encodings.encodings = _places(place, name, config, weights)
    if config.embedding.norm:
        _fill_norm(stack.layernorm_embedding, f"{name}.front.norm", config, weights)
    if config.norm.place == "pre":
        _fill_norm(stack.layer_norm, f"{name}.norm", config, weights)
    for number, layer in enumerate(stack.layer):
        # A shared layer is stored once; the engine's own writer merges equal arrays again.
        path = f"{name}.layers.{0 if config.share_layers else number}"
        _fill_attention(layer.self_attention, f"{path}.self_attn", config, weights)
        if place.kind == "buckets":
            scheme = weights.take(f"{name}.layers.0.self_attn.position.table.weight")
            layer.self_attention.relative_attention_bias = scheme
            layer.self_attention.relative_attention_max_distance = np.int32(place.max_distance)
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
    _fill_norm(spec.layer_norm, _residual(path, config), config, weights)
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
    _fill_norm(spec.layer_norm, _residual(path, config), config, weights)


def _fill_linear(spec: Any, path: str, weights: Weights) -> None:
    spec.weight = weights.take(f"{path}.weight")
    if f"{path}.bias" in weights:
        spec.bias = weights.take(f"{path}.bias")


def _fill_norm(spec: Any, path: str, config: ModelConfig, weights: Weights) -> None:
    spec.gamma = weights.take(f"{path}.weight")
    if config.norm.kind == "layer":
        spec.beta = weights.take(f"{path}.bias")


def _residual(path: str, config: ModelConfig) -> str:
    """Where the norm of a sublayer is stored."""
    return f"{path}_residual.{'before' if config.norm.place == 'pre' else 'after'}"


def _input_table(name: str, weights: Weights) -> str:
    """A table that both sides share is stored once, under the encoder's name."""
    own = f"{name}.front.embed.weight"
    return own if own in weights else "encoder.front.embed.weight"


def _output_table(weights: Weights) -> str:
    return "head.table" if "head.table" in weights else _input_table("decoder", weights)


def _places(place: PositionConfig, name: str, config: ModelConfig, weights: Weights) -> Array:
    """A vector for each position, added to the embeddings."""
    if place.kind == "learned":
        return weights.take(f"{name}.front.position.table.weight")[place.offset :]
    if place.kind == "none":
        return np.zeros((PLACES, config.dim), dtype=np.float32)
    return waves(place, PLACES, config.dim)


def _places_known(config: ModelConfig) -> dict[str, int | None]:
    """How many positions each side has vectors for; None if its scheme has no limit."""

    def known(place: PositionConfig) -> int | None:
        return config.max_len if place.kind == "learned" else None if place.kind in ("rotary", "buckets") else PLACES

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


def _name_tokens(spec: Any, config: ModelConfig, source: Tokenizer, target: Tokenizer, start_id: int) -> None:
    """The vocabularies in the engine's form: a name for each row of the tables, and which of them are special."""
    spec.register_source_vocabulary(token_names(source, config.vocab_size))
    names = token_names(target, config.target_vocab_size or config.vocab_size)
    spec.register_target_vocabulary(names)
    start = names[start_id]
    spec.config.bos_token = spec.config.decoder_start_token = start
    spec.config.eos_token = names[target.eos_id]
    spec.config.unk_token = names[target.special_ids.get("unk", target.eos_id)]


def token_names(tokenizer: Tokenizer, size: int) -> list[str]:
    """A distinct name for each id: its piece with visible spaces, because a shortlist separates names by spaces.

    Rows without a piece, and pieces that would get the same name, are named by their number.
    """
    if tokenizer.vocab_size > size:
        raise ValueError(f"the vocabulary has {tokenizer.vocab_size} pieces, but the model only {size} rows for them")
    names: list[str] = []
    taken: set[str] = set()
    for number in range(size):
        name = _piece(tokenizer, number).replace(" ", "▁")
        if not name or name in taken or any(character.isspace() for character in name):
            name = f"<{number}>"
        names.append(name)
        taken.add(name)
    return names


def _piece(tokenizer: Tokenizer, number: int) -> str:
    try:
        return tokenizer.piece(number)
    except (KeyError, ValueError):  # a gap in the vocabulary, or a row after its end
        return ""


def _specs() -> ModuleType:
    """The library's description of its own format."""
    with _without_torch():
        from ctranslate2 import specs
    module: ModuleType = specs
    return module


@contextmanager
def _without_torch() -> Iterator[None]:
    """Import a library that works with and without PyTorch as if PyTorch were not installed.

    CTranslate2 imports it only to accept its tensors too. Ours are NumPy arrays, and the import would take longer than
    all the rest of the command. Where PyTorch is loaded already there is nothing to save.
    """
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["torch"]

"""What a CTranslate2 model is, from the shapes and single numbers of its file: one of our configurations.

Every number in the file must be read or refused, because each of them may change the result.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.interop.config_keys import MOST, positive
from clearformer.interop.ctranslate2_arrays import ModelFile, SplitArrays, dotted
from clearformer.interop.ctranslate2_stacks import ACTIVATIONS, WAVES, waves
from clearformer.interop.renaming import Shape
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)

Fixed = dict[str, Callable[[Shape], Tensor]]  # arrays that follow from the configuration

# Activations, by the engine's number.
_NUMBERS = ("RELU", "GELUTanh", "SWISH", "GELU", "GELUSigmoid", "Tanh", "Sigmoid")


def _read_transformer(store: SplitArrays, plain: Mapping[str, Any]) -> tuple[ModelConfig, Fixed]:
    file = store.file
    shapes, facts = file.shapes, _Facts(file)
    vocab, dim = _matrix(file, "encoder/embeddings_0/weight", "encoder/embeddings/weight")
    target_vocab, _ = _matrix(file, "decoder/embeddings/weight")
    heads = facts.whole("encoder/num_heads")
    facts.must("decoder/num_heads", heads)
    pre = bool(facts.both("pre_norm", 1))
    place, fixed_source = _places(file, facts, "encoder", heads)
    target_place, fixed_target = _places(file, facts, "decoder", heads)
    scaled, shrink = _scales(file, facts, dim)
    config = ModelConfig(
        family="transformer",
        vocab_size=vocab,
        target_vocab_size=None if target_vocab == vocab else target_vocab,
        dim=dim,
        hidden_dim=_matrix(file, "encoder/layer_0/ffn/linear_0/weight")[0],
        layers=_layers(file, "encoder"),
        decoder_layers=_layers(file, "decoder"),
        max_len=_longest(file, place, target_place),
        attention=AttentionConfig(
            heads=heads,
            kv_heads=facts.attention("num_heads_kv"),
            head_dim=store.head_dim(heads, dim),
            bias="encoder/layer_0/self_attention/linear_0/bias" in shapes,
            key_bias=store.key_bias,
            scale=facts.attention_fraction("queries_scale"),
        ),
        position=place,
        decoder_position=None if target_place == place else target_place,
        norm=_norm(file, plain, "pre" if pre else "post"),
        activation=_activation(file, facts.both("activation", 0)),
        gated="encoder/layer_0/ffn/linear_0_noact/weight" in shapes,
        bias="encoder/layer_0/ffn/linear_0/bias" in shapes,
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(scale=scaled, norm="encoder/layernorm_embedding/gamma" in shapes, tie=_tie(file)),
        head=HeadConfig(bias="decoder/projection/bias" in shapes, shrink=shrink),
    )
    _refuse(facts)
    return config, {**fixed_source, **fixed_target}


def _read_whisper(store: SplitArrays, plain: Mapping[str, Any]) -> tuple[ModelConfig, Fixed]:
    file = store.file
    facts = _Facts(file)
    vocab, dim = _matrix(file, "decoder/embeddings/weight")
    heads = facts.whole("encoder/num_heads")
    facts.must("decoder/num_heads", heads)
    facts.must("decoder/pre_norm", 1)
    facts.must("decoder/activation", _NUMBERS.index("GELU"))
    facts.must("decoder/scale_embeddings", 0)
    place, fixed = _places(file, facts, "encoder", heads)
    target_place, _ = _places(file, facts, "decoder", heads)
    if place.kind != "tensor2tensor" or target_place.kind != "learned":
        raise ValueError(
            f"{file.path}: Whisper has sinusoidal positions in its encoder and learned ones in its decoder"
        )
    convolution = file.shapes.get("encoder/conv1/weight", ())
    if len(convolution) != 3:
        raise ValueError(f"{file.path} has no encoder/conv1/weight, which every Whisper begins with")
    config = ModelConfig(
        family="whisper",
        vocab_size=vocab,
        dim=dim,
        hidden_dim=_matrix(file, "encoder/layer_0/ffn/linear_0/weight")[0],
        layers=_layers(file, "encoder"),
        decoder_layers=_layers(file, "decoder"),
        max_len=file.shapes["decoder/position_encodings/encodings"][0],
        attention=AttentionConfig(heads=heads, key_bias=store.key_bias),
        position=place,
        decoder_position=target_place,
        norm=_norm(file, plain, "pre"),
        activation="gelu",
        dropout=DropoutConfig.everywhere(0.0),
        front=FrontConfig(kind="sound", mels=convolution[1]),
        embedding=EmbeddingConfig(tie="output" if _tie(file) in ("all", "output") else "none"),
        init_std=0.02,
    )
    _refuse(facts)
    return config, fixed


def _scales(file: ModelFile, facts: "_Facts", dim: int) -> tuple[bool, bool]:
    """Whether embeddings are multiplied by √dim, and outputs divided by it."""
    scale, shrink = facts.both("scale_embeddings", 1), facts.optional("decoder/scale_outputs")
    if shrink is not None and not math.isclose(shrink, dim**-0.5, rel_tol=1e-5):
        raise ValueError(f"{file.path}: outputs are scaled by {shrink}, and only 1/√{dim} is supported")
    if not (scale in (0, 1) or math.isclose(scale, dim**0.5, rel_tol=1e-5)):
        raise ValueError(f"{file.path}: embeddings are scaled by {scale}, and only √{dim} is supported")
    # A whole number is a switch; a fraction is the scale itself, of which 1.0 changes nothing.
    return bool(scale) and not (file.is_fraction("encoder/scale_embeddings") and scale == 1), shrink is not None


READERS = {"TransformerSpec": _read_transformer, "WhisperSpec": _read_whisper}


class _Facts:
    """The single numbers of a file. Each has to be read, because each may change the result."""

    def __init__(self, file: ModelFile) -> None:
        self._file, self._asked = file, set[str]()

    def optional(self, name: str) -> float | int | None:
        self._asked.add(name)
        return self._file.facts.get(name)

    def whole(self, name: str) -> int:
        found = self.optional(name)
        if not isinstance(found, int) or not 1 <= found <= MOST:
            raise ValueError(f"{self._file.path}: {name} must be a whole number of at least 1, not {found!r}")
        return found

    def must(self, name: str, value: float) -> None:
        """One value is supported, and an absent setting has it."""
        found = self.optional(name)
        if found is not None and found != value:
            raise ValueError(f"{self._file.path}: {name} is {found}, and only {value} is supported")

    def both(self, name: str, default: int) -> float | int:
        """A number that encoder and decoder have in common."""
        found = self.optional(f"encoder/{name}")
        self.must(f"decoder/{name}", default if found is None else found)
        return default if found is None else found

    def attention(self, name: str) -> int | None:
        """A whole number that all attentions have in common."""
        found = self._common([key for key in self._file.facts if key.endswith(f"attention/{name}")])
        if found is not None and (not isinstance(found, int) or not 0 <= found <= MOST):
            raise ValueError(f"{self._file.path}: {name} must be a whole number, not {found!r}")
        return found if isinstance(found, int) else None

    def attention_fraction(self, name: str, stack: str = "") -> float | None:
        found = self._common([key for key in self._file.facts if key.endswith(f"attention/{name}") and stack in key])
        return None if found is None else float(found)

    def _common(self, names: list[str]) -> float | int | None:
        values = {self.optional(name) for name in names}
        if len(values) > 1:
            raise ValueError(f"{self._file.path}: {names[0]} is not the same in every layer, which no model here has")
        return values.pop() if values else None

    def left(self) -> list[str]:
        return sorted(name for name in self._file.facts if name not in self._asked and not name.endswith("_scale"))


def _refuse(facts: _Facts) -> None:
    """The other settings: known to have no effect at their usual value, or refused by name."""
    for name in ("alibi", "alibi_use_positive_positions", "scale_alibi"):
        facts.must(f"decoder/{name}", 0)
    facts.optional("decoder/start_from_zero_embedding")  # `ctranslate2_start.py` makes a token of it
    facts.optional("encoder/embeddings_merge")  # there is one table, so nothing is merged
    facts.optional("encoder/multi_query_attention")  # says again what num_heads_kv says
    facts.attention("head_dim")  # as do the shapes
    for name in ("alignment_layer", "alignment_heads"):
        facts.optional(f"decoder/{name}")
    if strange := facts.left():
        raise ValueError(f"{facts._file.path} has {strange[0]}, which is not known here and may change the result")


def _places(file: ModelFile, facts: _Facts, stack: str, heads: int) -> tuple[PositionConfig, Fixed]:
    """How a stack counts positions, and the arrays that follow from it."""
    shapes = file.shapes
    first = f"{stack}/layer_0/self_attention"
    table = f"{stack}/position_encodings/encodings"
    if f"{first}/rotary_dim" in file.facts:
        return _rotary(facts, stack), {}
    if f"{first}/relative_attention_bias" in shapes:
        distance = facts.attention("relative_attention_max_distance")
        rows = shapes[f"{first}/relative_attention_bias"][0]
        return PositionConfig(kind="buckets", buckets=rows, max_distance=distance or 128), {}
    if table not in shapes:  # the engine's own: waves that are counted from one
        return PositionConfig(kind="tensor2tensor", offset=1), {}
    kept = file.read(table).numpy()
    for kind in (*WAVES, "none"):
        place = PositionConfig(kind=kind)  # type: ignore[arg-type]
        expected = np.zeros_like(kept) if kind == "none" else waves(place, *kept.shape)
        if kept.shape[1] % 2 == 0 and np.allclose(kept, expected, atol=2e-3):
            return place, {dotted(table): _always(torch.from_numpy(expected))}
    return PositionConfig(kind="learned"), {}


def _always(value: Tensor) -> Callable[[Shape], Tensor]:
    return lambda _: value


def _rotary(facts: _Facts, stack: str) -> PositionConfig:
    interleave, base = facts.attention("rotary_interleave"), facts.attention_fraction("rotary_base", stack)
    kind = facts.attention("rotary_scaling_type")
    if kind not in (None, 0):
        raise ValueError(f"{facts._file.path}: its rotary positions are scaled in a way that is not supported")
    if facts.attention("rotary_dim") not in (0, None):
        raise ValueError(f"{facts._file.path}: it rotates only a part of each head, which is not supported")
    return PositionConfig(
        kind="rotary",
        base=10_000.0 if base is None else positive(base, f"{facts._file.path}: rotary_base"),
        pairs="halves" if interleave == 0 else "neighbours",
        scaling="none" if kind is None else "linear",
        factor=facts.attention_fraction("rotary_scaling_factor") or 1.0,
    )


def _longest(file: ModelFile, *places: PositionConfig) -> int:
    """The number of learned positions, where there are some."""
    rows = {
        file.shapes[f"{stack}/position_encodings/encodings"][0]
        for stack, place in zip(("encoder", "decoder"), places, strict=True)
        if place.kind == "learned"
    }
    if len(rows) > 1:
        raise ValueError(f"{file.path}: encoder and decoder have different numbers of learned positions")
    return rows.pop() if rows else 512


def _norm(file: ModelFile, plain: Mapping[str, Any], place: str) -> NormConfig:
    layer = "encoder/layer_0/self_attention/layer_norm/beta" in file.shapes
    given = plain.get("layer_norm_epsilon")
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1):
        raise ValueError(f"layer_norm_epsilon must be a small positive number, not {given!r}")
    eps = float(given) if given is not None else 1e-5 if layer else 1e-6
    return NormConfig(kind="layer" if layer else "rms", place="pre" if place == "pre" else "post", eps=eps)


def _activation(file: ModelFile, number: float) -> Activation:
    known = {_NUMBERS.index(theirs): ours for ours, theirs in ACTIVATIONS.items()}
    if number not in known:
        raise ValueError(f"{file.path}: its activation has the number {number}, which no model here has")
    return known[int(number)]  # type: ignore[return-value]


def _tie(file: ModelFile) -> Any:
    """Which of the three tables are one array."""
    source = file.home(_first(file, "encoder/embeddings_0/weight", "encoder/embeddings/weight"))
    target, output = (file.home(f"decoder/{name}/weight") for name in ("embeddings", "projection"))
    if target == output:
        return "all" if source == target else "output"
    return "inputs" if source == target else "none"


def _matrix(file: ModelFile, *names: str) -> tuple[int, int]:
    """The shape of a matrix that must be there."""
    shape = file.shapes.get(_first(file, *names), ())
    if len(shape) != 2 or not all(shape):
        raise ValueError(f"{file.path} has no matrix {names[0]}, which every model of its kind has")
    return shape[0], shape[1]


def _first(file: ModelFile, *names: str) -> str:
    return next((name for name in names if name in file.shapes), names[0])


def _layers(file: ModelFile, stack: str) -> int:
    numbers = {name.split("/")[1] for name in file.shapes if name.startswith(f"{stack}/layer_")}
    count = len({number for number in numbers if number.removeprefix("layer_").isdigit()})
    if count < 1:
        raise ValueError(f"{file.path} has no layers in its {stack}")
    return count

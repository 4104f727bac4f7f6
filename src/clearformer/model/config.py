"""What a model is, as data: sizes and choices. `build.py` turns them into a model, once.

Every field that changes the mathematics is here and works for every family, so `config.json` describes a model
completely. The values of a published family are in `families.py`, those of a published size in `presets.py`.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

Shape = Literal["encoder-decoder", "encoder", "decoder", "lstm", "convolution", "autoencoder"]
PositionKind = Literal[
    "none", "sinusoidal", "split-sinusoidal", "tensor2tensor", "learned",
    "rotary", "alibi", "buckets", "shaw", "relative",
]  # fmt: skip
Activation = Literal["relu", "gelu", "gelu-tanh", "silu", "tanh"]


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """Heads and their shapes. kv_heads below heads is grouped-query, 1 is multi-query attention."""

    heads: int = 8  # attention heads of a layer
    kv_heads: int | None = None  # heads of keys and values; as many as heads if not given
    head_dim: int | None = None  # dim / heads if not given
    bias: bool = True  # of the four projections
    key_bias: bool | None = None  # Whisper: no bias on keys alone, where it could not change the weights
    scale: float | None = None  # 1/√head_dim if not given; T5 has 1 and scales its initialisation instead
    cross: bool = True  # False: the recurrent baseline without attention
    window: int | None = None  # how far back a decoder looks; None = to the beginning


@dataclass(frozen=True, kw_only=True)
class PositionConfig:
    """How positions enter the model. Fields that a kind does not use have no effect."""

    # how positions are shown: added to the embeddings (waves, a table), by turning q and k (rotary), or in the scores
    kind: PositionKind = "sinusoidal"
    base: float = 10_000.0  # of the waves: sinusoidal kinds and rotary
    offset: int = 0  # the first position's number: a learned table leaves its first rows unused, waves start later
    pairs: Literal["neighbours", "halves"] = "halves"  # rotary: which two numbers turn together
    scaling: Literal["none", "linear", "ntk"] = "none"  # rotary past its trained length
    factor: float = 1.0  # rotary with scaling: how many times the trained length
    buckets: int = 32  # T5: how many distances are told apart
    max_distance: int = 128  # T5's last bucket; Shaw's clipping


@dataclass(frozen=True, kw_only=True)
class NormConfig:
    """Which norm, where, and what keeps it from dividing by zero."""

    kind: Literal["layer", "rms", "batch"] = "layer"  # LayerNorm, RMSNorm, or BatchNorm (to show why not)
    place: Literal["post", "pre"] = "post"  # after each part as in 2017, or before it, which needs no long warm-up
    eps: float = 1e-5  # added to the variance, against division by zero
    final: bool | None = None  # one more after the stack: pre-norm needs it; torch.nn.Transformer always has it


@dataclass(frozen=True, kw_only=True)
class DropoutConfig:
    """Dropout rates of the four places where papers differ."""

    embedding: float = 0.1  # of the sum of embeddings and positions
    attention: float = 0.0  # of the attention weights
    activation: float = 0.0  # inside the feed-forward part
    residual: float = 0.1  # of what attention and feed-forward parts add to the residual stream

    @classmethod
    def everywhere(cls, rate: float) -> "DropoutConfig":
        """The same rate at all four sites."""
        return cls(embedding=rate, attention=rate, activation=rate, residual=rate)


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """The table of token vectors and how it is used."""

    dim: int | None = None  # ALBERT: narrower than the model, widened by a projection
    scale: bool = False  # multiply by √dim
    types: int = 0  # BERT: a vector for each segment type
    norm: bool = False  # a norm after the sum of vectors, positions and types
    # which tables are one: source = target = output, source = target (T5 1.1), target = output, or none
    tie: Literal["all", "inputs", "output", "none"] = "all"


@dataclass(frozen=True, kw_only=True)
class FrontConfig:
    """What the encoder (or decoder) reads."""

    # ids of a text, patches of a picture, or spectra of a recording
    kind: Literal["tokens", "patches", "sound"] = "tokens"
    picture: int = 224  # patches: pixels on each side of a picture
    patch: int = 16  # patches: pixels on each side of a patch
    channels: int = 3  # patches: 1 for grey, 3 for colour
    mels: int = 80  # sound: pitch bands


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What the states are turned into."""

    # what the model says of its states; the task sets it
    kind: Literal["language-model", "states", "class", "tags", "span", "boxes", "masks", "pixels"] = "language-model"
    labels: int = 0  # classes of the task
    bias: bool = False  # language model: one bias per token
    transform: bool = False  # language model: BERT's dense layer, activation and norm before the table
    shrink: bool = False  # language model: states / √dim before the table, as T5 does where its table is tied
    copy: bool = False  # language model of an encoder–decoder: a token may also be copied from the source
    pool: Literal["first", "last", "mean"] = "first"  # class: which states represent the input
    pooler: bool = False  # class and states: BERT's dense layer and tanh on the first state
    pooler_activation: Activation = "tanh"  # class: the pooler's activation; DistilBERT: relu
    class_bias: bool = True  # class: one bias per class
    dropout: float = 0.0  # class and tags: of the states that are classified
    queries: int = 0  # boxes of an encoder–decoder: how many it can find at most


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that `build` needs to know."""

    family: str = "transformer"  # where the choices come from; for people and converters, layers never look at it
    shape: Shape = "encoder-decoder"  # which stacks there are; the family sets it
    vocab_size: int = 0  # tokens; from the data
    target_vocab_size: int | None = None  # the same as vocab_size if not given
    dim: int = 512  # width: numbers in each state
    hidden_dim: int = 2048  # width of the feed-forward part
    layers: int = 6  # of the encoder, or of the only stack
    decoder_layers: int | None = None  # as many as layers if not given
    max_len: int = 512  # longest input in tokens, where a table of positions or a context needs one
    attention: AttentionConfig = field(default_factory=AttentionConfig)
    position: PositionConfig = field(default_factory=PositionConfig)
    decoder_position: PositionConfig | None = None  # Whisper: waves in the encoder, a table in the decoder
    norm: NormConfig = field(default_factory=NormConfig)
    activation: Activation = "relu"  # of the feed-forward part
    gated: bool = False  # multiply the activation by a second projection, as SwiGLU does
    bias: bool = True  # of the feed-forward projections
    dropout: DropoutConfig = field(default_factory=DropoutConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    front: FrontConfig = field(default_factory=FrontConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    kernel: int = 3  # convolution: how many neighbours a layer mixes
    bottleneck: int = 32  # autoencoder: how many numbers the code has
    share_layers: bool = False  # ALBERT: one layer, run `layers` times
    init_std: float | None = None  # normal with this standard deviation; None = Xavier for matrices, 1/√dim for tables

    def __post_init__(self) -> None:
        for name in ("dim", "hidden_dim", "layers", "max_len", "kernel", "bottleneck"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("decoder_layers", "target_vocab_size"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, or left out, not {getattr(self, name)}")
        if self.attention.heads < 1:
            raise ValueError(f"attention.heads must be at least 1, not {self.attention.heads}")
        if self.attention.head_dim is None and self.dim % self.attention.heads:
            raise ValueError(
                f"{self.attention.heads} heads do not divide a width of {self.dim}; choose a divisor or set head_dim"
            )
        for site, rate in {**vars(self.dropout), "head": self.head.dropout}.items():
            if not 0 <= rate < 1:
                raise ValueError(f"dropout.{site} must be at least 0 and below 1, not {rate}")
        self._check_positions()
        self._check_vocabulary()
        self._check_head()

    def _check_positions(self) -> None:
        """Buckets: half of a side's are exact, and the others widen from there to max_distance."""
        encoder = [(self.position, 2)] if self.shape in ("encoder", "encoder-decoder") else []  # past and future
        decoder = [(self.decoder_position or self.position, 1)] if self.shape in ("decoder", "encoder-decoder") else []
        for position, sides in [*encoder, *decoder]:
            if position.kind != "buckets":
                continue
            if position.buckets < 2 * sides:
                raise ValueError(f"position.buckets must be at least {2 * sides} here, not {position.buckets}")
            exact = position.buckets // sides // 2
            if position.max_distance <= exact:
                raise ValueError(
                    f"position.max_distance must be above {exact}, up to which {position.buckets} buckets are exact, "
                    f"not {position.max_distance}"
                )

    def _check_vocabulary(self) -> None:
        if (self.front.kind == "tokens" or self._scores_tokens) and self.vocab_size < 1:
            raise ValueError("vocab_size must say how many tokens there are")
        if self.shape == "decoder" and self.front.kind != "tokens":
            raise ValueError(f"a decoder alone reads tokens, not {self.front.kind}; give it an encoder")
        shared = self.embedding.tie in ("all", "inputs") and self.front.kind == "tokens"
        if shared and self.target_vocab_size not in (None, self.vocab_size):
            raise ValueError(
                f"source ({self.vocab_size} tokens) and target ({self.target_vocab_size}) cannot share one table; "
                'set embedding.tie to "output" or "none"'
            )

    def _check_head(self) -> None:
        if self.head.kind in ("class", "tags", "boxes", "masks") and self.head.labels < 1:
            raise ValueError(f"a head for {self.head.kind} needs head.labels, the number of classes")
        if self.head.kind in ("masks", "pixels") and self.front.kind != "patches":
            raise ValueError(f"a head for {self.head.kind} needs pictures; set front.kind to patches")
        self._check_decoder_head()
        self._check_copying()
        narrow = self.embedding.dim not in (None, self.dim)
        if narrow and self._scores_tokens and not self.head.transform:
            raise ValueError(
                f"states of width {self.dim} do not fit a table of width {self.embedding.dim}; set head.transform"
            )

    def _check_copying(self) -> None:
        """What is copied has to mean the same on both sides."""
        if self.shape != "encoder-decoder" or self.head.kind != "language-model" or not self.head.copy:
            return
        if self.front.kind != "tokens":
            raise ValueError(f"a model that reads {self.front.kind} has no tokens to copy; set head.copy to false")
        if self.target_vocab_size not in (None, self.vocab_size):
            raise ValueError("head.copy needs one vocabulary for source and target; leave target_vocab_size out")

    def _check_decoder_head(self) -> None:
        """An encoder–decoder writes tokens, or, from learned queries, boxes; the baselines write tokens alone."""
        if self.shape in ("encoder", "decoder") or self.head.kind == "language-model":
            return
        if self.shape != "encoder-decoder" or self.head.kind != "boxes":
            raise ValueError(f"a model of shape {self.shape} has no head for {self.head.kind}; use an encoder")
        if self.head.queries < 1:
            raise ValueError("an encoder–decoder that finds boxes needs head.queries, how many it can find at most")
        if self.front.kind != "patches":
            raise ValueError(f"boxes are found in pictures, not in {self.front.kind}; set front.kind to patches")
        if self.decoder_position is not None:
            raise ValueError("queries have no order, so they have no positions; leave decoder_position out")

    @property
    def _scores_tokens(self) -> bool:
        return self.shape != "autoencoder" and self.head.kind == "language-model"


# The settings that each kind of position scheme and head has.
POSITION_SETTINGS: dict[PositionKind, tuple[str, ...]] = {
    "none": (),
    "sinusoidal": ("base", "offset"),
    "split-sinusoidal": ("base", "offset"),
    "tensor2tensor": ("base", "offset"),
    "learned": ("offset",),
    "rotary": ("base", "pairs", "scaling", "factor"),
    "alibi": (),
    "buckets": ("buckets", "max_distance"),
    "shaw": ("max_distance",),
    "relative": (),
}
HEAD_SETTINGS: dict[str, tuple[str, ...]] = {
    "language-model": ("bias", "transform", "shrink", "copy"),
    "states": ("pooler",),
    "class": ("labels", "pool", "pooler", "pooler_activation", "class_bias", "dropout"),
    "tags": ("labels", "dropout"),
    "span": (),
    "boxes": ("labels", "queries"),
    "masks": ("labels",),
    "pixels": (),
}


def described(config: ModelConfig) -> dict[str, Any]:
    """The configuration as plain nested data, without settings that this model does not have and without None.

    A translator's description does not mention pictures. What is left out has no effect: parsed again, the
    description builds the same model.
    """
    missing = _missing(config)
    plain: dict[str, Any] = {}
    for name, value in _items(config):
        if name in missing or value is None:
            continue
        plain[name] = _describe_part(name, value, missing) if is_dataclass(value) else value
    return plain


def _describe_part(name: str, part: Any, missing: set[str]) -> dict[str, Any]:
    known: tuple[str, ...] | None = None  # None: all of them
    if isinstance(part, PositionConfig):
        known = ("kind", *POSITION_SETTINGS[part.kind])
    elif isinstance(part, HeadConfig):
        known = ("kind", *HEAD_SETTINGS[part.kind])
    return {
        setting: value
        for setting, value in _items(part)
        if value is not None and f"{name}.{setting}" not in missing and (known is None or setting in known)
    }


def _missing(c: ModelConfig) -> set[str]:
    """The settings, and whole parts, that have no effect in this model: one line per condition."""
    pictures, sound = c.front.kind == "patches", c.front.kind == "sound"
    flat = c.shape == "autoencoder" and pictures  # a picture as one row of numbers: no positions, no attention
    attentive = c.shape not in ("lstm", "convolution") and not flat
    finds = c.shape == "encoder-decoder" and c.head.kind == "boxes"
    writes = c.head.kind == "language-model" and not flat
    tokens = c.front.kind == "tokens" or writes
    present = {
        "front.picture front.patch front.channels": pictures,
        "front.mels": sound,
        "head.copy": c.shape == "encoder-decoder",
        "kernel": c.shape == "convolution",
        "bottleneck": c.shape == "autoencoder",
        "share_layers": attentive or c.shape == "convolution",
        "dim attention position dropout head": not flat,
        "decoder_layers decoder_position": c.shape != "encoder" and not flat,
        "vocab_size embedding": tokens,
        "target_vocab_size embedding.tie": writes,
        "max_len": tokens or sound,
        "hidden_dim": attentive or flat,
        "activation": attentive or flat or (writes and c.head.transform),
        "gated bias norm.place norm.final dropout.activation": attentive,
        "attention.kv_heads attention.bias attention.key_bias attention.scale": attentive,
        "norm": attentive or (tokens and c.embedding.norm) or (writes and c.head.transform),
        "attention.cross": c.shape == "lstm",
        "attention.window": attentive and c.shape != "encoder" and not finds,
        "position.factor": c.position.scaling != "none",
        "decoder_position.factor": c.decoder_position is not None and c.decoder_position.scaling != "none",
        "head.queries": finds,
        "head.pooler_activation": c.head.pooler,
    }
    return {name for names, there in present.items() if not there for name in names.split()}


def _items(part: Any) -> list[tuple[str, Any]]:
    return [(one.name, getattr(part, one.name)) for one in fields(part)]

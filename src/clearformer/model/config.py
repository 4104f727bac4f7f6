"""What a model is, as data: sizes and choices. `build.py` turns them into a model, once.

Every field that changes the mathematics is here and works for every family, so `config.json` describes a model
completely. The values of a published family are in `families.py`, those of a published size in `presets.py`.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from clearformer.model.config_checks import check_choices

Shape = Literal["encoder-decoder", "encoder", "decoder", "lstm", "convolution", "autoencoder", "conditioned", "pair"]
PositionKind = Literal[
    "none", "sinusoidal", "split-sinusoidal", "tensor2tensor", "learned",
    "rotary", "alibi", "buckets", "shaw", "relative", "disentangled", "grid",
]  # fmt: skip
Activation = Literal["relu", "gelu", "gelu-tanh", "quick-gelu", "silu", "tanh"]
Sides = Literal["both", "queries", "keys"]
Pool = Literal["first", "last", "mean", "weighted", "patches", "first-and-patches", "end", "slot", "attention"]


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """Heads and their shapes. kv_heads below heads is grouped-query, 1 is multi-query attention."""

    heads: int = 8  # attention heads of a layer
    kv_heads: int | None = None  # heads of keys and values; as many as heads if not given
    head_dim: int | None = None  # dim / heads if not given
    bias: bool = True  # of the four projections
    key_bias: bool | None = None  # Whisper: no bias on keys alone, where it could not change the weights
    out_bias: bool | None = None  # Qwen2: none on what is given back, though the other three have one
    norm: bool = False  # Qwen3, Gemma 3: an RMS norm of each head's queries and keys
    cap: float | None = None  # Gemma 2: scores bend towards this, cap·tanh(score / cap)
    scale: float | None = None  # 1/√head_dim if not given; T5 has 1 and scales its initialisation instead
    cross: bool = True  # False: the recurrent baseline without attention
    window: int | None = None  # how far back a decoder looks, and an encoder to both sides; None = everywhere
    wide: tuple[int, ...] = ()  # with a window: the layers, counted from 0, that look everywhere (Gemma, ModernBERT)


@dataclass(frozen=True, kw_only=True)
class PositionConfig:
    """How positions enter the model. Fields that a kind does not use have no effect."""

    # how positions are shown: added to the embeddings (waves, a table), by turning q and k (rotary), or in the scores
    kind: PositionKind = "sinusoidal"
    base: float = 10_000.0  # of the waves: sinusoidal kinds and rotary
    offset: int = 0  # the first position's number: a learned table leaves its first rows unused, waves start later
    pairs: Literal["neighbours", "halves"] = "halves"  # rotary: which two numbers turn together
    scaling: Literal["none", "linear", "ntk", "llama3"] = "none"  # rotary past its trained length
    factor: float = 1.0  # rotary with scaling: how many times the trained length
    low: float = 1.0  # llama3: waves with fewer turns than this in the trained length are stretched
    high: float = 4.0  # llama3: waves with more turns than this stay as they are
    trained: int = 8192  # llama3: the trained length
    turned: int | None = None  # rotary: how many features of a head turn, the first ones; None = all
    local_base: float | None = None  # rotary: the base in layers with a window, unscaled, where it is another
    absent: tuple[int, ...] = ()  # schemes in the attention: the layers, counted from 0, that have none (SmolLM3)
    buckets: int = 32  # T5: how many distances are told apart; disentangled: to each side, 0 = every distance
    each: bool = False  # trained biases: of each layer its own, not one table for the whole stack (UMT5, BEiT)
    max_distance: int = 128  # T5's last bucket; Shaw's clipping; the last distance of disentangled positions
    sides: Sides = "both"  # disentangled: whose tokens are matched with distances
    projected: bool = False  # disentangled: each layer projects distances by matrices of their own, not its tokens'
    normed: bool = False  # disentangled: a norm of the vectors of distances (DeBERTa 3)
    added: bool = False  # disentangled: a learned table is added to the embeddings, too


@dataclass(frozen=True, kw_only=True)
class NormConfig:
    """Which norm, where, and what keeps it from dividing by zero."""

    kind: Literal["layer", "rms", "batch"] = "layer"  # LayerNorm, RMSNorm, or BatchNorm (to show why not)
    # after each part as in 2017; before it, which needs no long warm-up; or before it and once more on what it adds
    place: Literal["post", "pre", "sandwich"] = "post"
    bias: bool = True  # LayerNorm: whether it also shifts
    eps: float = 1e-5  # added to the variance, against division by zero
    final: bool | None = None  # one more after the stack: pre-norm needs it; torch.nn.Transformer always has it
    first: bool = True  # encoder, pre-norm: before the first attention, even if the embeddings are normed


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
    early: bool = False  # with dim: widened as it is looked up, before positions are added and without a bias (OPT)
    scale: bool = False  # multiply by √dim
    types: int = 0  # BERT: a vector for each segment type
    norm: bool = False  # a norm after the sum of vectors, positions and types
    # which tables are one: source = target = output, source = target (T5 1.1), target = output, or none
    tie: Literal["all", "inputs", "output", "none"] = "all"


@dataclass(frozen=True, kw_only=True)
class FrontConfig:
    """What the encoder (or decoder) reads."""

    # ids of a text, patches of a picture, spectra of a recording, or its samples
    kind: Literal["tokens", "patches", "sound", "samples"] = "tokens"
    picture: int = 224  # patches: pixels on each side of a picture
    patch: int = 16  # patches: pixels on each side of a patch
    channels: int = 3  # patches: 1 for grey, 3 for colour
    # patches: each square by itself, or through small convolutions that see across their edges; these need a patch of
    # 2, 4, 8, 16 … pixels
    stem: Literal["patches", "convolution"] = "patches"
    patch_bias: bool = True  # patches by themselves: whether their projection has a bias; CLIP's has none
    stem_layers: int = 1  # convolution: how many before the picture is halved each time
    norm: bool = False  # patches, samples: a norm of all vectors before the first layer (CLIP, wav2vec 2.0)
    class_token: bool = True  # patches: one more vector before theirs; without it, pool their states in the head
    teacher_token: bool = False  # patches: a second one behind it, which learned from a teacher (DeiT)
    registers: int = 0  # patches: further ones without a place, for the network's own use (DINOv2 with registers)
    mels: int = 80  # sound: pitch bands

    @property
    def places(self) -> int:
        """Patches: how many vectors have a place of their own."""
        return (self.picture // self.patch) ** 2 + self.class_token + self.teacher_token

    @property
    def leading(self) -> int:
        """Patches: how many vectors stand before theirs."""
        return self.class_token + self.teacher_token + self.registers


@dataclass(frozen=True, kw_only=True)
class SamplesConfig:
    """How the samples of a recording become vectors: convolutions that shorten them, a projection, and one wide
    convolution that shows where each stands (wav2vec 2.0)."""

    widths: tuple[int, ...] = (512,) * 7  # channels of each convolution
    kernels: tuple[int, ...] = (10, 3, 3, 3, 3, 2, 2)  # how many values each reads at once
    strides: tuple[int, ...] = (5, 2, 2, 2, 2, 2, 2)  # how far apart it reads them
    bias: bool = False  # of the convolutions
    # each channel of the first convolution over the whole recording, or the channels of each place, in all of them
    norm: Literal["first", "each"] = "first"
    activation: Activation = "gelu"  # of all convolutions
    projected_norm: bool = True  # a norm before the projection
    place_kernel: int = 128  # how many vectors the wide convolution reads at once
    place_groups: int = 16  # into how many parts it cuts the width

    def __post_init__(self) -> None:
        if not len(self.widths) == len(self.kernels) == len(self.strides) > 0:
            raise ValueError("samples.widths, kernels and strides must have as many numbers, one for each convolution")
        for name in ("widths", "kernels", "strides"):
            if min(getattr(self, name)) < 1:
                raise ValueError(f"samples.{name} are whole numbers of at least 1, not {getattr(self, name)}")
        if min(self.place_kernel, self.place_groups) < 1:
            raise ValueError("samples.place_kernel and samples.place_groups must be at least 1")

    @property
    def hop(self) -> int:
        """Samples from one vector to the next."""
        return math.prod(self.strides)

    @property
    def reach(self) -> int:
        """Samples that one vector is made of."""
        return 1 + sum((kernel - 1) * math.prod(self.strides[:place]) for place, kernel in enumerate(self.kernels))


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What the states are turned into."""

    # what the model says of its states; the task sets it
    kind: Literal[
        "language-model", "states", "vector", "class", "tags", "span", "boxes", "masks", "pixels"
    ] = "language-model"  # fmt: skip
    labels: int = 0  # classes of the task
    bias: bool = False  # language model: one bias per token; vector: of its projection
    # language model: BERT's dense layer, activation and norm before the table; ModernBERT: before every last layer
    transform: bool = False
    transform_activation: Activation | None = None  # of that layer; the feed-forward's if not given
    transform_bias: bool = True  # of that layer
    narrow: bool = False  # language model: one matrix without a bias before a table that is narrower (OPT)
    shrink: bool = False  # language model: states / √dim before the table, as T5 does where its table is tied
    copy: bool = False  # language model of an encoder–decoder: a token may also be copied from the source
    cap: float | None = None  # language model: scores bend towards this (Gemma 2)
    # class and vector: which states represent the input: the first, the last, their mean, or a mean with learned
    # weights; of a picture also the mean of its patches alone (BEiT), or the first beside that (DINOv2); of a text also
    # the state of the token that ends it (CLIP); the last slot, whatever stands there, or what one trained query
    # gathers by attention (SigLIP)
    pool: Pool = "first"
    # pool = "end": the token that ends a text; None = the one with the highest number (CLIP's first checkpoints)
    end: int | None = None
    width: int | None = None  # vector: how many numbers it has, by one more projection; None = dim, without one
    pooled_norm: bool = False  # class: a norm of what represents the input (BEiT)
    taught: bool = False  # class: a second classifier reads the teacher token, and the mean of both counts (DeiT)
    pooler: bool = False  # class and states: BERT's dense layer and tanh on the first state
    pooler_activation: Activation = "tanh"  # class: the pooler's activation; DistilBERT: relu
    class_bias: bool = True  # class: one bias per class
    dropout: float = 0.0  # class and tags: of the states that are classified
    # masks: each patch paints its own square, or convolutions bring the resolution back with what the stem saw
    decoder: Literal["squares", "convolution"] = "squares"
    narrowest: int = 32  # masks by convolution: channels of the maps at the picture's own size
    queries: int = 0  # boxes of an encoder–decoder: how many it can find at most
    helper: bool = False  # boxes of an encoder: a second head in training, whose patches may share an object


@dataclass(frozen=True, kw_only=True)
class ConditionConfig:
    """What a conditioned stack is told besides its input."""

    classes: int = 1  # classes that it can be told; the task sets it
    causal: bool = False  # a place sees only those before it, to write from left to right; the task sets it


@dataclass(frozen=True, kw_only=True)
class PairConfig:
    """Two networks that make vectors of one space, of texts and of pictures (CLIP, SigLIP)."""

    texts: "ModelConfig"  # the network that reads texts; its head makes a vector
    pictures: "ModelConfig"  # the network that reads pictures; its head makes a vector of as many numbers
    # whether a text fits a picture is a matter of these two alone, and a trained number is added to the score (SigLIP);
    # otherwise the texts that are given compete (CLIP)
    each: bool = False


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
    experts: int | None = None  # feed-forward parts of each layer, of which a token goes through a few (Mixtral)
    chosen: int = 2  # experts: how many a token goes through
    rescaled: bool = True  # experts: the shares of those that are chosen sum to one
    parallel: bool = False  # decoder: attention and feed-forward read the same input, and both are added (GPT-NeoX)
    dropout: DropoutConfig = field(default_factory=DropoutConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    front: FrontConfig = field(default_factory=FrontConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    samples: SamplesConfig = field(default_factory=SamplesConfig)
    condition: ConditionConfig = field(default_factory=ConditionConfig)
    kernel: int = 3  # convolution: how many neighbours a layer mixes
    bottleneck: int = 32  # autoencoder: how many numbers the code has
    share_layers: bool = False  # ALBERT: one layer, run `layers` times
    # pre-norm: what a part adds is multiplied feature by feature by trained numbers, which begin at this (DINOv2, BEiT)
    layer_scale: float | None = None
    pair: PairConfig | None = None  # the two networks of a pair, which is imported and not trained here
    init_std: float | None = None  # normal with this standard deviation; None = Xavier for matrices, 1/√dim for tables

    def __post_init__(self) -> None:
        if self.pair is None:  # of which everything else is said, and checked, by its two networks
            check_choices(self)

    @property
    def vector_width(self) -> int:
        """How many numbers the vector of a head for vectors has."""
        return self.head.width or self.dim

    @property
    def of_texts(self) -> "ModelConfig":
        """What reads texts, of a pair; any other model is itself."""
        return self if self.pair is None else self.pair.texts

    @property
    def of_pictures(self) -> "ModelConfig":
        """What reads pictures, of a pair; any other model is itself."""
        return self if self.pair is None else self.pair.pictures

    @property
    def paints_by_convolution(self) -> bool:
        """Whether masks come from a decoder that looks back at the stem's maps."""
        return self.head.kind == "masks" and self.head.decoder == "convolution"

    @property
    def scores_tokens(self) -> bool:
        """Whether what comes out is a score for every token of the vocabulary."""
        return self.shape != "autoencoder" and self.head.kind == "language-model"

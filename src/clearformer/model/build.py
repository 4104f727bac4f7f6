"""From configuration to model: `build_parts.py` turns words into parts, and here the parts become whole models.

Layers receive objects and never test names.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from torch import nn

from clearformer.model import positions
from clearformer.model.baselines.autoencoder import CodeFrontend, SequenceAutoencoder, VectorAutoencoder
from clearformer.model.baselines.convolution import (
    ConvolutionalDecoder,
    ConvolutionalDecoderLayer,
    ConvolutionalEncoder,
    ConvolutionalEncoderLayer,
    HopAttention,
)
from clearformer.model.baselines.picture_convolution import PictureConvolution, PictureConvolutionLayer
from clearformer.model.baselines.recurrent import (
    AdditiveAttention,
    AttentiveDecoder,
    PlainDecoder,
    RecurrentEncoder,
)
from clearformer.model.build_parts import (
    ACTIVATIONS,
    HEADS,
    attention,
    embedded_position,
    feed_forward,
    final_norm,
    front,
    fronts,
    language_model,
    layer_positions,
    norm,
    plain_residual,
    residual,
    token_front,
)
from clearformer.model.conditioned import (
    AdaptiveResidual,
    ConditionedEncoder,
    ConditionedLayer,
    ConditionedModel,
    Told,
)
from clearformer.model.config import FrontConfig, HeadConfig, ModelConfig
from clearformer.model.copying import CopyingHead
from clearformer.model.frontends import QueryFrontend
from clearformer.model.init import initialise
from clearformer.model.layers import DecoderLayer, EncoderLayer, ParallelDecoderLayer
from clearformer.model.mask_network import MaskDecoder, MaskNetwork, Pyramid
from clearformer.model.pair import ContrastivePair
from clearformer.model.transformer import (
    Decoder,
    DecoderOnly,
    Encoder,
    EncoderDecoder,
    EncoderOnly,
    EncoderQueryDecoder,
    QueryDecoder,
)

Layer = TypeVar("Layer", bound=nn.Module)


def build(config: ModelConfig) -> nn.Module:
    """The model that a configuration describes, with random weights. On the meta device nothing is allocated."""
    model = SHAPES[config.shape](config)
    if config.pair is not None:  # its two networks were drawn when they were built
        return model
    initialise(model, std=config.init_std, residual_layers=config.layers)
    return model


def encoder_decoder(c: ModelConfig) -> EncoderDecoder | EncoderQueryDecoder:
    """An encoder, a decoder that attends to it, and a score for every token, or a box for every learned query."""
    if c.head.kind == "boxes":
        inputs, queries = front(c), QueryFrontend(c.head.queries, c.dim, dropout=c.dropout.embedding)
        return EncoderQueryDecoder(encoder(c, inputs), query_decoder(c, queries), HEADS["boxes"](c, queries))
    source, target = fronts(c)
    words = language_model(c, target)
    head = CopyingHead(words, c.dim) if c.head.copy else words
    return EncoderDecoder(encoder(c, source), decoder(c, target, cross=True), head)


def encoder_only(c: ModelConfig) -> EncoderOnly | MaskNetwork:
    """An encoder and the head of its task; with the stem beside them where the head looks back at what it saw."""
    if c.paints_by_convolution:
        return mask_network(c)
    inputs = front(c)
    return EncoderOnly(encoder(c, inputs), HEADS[c.head.kind](c, inputs))


def mask_network(c: ModelConfig) -> MaskNetwork:
    """A stem, an encoder over its smallest map, whose places are the patches, and convolutions back to every pixel."""
    halvings = c.front.patch.bit_length() - 1
    widths = [max(c.dim >> left, min(c.head.narrowest, c.dim)) for left in reversed(range(halvings + 1))]
    side = c.front.picture // c.front.patch
    places = FrontConfig(kind="patches", picture=side, patch=1, channels=c.dim, class_token=False)
    return MaskNetwork(
        Pyramid(c.front.channels, widths, layers=c.front.stem_layers),
        encoder(c, front(replace(c, front=places, head=HeadConfig(kind="states")))),
        MaskDecoder(c.dim, widths, channels=c.head.labels, layers=c.front.stem_layers),
    )


def decoder_only(c: ModelConfig) -> DecoderOnly:
    """A decoder that attends to itself alone."""
    inputs = token_front(c, c.vocab_size, c.position)
    return DecoderOnly(decoder(c, inputs, cross=False), HEADS[c.head.kind](c, inputs))


def recurrent(c: ModelConfig) -> EncoderDecoder:
    """An LSTM that reads and one that writes; the second attends to what was read, or only starts from its end."""
    source, target = fronts(c)
    count, drop = _decoder_layers(c), c.dropout.residual
    reader = RecurrentEncoder(source, c.dim, layers=c.layers, dropout=drop)
    writer: AttentiveDecoder | PlainDecoder
    if c.attention.cross:
        look = AdditiveAttention(c.dim, heads=c.attention.heads, dropout=c.dropout.attention)
        writer = AttentiveDecoder(target, c.dim, layers=count, cross_attn=look, dropout=drop)
    else:
        writer = PlainDecoder(target, c.dim, layers=count, dropout=drop)
    return EncoderDecoder(reader, writer, language_model(c, target))


def convolutional(c: ModelConfig) -> EncoderDecoder | EncoderOnly:
    """Convolutions instead of attention: a writer of texts, or a reader of pictures."""
    return convolutional_pictures(c) if c.front.kind == "patches" else convolutional_texts(c)


def convolutional_pictures(c: ModelConfig) -> EncoderOnly:
    """Convolutions over the places of a picture, and the head of its task."""
    inputs = front(c)

    def layer(number: int) -> PictureConvolutionLayer:
        return PictureConvolutionLayer(c.dim, kernel=c.kernel, dropout=c.dropout.residual)

    reader = PictureConvolution(inputs, repeat(layer, c.layers, c.share_layers), c.dim)
    return EncoderOnly(reader, HEADS[c.head.kind](c, inputs))


def convolutional_texts(c: ModelConfig) -> EncoderDecoder:
    """Gated convolutions on both sides, attention in every decoder layer."""
    source, target = fronts(c)
    drop = c.dropout.residual

    def reading(_: int) -> ConvolutionalEncoderLayer:
        return ConvolutionalEncoderLayer(c.dim, kernel=c.kernel, dropout=drop)

    def writing(_: int) -> ConvolutionalDecoderLayer:
        look = HopAttention(c.dim, heads=c.attention.heads, dropout=c.dropout.attention)
        return ConvolutionalDecoderLayer(c.dim, kernel=c.kernel, cross_attn=look, dropout=drop)

    reader = ConvolutionalEncoder(source, repeat(reading, c.layers, c.share_layers))
    layers = repeat(writing, _decoder_layers(c), c.share_layers)
    writer = ConvolutionalDecoder(target, layers, kernel=c.kernel, dropout=drop)
    return EncoderDecoder(reader, writer, language_model(c, target))


def sequence_autoencoder(c: ModelConfig) -> SequenceAutoencoder:
    """An encoder averaged to one code, and a stack that reconstructs the tokens from it."""
    inputs = front(c)
    position = embedded_position(c.decoder_position or c.position, c.max_len, c.dim) or positions.NoPosition()
    outputs = CodeFrontend(c.bottleneck, c.dim, position, c.dropout.embedding)
    return SequenceAutoencoder(
        encoder(c, inputs),
        decoder(c, outputs, cross=False),
        language_model(c, inputs),
        dim=c.dim,
        bottleneck=c.bottleneck,
        max_len=c.max_len,
    )


def picture_autoencoder(c: ModelConfig) -> VectorAutoencoder:
    """Pictures as flat rows of numbers through fully connected layers."""
    return VectorAutoencoder(
        (c.front.channels, c.front.picture, c.front.picture),
        c.bottleneck,
        hidden_dim=c.hidden_dim,
        layers=c.layers,
        activation=ACTIVATIONS[c.activation],
    )


def autoencoder(c: ModelConfig) -> SequenceAutoencoder | VectorAutoencoder:
    """Reconstructs what the front end reads: tokens or pictures."""
    makers: dict[str, Callable[[ModelConfig], SequenceAutoencoder | VectorAutoencoder]] = {
        "tokens": sequence_autoencoder,
        "patches": picture_autoencoder,
    }
    if c.front.kind not in makers:
        raise ValueError(f"an autoencoder reconstructs {' or '.join(makers)}, not {c.front.kind}; set front.kind")
    return makers[c.front.kind](c)


def conditioned(c: ModelConfig) -> ConditionedModel:
    """A stack that is told a class, and, where it draws pictures out of noise, how much of one is there already."""
    c = replace(c, front=replace(c.front, class_token=False))  # every state stands for a patch
    inputs = front(c)
    told = Told(c.dim, c.condition.classes, times=c.front.kind == "patches")
    scheme = layer_positions(c, c.position, bidirectional=not c.condition.causal)

    def layer(number: int) -> ConditionedLayer:
        return ConditionedLayer(
            self_attn=attention(c, scheme(number)),
            ffn=feed_forward(c),
            residual=lambda: AdaptiveResidual(norm(c), c.dim, c.dropout.residual),
        )

    layers = repeat(layer, c.layers, c.share_layers)
    encoder = ConditionedEncoder(inputs, layers, norm(c), told, causal=c.condition.causal)
    return ConditionedModel(encoder, HEADS[c.head.kind](c, inputs))


def pair(c: ModelConfig) -> ContrastivePair:
    """Two whole networks side by side, whose vectors are compared."""
    if c.pair is None:
        raise ValueError('a model of the shape "pair" says under `pair` what its two networks are')
    for name, one, read in (("texts", c.pair.texts, "tokens"), ("pictures", c.pair.pictures, "patches")):
        if one.front.kind != read or one.head.kind != "vector":
            raise ValueError(
                f"pair.{name} must read {read} and have a head for a vector, but it reads {one.front.kind} and has one "
                f"for {one.head.kind}"
            )
    texts, pictures = c.pair.texts.vector_width, c.pair.pictures.vector_width
    if texts != pictures:
        raise ValueError(f"texts become vectors of {texts} numbers and pictures of {pictures}; they cannot be compared")
    return ContrastivePair(build(c.pair.texts), build(c.pair.pictures), each=c.pair.each)


SHAPES: dict[str, Callable[[ModelConfig], nn.Module]] = {
    "encoder-decoder": encoder_decoder,
    "encoder": encoder_only,
    "decoder": decoder_only,
    "lstm": recurrent,
    "convolution": convolutional,
    "autoencoder": autoencoder,
    "conditioned": conditioned,
    "pair": pair,
}


def encoder(c: ModelConfig, inputs: nn.Module) -> Encoder:
    """A stack in which every position sees every other, or those near it."""
    scheme = layer_positions(c, c.position, bidirectional=True)
    starts_bare = c.norm.place == "pre" and not c.norm.first and not c.share_layers

    def layer(number: int) -> EncoderLayer:
        bare = plain_residual(c) if starts_bare and number == 0 else None
        return EncoderLayer(
            self_attn=attention(c, scheme(number)), ffn=feed_forward(c), residual=residual(c), attn_residual=bare
        )

    layers = repeat(layer, c.layers, c.share_layers)
    if c.shape != "encoder":  # the window is the decoder's
        return Encoder(inputs, layers, final_norm(c))
    return Encoder(inputs, layers, final_norm(c), window=c.attention.window, wide=c.attention.wide)


def decoder(c: ModelConfig, inputs: nn.Module, *, cross: bool) -> Decoder:
    """A stack in which a position sees those before it."""
    scheme = layer_positions(c, c.decoder_position or c.position, bidirectional=False)
    side_by_side = c.parallel and c.shape == "decoder"
    layers = parallel_layers(c, scheme) if side_by_side else decoder_layers(c, scheme, cross=cross)
    wide = () if c.attention.window is None else c.attention.wide
    return Decoder(inputs, layers, final_norm(c), window=c.attention.window, wide=wide)


def query_decoder(c: ModelConfig, inputs: QueryFrontend) -> QueryDecoder:
    """A stack of queries that see one another; they are a set, so no position scheme acts on them."""
    return QueryDecoder(inputs, decoder_layers(c, lambda _: None, cross=True), final_norm(c))


def decoder_layers(
    c: ModelConfig, scheme: Callable[[int], positions.NoPosition | None], *, cross: bool
) -> list[DecoderLayer]:
    """As many as the decoder has. scheme: makes the position scheme of a layer's self-attention."""

    def layer(number: int) -> DecoderLayer:
        return DecoderLayer(
            self_attn=attention(c, scheme(number)),
            cross_attn=attention(c) if cross else None,
            ffn=feed_forward(c),
            residual=residual(c),
        )

    return repeat(layer, _decoder_layers(c), c.share_layers)


def parallel_layers(c: ModelConfig, scheme: Callable[[int], positions.NoPosition | None]) -> list[ParallelDecoderLayer]:
    """The same of a decoder whose parts stand side by side."""

    def layer(number: int) -> ParallelDecoderLayer:
        own = attention(c, scheme(number))
        return ParallelDecoderLayer(self_attn=own, ffn=feed_forward(c), residual=residual(c))

    return repeat(layer, _decoder_layers(c), c.share_layers)


def _decoder_layers(c: ModelConfig) -> int:
    return c.layers if c.decoder_layers is None else c.decoder_layers


def repeat(layer: Callable[[int], Layer], count: int, share: bool) -> list[Layer]:
    """`count` layers, each with its own weights, or one layer `count` times. layer: makes one from its number."""
    return [layer(0)] * count if share else [layer(number) for number in range(count)]

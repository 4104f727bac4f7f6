"""A Whisper-style model in CTranslate2's layout: the same weights, banned tokens, and alignment heads."""

from types import ModuleType
from typing import Any

from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.interop.ctranslate2_stacks import Weights, fill_layers, fill_norm, waves
from clearformer.model.config import ModelConfig


def reasons_against_speech(config: ModelConfig, sound: SoundFacts | None) -> list[str]:
    """What the engine's Whisper cannot express of a model that writes speech down."""
    places = config.position, config.decoder_position or config.position
    foreign = {
        "it is an encoder alone": config.shape != "encoder-decoder",
        "its norms are not layer norms before each part": config.norm.kind != "layer"
        or config.norm.place != "pre"
        or config.norm.final is False,
        f"its activation is {config.activation}": config.activation != "gelu" or config.gated,
        f"its positions are {places[0].kind} and {places[1].kind}": (places[0].kind, places[1].kind)
        != ("tensor2tensor", "learned"),
        "what its parts add is scaled by trained numbers": config.layer_scale is not None,
        "its heads are of another width, or share keys": config.attention.head_dim is not None
        or config.attention.kv_heads is not None,
        "its tokens are scaled, normed or have types": config.embedding.scale
        or config.embedding.norm
        or config.embedding.types > 0,
        "its head is not the table of tokens alone": config.head.kind != "language-model"
        or config.head.transform
        or config.head.bias
        or config.head.shrink,
        "it reads recordings as long as they are": sound is not None and not sound.fill,
    }
    return [reason for reason, applies in foreign.items() if applies]


def describe_speech(specs: ModuleType, config: ModelConfig, read: Preprocessing, weights: Weights) -> Any:
    """The engine's own description, filled with these weights."""
    facts = read.sound or SoundFacts(mels=config.front.mels)
    heads, count = config.attention.heads, config.layers if config.decoder_layers is None else config.decoder_layers
    spec = specs.WhisperSpec(config.layers, heads, count, heads)
    for conv, name in ((spec.encoder.conv1, "narrow"), (spec.encoder.conv2, "halve")):
        conv.weight = weights.take(f"encoder.front.{name}.weight")
        conv.bias = weights.take(f"encoder.front.{name}.bias")
    states = round(facts.seconds * facts.sample_rate / facts.hop) // 2
    spec.encoder.position_encodings.encodings = waves(config.position, states, config.dim)
    table = weights.take("decoder.front.embed.weight")
    spec.decoder.embeddings.weight = table
    spec.decoder.position_encodings.encodings = weights.take("decoder.front.position.table.weight")
    spec.decoder.projection.weight = weights.take("head.table") if "head.table" in weights else table
    for name, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        fill_norm(stack.layer_norm, f"{name}.norm", config, weights)
        fill_layers(stack, name, config, weights)
    weights.finish()
    spec.config.suppress_ids = list(facts.never)
    spec.config.suppress_ids_begin = list(facts.never_first)
    if facts.tongues:
        spec.config.lang_ids = [read.sides[1].id(f"<|{code}|>") for code in facts.tongues]
    upper = [(layer, head) for layer in range(count // 2, count) for head in range(heads)]
    spec.config.alignment_heads = [list(pair) for pair in facts.heads or upper]
    return spec

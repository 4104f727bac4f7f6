"""A model folder for CTranslate2, the fast engine for CPUs: the same weights in its layout.

The result is a folder for CTranslate2 and for us at once: its `config.json` has the keys of both, so either program
opens it. The weights are read and written as NumPy arrays; PyTorch is not needed, and not imported.

An encoder–decoder is converted whole. Of a model that only reads, the engine runs the encoder; the head's weights lie
beside its file, and `inference/ctranslate2_reader.py` applies them.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from safetensors.numpy import save

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.foundation import settings, storage
from clearformer.interop.ctranslate2_speech import describe_speech, reasons_against_speech
from clearformer.interop.ctranslate2_stacks import WAVES, Weights, fill_stack, input_table, places_known, stack_settings
from clearformer.model.config import ModelConfig
from clearformer.text.tokenizer import Tokenizer

Quantization = Literal["float32", "int16", "int8", "int8_float32"]
KNOWN_PLACES = (*WAVES, "learned", "none", "rotary", "buckets")
LAYOUT = 1  # version of what is written here; copies with an older layout are converted again
HEAD = "head.safetensors"  # of a model that only reads: what is done with the states that the engine returns
HEADS = ("class", "tags", "span", "states")


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
    check(config, opened.preprocessing.sound)
    if opened.description.adapters is not None:
        raise ValueError(
            f"ctranslate2 wants whole weights, and {opened.path} holds adapters; merge them first: clearformer export "
            f"{opened.path} FOLDER --to clearformer"
        )
    read = opened.preprocessing
    weights = Weights(opened.path / "model.safetensors")
    spec = _described(config, read, weights)
    spec.validate()
    spec.optimize(quantization)
    with storage.new_folder(out) as aside:
        spec.save(str(aside))
        made = {
            "quantization": quantization,
            "layout": LAYOUT,
            "made_from": opened.fingerprint,
            "places": places_known(config),
            "shortlist": shortlist is not None,
        }
        theirs = storage.read_json(aside / "config.json")
        storage.write_json(aside / "config.json", opened.description.plain() | theirs | {"ctranslate2": made})
        read.save_files(aside)
        if not _writes(config):
            (aside / HEAD).write_bytes(save(weights.below("head.")))
        if shortlist is not None:
            shortlist(aside / "vmap.txt")


def _described(config: ModelConfig, read: Preprocessing, weights: Weights) -> Any:
    """The engine's own description of a model, with its vocabularies."""
    if config.front.kind == "sound":
        spec = describe_speech(_specs(), config, read, weights)
        spec.register_vocabulary(token_names(read.sides[1], config.vocab_size))
        return spec
    spec = describe(config, weights) if _writes(config) else describe_encoder(config, weights)
    (_name_both_sides if _writes(config) else _name_tokens)(spec, config, read)
    return spec


def check(config: ModelConfig, sound: SoundFacts | None = None) -> None:
    """Refuse, by name, a model that the engine cannot express. sound: how recordings are read, where they are."""
    if reasons := reasons_against(config, sound):
        raise ValueError(f"ctranslate2 cannot run this {config.family}: {'; '.join(reasons)}; use the torch engine")


def reasons_against(config: ModelConfig, sound: SoundFacts | None = None) -> list[str]:
    """What the engine cannot express of a model; empty for a model that it can run."""
    if config.front.kind == "sound":
        return reasons_against_speech(config, sound)
    if config.shape not in ("encoder-decoder", "encoder"):
        return [f"its shape is {config.shape}, neither an encoder–decoder of attention nor an encoder"]
    foreign: dict[str, bool] = {
        f"it reads {config.front.kind}, not tokens": config.front.kind != "tokens",
        f"its norm is {config.norm.kind}": config.norm.kind not in ("layer", "rms"),
        "its embeddings are narrower than the model": config.embedding.dim not in (None, config.dim),
        "its norms have no bias": config.norm.kind == "layer" and not config.norm.bias,
        "its norms stand before and behind each part": config.norm.place == "sandwich",
        "its first attention has no norm before it": config.norm.place == "pre" and not config.norm.first,
        "its layers have biases of distance each of their own": any(
            place.kind == "buckets" and place.each for place in (config.position, config.decoder_position) if place
        ),
        "its feed-forward parts are experts": config.experts is not None,
        "its queries and keys are normed": config.attention.norm,
        "what its parts add is scaled by trained numbers": config.layer_scale is not None,
        "what its class is read from is normed": config.head.kind == "class" and config.head.pooled_norm,
        "its scores are capped": config.attention.cap is not None or config.head.cap is not None,
        "some of its layers have no positions, or others": bool(config.position.absent)
        or config.position.local_base is not None,
        "its rotary waves are bent as Llama 3 bends them": config.position.scaling == "llama3",
        "only a part of each head is rotated": config.position.turned is not None,
        **(_against_writer(config) if _writes(config) else _against_reader(config)),
    }
    return [reason for reason, applies in foreign.items() if applies]


def _writes(config: ModelConfig) -> bool:
    return config.shape == "encoder-decoder"


def _against_writer(config: ModelConfig) -> dict[str, bool]:
    """What may stand against an encoder–decoder."""
    places = (config.position, config.decoder_position or config.position)
    mixed = {"rotary", "buckets"} & {place.kind for place in places} and places[0] != places[1]
    return {
        f"its head is for {config.head.kind}, not for tokens": config.head.kind != "language-model",
        "its final norms are not where its norm placement puts them": config.norm.final
        not in (None, config.norm.place == "pre"),
        "its decoder looks back through a window": config.attention.window is not None,
        "its tokens have types": config.embedding.types > 0,
        "its output has an extra layer before the table": config.head.transform,
        "its head copies from the source": config.head.copy,
        **{f"its positions are {place.kind}": place.kind not in KNOWN_PLACES for place in dict.fromkeys(places)},
        "its encoder and decoder use position schemes that cannot be combined": bool(mixed),
    }


def _against_reader(config: ModelConfig) -> dict[str, bool]:
    """What may stand against an encoder alone, whose head is ours to apply."""
    return {
        f"its head is for {config.head.kind}, not for {', '.join(HEADS)}": config.head.kind not in HEADS,
        "it has a norm after the last layer, which is normed already": config.norm.place == "post"
        and config.norm.final is True,
        f"its positions are {config.position.kind}": config.position.kind not in KNOWN_PLACES,
        "it looks through a window": config.attention.window is not None,
        "its head has an extra layer": config.head.transform and config.head.kind in ("class", "tags", "span"),
    }


def describe(config: ModelConfig, weights: Weights) -> Any:
    """The engine's own description of an encoder–decoder, filled with these weights."""
    specs = _specs()
    encoder = specs.TransformerEncoderSpec(
        config.layers, config.attention.heads, **stack_settings(specs, config, encoder=True)
    )
    count = config.layers if config.decoder_layers is None else config.decoder_layers
    decoder = specs.TransformerDecoderSpec(
        count,
        config.attention.heads,
        alignment_layer=max(0, count - 2),  # what `Translator.align` looks at: all heads of the last layer but one
        alignment_heads=config.attention.heads,
        **stack_settings(specs, config, encoder=False),
    )
    fill_stack(encoder, "encoder", config, config.position, weights)
    fill_stack(decoder, "decoder", config, config.decoder_position or config.position, weights)
    decoder.projection.weight = weights.take(_output_table(weights))
    if config.head.bias:
        decoder.projection.bias = weights.take("head.bias")
    if config.head.shrink:
        decoder.scale_outputs = float(config.dim**-0.5)
    weights.finish()
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.layer_norm_epsilon = config.norm.eps
    return spec


def _output_table(weights: Weights) -> str:
    return "head.table" if "head.table" in weights else input_table("decoder", weights)


def describe_encoder(config: ModelConfig, weights: Weights) -> Any:
    """The engine's own description of an encoder, filled with these weights; the head's are left."""
    specs = _specs()
    chosen = stack_settings(specs, config, encoder=True) | {"no_final_norm": config.norm.final is False}
    if config.embedding.types:
        chosen |= {"num_source_embeddings": 2, "embeddings_merge": specs.EmbeddingsMerge.ADD}
    encoder = specs.TransformerEncoderSpec(config.layers, config.attention.heads, **chosen)
    fill_stack(encoder, "encoder", config, config.position, weights)
    if config.embedding.types:
        # The engine scales the sum of both vectors, we scale the token's alone.
        scale = config.dim**0.5 if config.embedding.scale else 1.0
        encoder.embeddings[1].weight = weights.take("encoder.front.type_embed.weight") / scale
    weights.finish(but="head.")
    spec = specs.TransformerEncoderModelSpec(encoder)
    spec.config.layer_norm_epsilon = config.norm.eps
    return spec


def _name_both_sides(spec: Any, config: ModelConfig, read: Preprocessing) -> None:
    """The vocabularies in the engine's form: a name for each row of the tables, and which of them are special."""
    source, target = read.sides
    spec.register_source_vocabulary(token_names(source, config.vocab_size))
    names = token_names(target, config.target_vocab_size or config.vocab_size)
    spec.register_target_vocabulary(names)
    start = names[read.framing.start]
    spec.config.bos_token = spec.config.decoder_start_token = start
    spec.config.eos_token = names[target.eos_id]
    spec.config.unk_token = names[target.special_ids.get("unk", target.eos_id)]


def _name_tokens(spec: Any, config: ModelConfig, read: Preprocessing) -> None:
    """The same for the one vocabulary of a model that only reads; it is asked by ids, and the names are for people."""
    tokenizer = read.sides[0]
    names = token_names(tokenizer, config.vocab_size)
    spec.register_vocabulary(names)
    spec.config.unk_token = names[tokenizer.special_ids.get("unk", 0)]


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

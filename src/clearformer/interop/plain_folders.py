"""Small models in special formats: llama2.c's two files, and OpenNMT's arrays with a description.

Both are recognised by the contents of their files, not by a name alone.
"""

import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tokenizers
import torch
from numpy.typing import NDArray
from tokenizers import decoders, models, processors
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import storage
from clearformer.interop import sentencepiece
from clearformer.interop.config_keys import Keys
from clearformer.interop.foreign_files import open_binary, read_bytes, read_json, read_text, size_of
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.renaming import RenamingTable, Rule, Shape, pairs, under
from clearformer.interop.sentencepiece import Piece, Proto
from clearformer.interop.tensor_files import ARRAYS, Arrays
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.families import llama, transformer
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer

Reader = Callable[[Path], Imported]


def recognise(folder: Path) -> Reader | None:
    """The reader for a folder, if it is of one of these formats."""
    if _llama2c_files(folder) is not None:
        return read_llama2c
    if (folder / ARRAYS).is_file() and (folder / "source_vocabulary.txt").is_file():
        return read_opennmt_arrays
    return None


# ---- llama2.c -------------------------------------------------------------------------------------------------------

_HEADER = struct.Struct("<7i")  # dim, hidden_dim, layers, heads, kv_heads, vocabulary (negative: not tied), length


def read_llama2c(folder: Path) -> Imported:
    """A model of llama2.c: seven numbers, then all weights, part by part, the layers of a part one after another."""
    files = _llama2c_files(folder)
    assert files is not None
    weights, vocabulary = files
    dim, hidden, layers, heads, kv_heads, signed, length = _header(weights)
    tied, vocab = signed > 0, abs(signed)
    config = llama(
        vocab_size=vocab,
        dim=dim,
        hidden_dim=hidden,
        layers=layers,
        max_len=length,
        attention=AttentionConfig(heads=heads, kv_heads=kv_heads, bias=False),
        position=PositionConfig(kind="rotary", pairs="neighbours"),
        norm=NormConfig(kind="rms", place="pre", eps=1e-5),
        embedding=EmbeddingConfig(tie="all" if tied else "none"),
    )
    store = _Parts(weights, _llama2c_parts(config))
    rules = [Rule(f"decoder.{ours}", name) for ours, name in (("front.embed.weight", "embed"), ("norm.weight", "norm"))]
    rules += [Rule("head.table", "head")]
    rules += [Rule(f"decoder.layers.*.{ours}.weight", f"{name}.*") for ours, name in _LLAMA2C_LAYER.items()]
    model, aside = assemble(config, RenamingTable(rules, aside={"waves*": "angles that follow from the sizes"}), store)
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(tokenizer=_llama2c_tokenizer(vocabulary, vocab)),
        provenance={"imported_from": folder.resolve().name, "format": "llama2.c", "files": _checksums(*files)},
    )
    return Imported(bundle=found, aside=aside)


_LLAMA2C_LAYER = {
    "self_attn_residual.before": "attention_norm",
    "self_attn.q_proj": "wq",
    "self_attn.k_proj": "wk",
    "self_attn.v_proj": "wv",
    "self_attn.out_proj": "wo",
    "ffn_residual.before": "ffn_norm",
    "ffn.gate_proj": "w1",
    "ffn.down_proj": "w2",
    "ffn.up_proj": "w3",
}


def _llama2c_files(folder: Path) -> tuple[Path, Path] | None:
    """The weights and the vocabulary (tok*.bin or tokenizer.bin), if there is just one of each."""
    found = sorted(folder.glob("*.bin"))
    vocabularies = [path for path in found if path.name.startswith("tok")]
    weights = [path for path in found if path not in vocabularies]
    return (weights[0], vocabularies[0]) if len(weights) == len(vocabularies) == 1 else None


def _header(path: Path) -> tuple[int, ...]:
    with open_binary(path) as file:
        start = file.read(_HEADER.size)
    if len(start) < _HEADER.size:
        raise ValueError(f"{path} is shorter than a header; download it again")
    numbers = _HEADER.unpack(start)
    dim, _, layers, heads, kv_heads, vocab, _ = numbers
    sensible = all(0 < abs(number) <= 1 << 24 for number in numbers) and layers <= 512
    if not sensible or vocab == 0 or dim % heads or heads % kv_heads:
        raise ValueError(f"{path} does not begin with the sizes of a llama2.c model, but with {numbers}")
    return numbers


def _llama2c_parts(config: ModelConfig) -> list[tuple[str, int, Shape]]:
    """Each part of the file: its name, how many layers it has (0: it is not per layer), and the shape of one."""
    dim, hidden, layers = config.dim, config.hidden_dim, config.layers
    heads = config.attention
    width = dim // heads.heads
    keys = (heads.kv_heads or heads.heads) * width
    vocab = (config.vocab_size, dim)
    return [
        ("embed", 0, vocab),
        ("attention_norm", layers, (dim,)),
        ("wq", layers, (dim, dim)),
        ("wk", layers, (keys, dim)),
        ("wv", layers, (keys, dim)),
        ("wo", layers, (dim, dim)),
        ("ffn_norm", layers, (dim,)),
        ("w1", layers, (hidden, dim)),
        ("w2", layers, (dim, hidden)),
        ("w3", layers, (hidden, dim)),
        ("norm", 0, (dim,)),
        ("waves_real", 0, (config.max_len, width // 2)),
        ("waves_imaginary", 0, (config.max_len, width // 2)),
        *([] if config.embedding.tie == "all" else [("head", 0, vocab)]),
    ]


class _Parts:
    """A file of float32 numbers, one part after another, as a store."""

    def __init__(self, path: Path, parts: list[tuple[str, int, Shape]]) -> None:
        self._path, self._place = path, dict[str, int]()
        self.shapes: dict[str, Shape] = {}
        place = _HEADER.size
        for name, layers, shape in parts:
            for label in [f"{name}.{layer}" for layer in range(layers)] if layers else [name]:
                self.shapes[label], self._place[label] = shape, place
                place += 4 * int(np.prod(shape))
        if place != size_of(path):
            raise ValueError(f"{path} has {size_of(path):,} bytes, but its sizes ask for {place:,}; download it again")

    def read(self, name: str) -> Tensor:
        shape = self.shapes[name]
        values: NDArray[np.float32] = np.fromfile(
            self._path, dtype="<f4", count=int(np.prod(shape)), offset=self._place[name]
        )
        return torch.from_numpy(values.astype(np.float32).reshape(shape))


def _llama2c_tokenizer(path: Path, size: int) -> Tokenizer:
    """Pieces with their scores: SentencePiece's BPE, but with plain spaces."""
    data = read_bytes(path)
    pieces, place = [], 4  # the length of the longest piece comes first
    for number in range(size):
        if place + 8 > len(data):
            raise ValueError(f"{path} ends at piece {number} of {size}; download it again")
        score, length = struct.unpack_from("<fi", data, place)
        text = data[place + 8 : place + 8 + length] if length >= 0 else b""
        if len(text) != length:
            raise ValueError(f"{path} ends inside piece {number}; download it again")
        place += 8 + length
        pieces.append(_llama2c_piece(number, text.decode("utf-8"), score))
    proto = Proto(
        pieces=tuple(pieces), algorithm=2, byte_fallback=True, charsmap=b"", dummy_prefix=True, squeeze_spaces=False
    )
    engine = sentencepiece.unigram_or_bpe(proto)
    engine.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return Tokenizer.from_engine(engine, kind="bpe", special=SpecialTokens(bos="<s>", eos="</s>", unk="<unk>"))


def _llama2c_piece(number: int, text: str, score: float) -> Piece:
    if number < 3:
        return Piece(("<unk>", "<s>", "</s>")[number], score, 2 if number == 0 else 3)
    byte = len(text) == 6 and text.startswith("<0x") and text.endswith(">")
    return Piece(text if byte else text.replace(" ", sentencepiece.SPACE), score, 6 if byte else 1)


# ---- OpenNMT's arrays -----------------------------------------------------------------------------------------------


def read_opennmt_arrays(folder: Path) -> Imported:
    """A pre-norm Transformer of OpenNMT-tf as arrays, with a vocabulary file for each side and a short description."""
    plain = read_json(folder / "config.json")
    keys = Keys(plain, str(folder / "config.json"), defaults={"layer_norm_eps": 1e-5, "source_has_eos": True})
    for key, words in _OPENNMT.items():
        keys.must(key, words)
    heads = keys.size("heads")
    source, target = (_characters(folder / f"{side}_vocabulary.txt") for side in ("source", "target"))
    config = transformer(
        vocab_size=keys.size("source_vocab"),
        target_vocab_size=keys.size("target_vocab"),
        dim=keys.size("d_model"),
        hidden_dim=keys.size("d_ff"),
        layers=keys.layers("encoder_layers"),
        decoder_layers=keys.layers("decoder_layers"),
        attention=AttentionConfig(heads=heads),
        position=PositionConfig(kind="tensor2tensor", offset=1),
        norm=NormConfig(place="pre", eps=keys.not_negative("layer_norm_eps")),
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(scale=True, tie="none"),
        head=HeadConfig(bias=True),
    )
    ends_source = keys.flag("source_has_eos")
    keys.ignore("parameters")
    keys.finish()
    model, aside = assemble(config, _opennmt_names(), Slashed(Arrays(folder / ARRAYS)))
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(
            tokenizer=source,
            target_tokenizer=target,
            markers=Markers(after_source=(source.eos_id,) if ends_source else (), start=target.bos_id),
        ),
        provenance={
            "imported_from": folder.resolve().name,
            "format": "opennmt arrays",
            "files": _checksums(folder / ARRAYS),
        },
    )
    return Imported(bundle=found, aside=aside)


# What the description must say for this wiring to be the right one.
_OPENNMT = {
    "family": "encoder-decoder",
    "activation": "relu",
    "norm": "pre (layer norm before each sub-layer, and one after the last layer of each stack)",
    "positions": "sinusoidal, first position = 1, [sin half | cos half], timescale step log(10000)/(d/2-1)",
    "embedding_scale": "sqrt(d_model)",
    "unk": "one past the last line of each vocabulary file",
    "bos": "<s> (id 1), target side only",
    "eos": "</s> (id 2)",
    "linear_layout": "weight is [out, in]; self_attention/linear_0 stacks q,k,v; attention/linear_1 stacks k,v",
}


class Slashed:
    """A store whose names are paths, under dotted names with the layer number as a separate part."""

    def __init__(self, store: Arrays) -> None:
        self._store = store
        self._names = {_dotted(name): name for name in store.shapes}
        self.shapes: dict[str, Shape] = {name: store.shapes[old] for name, old in self._names.items()}

    def read(self, name: str) -> Tensor:
        return self._store.read(self._names[name])


def _dotted(name: str) -> str:
    words = [re.sub(r"^layer_(\d+)$", r"layer.\1", word) for word in name.split("/")]
    norm = {"gamma": "weight", "beta": "bias"}
    return ".".join([*words[:-1], norm.get(words[-1], words[-1])])


def _opennmt_names() -> RenamingTable:
    self_attention = [
        Rule(tuple(f"self_attn.{part}_proj" for part in "qkv"), "self_attention.linear_0"),
        Rule("self_attn.out_proj", "self_attention.linear_1"),
        Rule("self_attn_residual.before", "self_attention.layer_norm"),
    ]
    cross_attention = [
        Rule("cross_attn.q_proj", "attention.linear_0"),
        Rule(("cross_attn.k_proj", "cross_attn.v_proj"), "attention.linear_1"),
        Rule("cross_attn.out_proj", "attention.linear_2"),
        Rule("cross_attn_residual.before", "attention.layer_norm"),
    ]
    ffn = pairs(
        {"ffn.up_proj": "ffn.linear_0", "ffn.down_proj": "ffn.linear_1", "ffn_residual.before": "ffn.layer_norm"}
    )
    ends = pairs({"head.table": "decoder.projection.weight", "head.bias": "decoder.projection.bias"})
    for stack in ("encoder", "decoder"):
        ends += pairs({f"{stack}.front.embed": f"{stack}.embeddings", f"{stack}.norm": f"{stack}.layer_norm"})
        ends += under(f"{stack}.layers.*", f"{stack}.layer.*", [*self_attention, *cross_attention, *ffn])
    return RenamingTable(ends)


def _characters(path: Path) -> Tokenizer:
    """One piece per line; the unknown piece has the number after the last line."""
    pieces = read_text(path).removesuffix("\n").split("\n")
    numbered = {piece: number for number, piece in enumerate([*pieces, "<unk>"])}
    if len(numbered) != len(pieces) + 1 or any(len(piece) > 1 for piece in pieces[3:]):
        raise ValueError(f"{path} does not list different single characters")
    special = SpecialTokens(pad="<blank>", bos="<s>", eos="</s>", unk="<unk>")
    engine = tokenizers.Tokenizer(models.BPE(vocab=numbered, merges=[], unk_token="<unk>"))
    engine.decoder = decoders.Fuse()
    engine.add_special_tokens(special.spellings())
    return Tokenizer.from_engine(engine, kind="character", special=special)


def _checksums(*files: Path) -> dict[str, str]:
    return {path.name: storage.sha256(path) for path in files}

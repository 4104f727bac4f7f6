"""Import Transformer and Whisper models from CTranslate2's folders.

What the arrays of the file say (`ctranslate2_arrays.py`) becomes a configuration (`ctranslate2_config.py`); names and a
vocabulary are added here.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import storage
from clearformer.interop import tokenizer_files
from clearformer.interop.config_keys import Keys
from clearformer.interop.ctranslate2_arrays import ModelFile, SplitArrays
from clearformer.interop.ctranslate2_config import READERS, Fixed
from clearformer.interop.foreign_files import read_json
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    ModelConfig,
)
from clearformer.text.tokenizer import Tokenizer


def can_read(path: Path) -> bool:
    """Whether a folder is one of CTranslate2's."""
    return (path / "model.bin").is_file() and (path / "config.json").is_file()


def read(folder: Path) -> Imported:
    """A folder that `ctranslate2` converted, or that our export wrote for it."""
    file = ModelFile(folder / "model.bin")
    if file.kind not in READERS:
        raise ValueError(f"{file.path} holds a {file.kind}; supported are {' and '.join(READERS)}")
    plain, store = read_json(folder / "config.json"), SplitArrays(file)
    config, fixed = READERS[file.kind](store, plain)
    model, aside = assemble(config, _names(config, store, fixed), store)
    source, target, notes = _tokenizers(folder, plain, config)
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(
            tokenizer=source,
            target_tokenizer=target,
            markers=None if source is None else _markers(plain, config, source, target or source),
        ),
        provenance={
            **(plain.get("provenance", {}) if "model" in plain else {}),
            "imported_from": folder.resolve().name,
            "format": "ctranslate2",
            "files": {"model.bin": storage.sha256(folder / "model.bin")},
        },
    )
    return Imported(bundle=found, aside=aside, notes=notes)


def _names(config: ModelConfig, store: SplitArrays, fixed: Fixed) -> RenamingTable:
    """Our names and theirs."""
    slot = "before" if config.norm.place == "pre" else "after"
    layer = [
        *_attention("self_attn", "self_attention", slot, joined=True),
        *_attention("cross_attn", "attention", slot, joined=False),
        *pairs({"ffn.down_proj": "ffn.linear_1", f"ffn_residual.{slot}": "ffn.layer_norm"}),
        Rule("ffn.gate_proj" if config.gated else "ffn.up_proj", "ffn.linear_0"),
        *([Rule("ffn.up_proj", "ffn.linear_0_noact")] if config.gated else []),
        Rule("self_attn.position.table.weight", "self_attention.relative_attention_bias"),
    ]
    source_table = "embeddings_0" if "encoder.embeddings_0.weight" in store.shapes else "embeddings"
    rules = [
        *pairs({"encoder.front.embed": f"encoder.{source_table}", "decoder.front.embed": "decoder.embeddings"}),
        *pairs({"head.table": "decoder.projection.weight", "head.bias": "decoder.projection.bias"}),
        *pairs({"encoder.front.narrow": "encoder.conv1", "encoder.front.halve": "encoder.conv2"}),
    ]
    for stack in ("encoder", "decoder"):
        rules += pairs(
            {
                f"{stack}.norm": f"{stack}.layer_norm",
                f"{stack}.front.norm": f"{stack}.layernorm_embedding",
                f"{stack}.front.position.table.weight": f"{stack}.position_encodings.encodings",
            }
        )
        rules += under(f"{stack}.layers.*", f"{stack}.layer.*", layer)
    return RenamingTable(rules, copies=_copies(config, store, source_table), fixed=fixed)


def _attention(ours: str, theirs: str, slot: str, *, joined: bool) -> list[Rule]:
    letters = "qkv" if joined else "kv"
    rules = [Rule(f"{ours}.{letter}_proj", f"{theirs}.{letter}") for letter in letters]
    rules += [] if joined else [Rule(f"{ours}.q_proj", f"{theirs}.linear_0")]
    rules.append(Rule(f"{ours}.out_proj", f"{theirs}.{'linear_1' if joined else 'linear_2'}"))
    return [*rules, Rule(f"{ours}_residual.{slot}", f"{theirs}.layer_norm")]


def _copies(config: ModelConfig, store: SplitArrays, source_table: str) -> dict[str, str]:
    """Arrays that the engine stores wherever they are used, and our model stores once."""
    source = f"encoder.{source_table}.weight"
    target, output = "decoder.embeddings.weight", "decoder.projection.weight"
    tied = {"all": {target: source, output: source}, "inputs": {target: source}, "output": {output: target}, "none": {}}
    copies = dict(tied[config.embedding.tie])
    for name in store.shapes:
        if name.endswith("relative_attention_bias") and ".layer.0." not in name:
            copies[name] = f"{name.split('.')[0]}.layer.0.self_attention.relative_attention_bias"
    return copies


def _tokenizers(
    folder: Path, plain: Mapping[str, Any], config: ModelConfig
) -> tuple[Tokenizer | None, Tokenizer | None, tuple[str, ...]]:
    """The tokenizers of the folder. The engine itself takes pieces, so many folders have none."""
    if "model" in plain:  # our own export
        for name in ("tokenizer.json", "target_tokenizer.json"):
            if (folder / name).is_file():
                tokenizer_files.checked(folder / name)
        read = open_folder(folder).preprocessing
        return read.tokenizer, read.target_tokenizer, ()
    if (folder / "tokenizer.json").is_file():
        spelt = {key: plain[key] for key in ("bos_token", "eos_token", "unk_token") if isinstance(plain.get(key), str)}
        return tokenizer_files.from_definition(folder / "tokenizer.json", config.family, spelt), None, ()
    return None, None, ("the folder has pieces but no tokenizer that splits text into them, so the model reads ids",)


_TEXT_DEFAULTS = {"bos_token": "<s>", "eos_token": "</s>", "add_source_bos": False, "add_source_eos": False}


def _markers(plain: Mapping[str, Any], config: ModelConfig, source: Tokenizer, target: Tokenizer) -> Markers | None:
    """Which ids are put around a text, from config.json."""
    if "model" in plain:
        given = plain.get("preprocessing", plain).get("markers")
        return (
            None if given is None else replace(Markers(start=0), **{key: _tuple(value) for key, value in given.items()})
        )
    if config.front.kind == "sound":
        return None
    keys = Keys(plain, "config.json", defaults=_TEXT_DEFAULTS)
    start = keys.text("decoder_start_token" if "decoder_start_token" in plain else "bos_token")
    before = (source.id(keys.text("bos_token")),) if keys.flag("add_source_bos") else ()
    after = (source.id(keys.text("eos_token")),) if keys.flag("add_source_eos") else ()
    return Markers(before_source=before, after_source=after, start=target.id(start))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

"""Import Transformer and Whisper models from CTranslate2's folders.

What the arrays of the file say (`ctranslate2_arrays.py`) becomes a configuration (`ctranslate2_config.py`); names and a
vocabulary are added here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.foundation import settings, storage
from clearformer.interop import ctranslate2_start, ctranslate2_vocabulary
from clearformer.interop.ctranslate2_arrays import ModelFile, SplitArrays
from clearformer.interop.ctranslate2_config import READERS, Fixed
from clearformer.interop.foreign_files import read_json
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.renaming import RenamingTable, Rule, Store, pairs, under
from clearformer.interop.sound_preparation import languages_of
from clearformer.model.config import ModelConfig
from clearformer.text.tokenizer import Tokenizer


def can_read(path: Path) -> bool:
    """Whether a folder is one of CTranslate2's, or a package of Argos around one."""
    return any((home / "model.bin").is_file() and (home / "config.json").is_file() for home in (path, path / "model"))


def read(folder: Path) -> Imported:
    """A folder that `ctranslate2` converted, or that our export wrote for it."""
    if not (folder / "model.bin").is_file():
        folder = folder / "model"
    file = ModelFile(folder / "model.bin")
    if file.kind not in READERS:
        raise ValueError(f"{file.path} holds a {file.kind}; supported are {' and '.join(READERS)}")
    plain, store = read_json(folder / "config.json"), SplitArrays(file)
    config, fixed = READERS[file.kind](store, plain)
    starts_with_zeros = file.facts.get(ctranslate2_start.FACT) == 1
    if starts_with_zeros:
        config = ctranslate2_start.with_start(config)
    lying: Store = ctranslate2_start.ZeroStart(store) if starts_with_zeros else store
    model, aside = assemble(config, _names(config, store, fixed), lying)
    texts = ctranslate2_vocabulary.read(folder, plain, config, zero_start=starts_with_zeros)
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(
            tokenizer=texts.source,
            target_tokenizer=texts.target,
            markers=texts.markers,
            sound=_sound(plain, config, texts.source),
        ),
        provenance={
            **(plain.get("provenance", {}) if "model" in plain else {}),
            "imported_from": folder.resolve().name,
            "format": "ctranslate2",
            "files": {"model.bin": storage.sha256(folder / "model.bin")},
        },
    )
    return Imported(bundle=found, aside=aside, notes=texts.notes)


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


def _sound(plain: Mapping[str, Any], config: ModelConfig, tokenizer: Tokenizer | None) -> SoundFacts | None:
    """Which tokens are never written, and which heads follow the sound, from config.json."""
    if config.front.kind != "sound":
        return None
    try:
        return settings.parse(
            SoundFacts,
            {
                "mels": config.front.mels,
                "never": plain.get("suppress_ids") or (),
                "never_first": plain.get("suppress_ids_begin") or (),
                "heads": plain.get("alignment_heads") or (),
                "tongues": languages_of(tokenizer, config.vocab_size),
            },
            "config.json",
        )
    except ValueError as error:
        raise ValueError(f"suppress_ids or alignment_heads are not as the engine writes them: {error}") from None

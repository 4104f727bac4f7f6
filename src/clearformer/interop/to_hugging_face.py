"""Our model folders for Hugging Face's library: `AutoModel….from_pretrained` opens what is written here.

The table of names that an import uses is used backwards. Whether a family can express a model is decided by writing its
config.json and reading it back: what does not come back is named, and nothing is written.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from clearformer.folder import bundle as bundles
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Markers
from clearformer.foundation import settings, storage
from clearformer.interop import frame_label_vocabulary
from clearformer.interop.config_keys import PROBLEMS, Keys
from clearformer.interop.cross_encoders import written_score
from clearformer.interop.hf.marian import as_marian
from clearformer.interop.hf.model_types import FAMILIES
from clearformer.interop.picture_preparation import FILE as PICTURE_FILE
from clearformer.interop.picture_preparation import write_picture_facts
from clearformer.interop.renaming import Shape, give, link, make
from clearformer.interop.rotary_pairs import in_halves
from clearformer.interop.sample_preparation import FILE as SOUND_FILE
from clearformer.interop.sample_preparation import write_sample_facts
from clearformer.interop.sentence_files import write_sentence_files
from clearformer.model.config import ModelConfig
from clearformer.model.weights import weights_of
from clearformer.text.special import ROLES
from clearformer.text.tokenizer import Tokenizer

# Our family, their model type, and the prefix of their class names.
WORDS = {
    "bert": ("bert", "Bert"),
    "roberta": ("roberta", "Roberta"),
    "distilbert": ("distilbert", "DistilBert"),
    "albert": ("albert", "Albert"),
    "roformer": ("roformer", "RoFormer"),
    "electra": ("electra", "Electra"),
    "modernbert": ("modernbert", "ModernBert"),
    "deberta": ("deberta-v2", "DebertaV2"),
    "gpt2": ("gpt2", "GPT2"),
    "llama": ("llama", "Llama"),
    "qwen2": ("qwen2", "Qwen2"),
    "qwen3": ("qwen3", "Qwen3"),
    "gemma": ("gemma", "Gemma"),
    "gemma2": ("gemma2", "Gemma2"),
    "gemma3_text": ("gemma3_text", "Gemma3"),
    "mixtral": ("mixtral", "Mixtral"),
    "qwen3_moe": ("qwen3_moe", "Qwen3Moe"),
    "smollm3": ("smollm3", "SmolLM3"),
    "phi3": ("phi3", "Phi3"),
    "gpt_neox": ("gpt_neox", "GPTNeoX"),
    "opt": ("opt", "OPT"),
    "bloom": ("bloom", "Bloom"),
    "bart": ("bart", "Bart"),
    "m2m_100": ("m2m_100", "M2M100"),
    "marian": ("marian", "Marian"),
    "transformer": ("marian", "Marian"),
    "t5": ("t5", "T5"),
    "umt5": ("umt5", "UMT5"),
    "vit": ("vit", "ViT"),
    "deit": ("deit", "DeiT"),
    "dinov2": ("dinov2", "Dinov2"),
    "dinov2_with_registers": ("dinov2_with_registers", "Dinov2WithRegisters"),
    "beit": ("beit", "Beit"),
    "clip": ("clip", "CLIP"),
    "siglip": ("siglip", "Siglip"),
    "whisper": ("whisper", "Whisper"),
    "wav2vec2": ("wav2vec2", "Wav2Vec2"),
    "hubert": ("hubert", "Hubert"),
}
HALVES = ("bfloat16", "float16")
_AFTER_PADDING = ("roberta", "m2m_100")  # positions begin behind the padding's id: a part of the model, already written
_TASKS = {"states": "Model", "tags": "ForTokenClassification", "span": "ForQuestionAnswering"}
_WRITERS = {"gpt2": "LMHeadModel", "marian": "MTModel"}


def export(folder: Path, out: Path) -> None:
    """Write a model folder as Hugging Face's library reads it, whole or not at all."""
    found = bundles.load(folder)
    config, weights = prepared(found)
    plain = describe(config, found)
    table = FAMILIES[plain["model_type"]].names(config)
    tensors = _as_kept(give(link(table.rules, weights), weights) | make(table), plain["dtype"])
    with storage.new_folder(out) as aside:
        storage.write_json(aside / "config.json", plain)
        if found.preprocessing.picture is not None:
            storage.write_json(aside / PICTURE_FILE, write_picture_facts(found.preprocessing.picture))
        if config.front.kind == "samples" and found.preprocessing.sound is not None:
            storage.write_json(aside / SOUND_FILE, write_sample_facts(found.preprocessing.sound, config))
        save_file(tensors, aside / "model.safetensors", metadata={"format": "pt"})
        if found.preprocessing.vectors is not None:
            write_sentence_files(aside, found.preprocessing.vectors, config.dim)
        _write_texts(aside, found)


def _as_kept(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """In the two bytes that they came in, where that loses nothing."""
    kept: torch.dtype = getattr(torch, name)
    short = {name: tensor.to(kept) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
    return {name: short[name] if torch.equal(short[name].float(), one) else one for name, one in tensors.items()}


def prepared(found: Bundle) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Configuration and weights as the target family has them; refuses a model that no family can express."""
    config, weights = found.config, weights_of(found.model)
    if config.family not in WORDS:
        raise ValueError(
            f"{config.family} is not a family that transformers opens; these are written: {', '.join(WORDS)}"
        )
    if WORDS[config.family][0] == "marian":
        config, weights = as_marian(config, weights)
    if WORDS[config.family][0] == "llama":
        config, weights = in_halves(config, weights)
    _refuse_what_is_lost(config)
    return config, weights


def describe(config: ModelConfig, found: Bundle) -> dict[str, Any]:
    """Their config.json."""
    plain = {
        "architectures": [architecture(config)],
        **FAMILIES[WORDS[config.family][0]].write_config(config),
        "dtype": found.kept if found.kept in HALVES else "float32",
        **_ids(found),
    }
    if config.head.kind in ("class", "tags"):
        names = found.labels or tuple(f"LABEL_{number}" for number in range(config.head.labels))
        plain["id2label"] = {str(number): name for number, name in enumerate(names)}
        plain["label2id"] = {name: number for number, name in enumerate(names)}
    outcome = found.preprocessing.outcome
    if outcome.kind != "one":
        plain["problem_type"] = next(name for name, kind in PROBLEMS.items() if kind == outcome.kind)
    if outcome.kind == "number":
        plain |= written_score(outcome)
    if outcome.kind == "number" and (outcome.mean, outcome.deviation) != (0.0, 1.0):
        raise ValueError(
            f"this model's numbers are {outcome.mean:g} plus {outcome.deviation:g} times the network's output, which "
            "transformers has no place for; use it here, or export it to onnx"
        )
    return plain


def architecture(config: ModelConfig) -> str:
    """The class that opens it."""
    word, start = WORDS[config.family]
    if word == "bart" and config.norm.place == "pre":
        start = "MBart"
    if word == "marian" and config.norm.place == "pre":
        return "PegasusForConditionalGeneration"
    if word == "llama" and config.attention.window is not None:
        start = "Mistral"
    if config.pair is not None:
        return f"{start}Model"
    if config.head.kind == "class":
        seen = "ForImageClassificationWithTeacher" if config.head.taught else "ForImageClassification"
        return start + (seen if config.front.kind == "patches" else "ForSequenceClassification")
    if config.head.kind != "language-model":
        return ("Gemma3Text" if word == "gemma3_text" else start) + _TASKS[config.head.kind]
    if word == "bart" and not config.head.bias:
        return f"{start}Model"
    if config.front.kind == "samples":
        return f"{start}ForCTC"
    usual = {"encoder": "ForMaskedLM", "decoder": "ForCausalLM"}.get(config.shape, "ForConditionalGeneration")
    return start + _WRITERS.get(word, usual)


def _refuse_what_is_lost(config: ModelConfig) -> None:
    family = FAMILIES[WORDS[config.family][0]]
    try:
        plain = {"architectures": [architecture(config)], "pad_token_id": 0, **family.write_config(config)}
        plain["id2label"] = {str(number): str(number) for number in range(config.head.labels)}
        again = family.read_config(Keys(plain, tensors=_present(config)))
    except (KeyError, ValueError) as error:
        raise ValueError(f"transformers has no {WORDS[config.family][1]} of this kind: {error}") from None
    mine, theirs = _essence(config), _essence(again)
    differing = [key for key in sorted(mine | theirs) if mine.get(key) != theirs.get(key)]
    lost = [f"{key} = {mine.get(key)!r} (it has {theirs.get(key)!r})" for key in differing]
    if lost:
        raise ValueError(f"transformers' {WORDS[config.family][1]} cannot express {', '.join(lost)}")


def _present(config: ModelConfig) -> dict[str, Shape]:
    """Tensors whose presence decides how a configuration is read; their shapes decide nothing."""
    names = ["embeddings.mask_token", *(["final_logits_bias"] if config.head.bias else [])]
    names += ["pooler.dense.weight", "pooler.weight"] if config.head.pooler else []
    names += ["lm_head.weight"] if config.embedding.tie in ("inputs", "none") else []
    return dict.fromkeys(names, ())


def _essence(config: ModelConfig) -> dict[str, Any]:
    """What decides the result of a model, by dotted key: no training settings, and every default filled in."""
    if config.pair is not None:
        halves = {"texts": config.pair.texts, "pictures": config.pair.pictures}
        said = {f"{half}.{key}": value for half, one in halves.items() for key, value in _essence(one).items()}
        return said | {"each": config.pair.each}
    heads = config.attention
    width = heads.head_dim or config.dim // heads.heads
    spelt = replace(
        config,
        family="",
        decoder_layers=config.decoder_layers or config.layers,
        target_vocab_size=config.target_vocab_size or config.vocab_size or None,
        decoder_position=config.decoder_position or config.position,
        attention=replace(heads, kv_heads=heads.kv_heads or heads.heads, head_dim=width),
        init_std=None,
    )
    flat = _flat(settings.to_plain(spelt))
    ignored = ["dropout.", "head.dropout", "kernel", "bottleneck", "head.labels"]
    if config.position.kind != "learned" and (config.decoder_position or config.position).kind != "learned":
        ignored += ["max_len"]
    if config.front.kind == "patches":
        ignored += ["max_len", "vocab_size", "target_vocab_size"]
    if config.shape == "encoder":
        ignored += ["embedding.tie", "decoder_layers"]
    if config.shape == "decoder":
        flat["embedding.tie"] = config.embedding.tie in ("all", "output")
    return {key: value for key, value in flat.items() if not key.startswith(tuple(ignored))}


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return flat


# ---- text -----------------------------------------------------------------------------------------------------------


def _markers(found: Bundle) -> Markers | None:
    if found.tokenizer is None or found.config.shape != "encoder-decoder":
        return None
    if found.markers is not None:
        return found.markers
    target = found.target_tokenizer or found.tokenizer
    return Markers(after_source=(found.tokenizer.eos_id,), start=target.bos_id)


def _ids(found: Bundle) -> dict[str, Any]:
    """The ids of the special tokens, for config.json."""
    tokenizer = found.target_tokenizer or found.tokenizer
    if tokenizer is None:  # their defaults may lie outside a small vocabulary
        writes = found.config.shape == "encoder-decoder"
        return {"pad_token_id": 0} | ({"decoder_start_token_id": 0} if writes else {}) if _reads(found.config) else {}
    ids: dict[str, Any] = {f"{role}_token_id": tokenizer.special_ids.get(role) for role in ("pad", "bos", "eos")}
    if found.config.family in _AFTER_PADDING:
        del ids["pad_token_id"]
    markers = _markers(found)
    return ids if markers is None else ids | {"decoder_start_token_id": markers.start}


def _reads(config: ModelConfig) -> bool:
    """Whether it has a vocabulary and its padding id is not part of the model."""
    return config.vocab_size > 0 and config.family not in _AFTER_PADDING


def _write_texts(aside: Path, found: Bundle) -> None:
    """The vocabulary and the generation settings, which forbid the ids that our own search never produces."""
    if found.tokenizer is None:
        return
    if found.config.front.kind == "samples":
        frame_label_vocabulary.write(aside, found.tokenizer)
        return
    target = found.target_tokenizer or found.tokenizer
    _write_tokenizer(aside / "tokenizer.json", found.tokenizer, _markers(found))
    if found.target_tokenizer is not None:
        _write_tokenizer(aside / "target_tokenizer.json", found.target_tokenizer, None)
    spelt = {f"{role}_token": found.tokenizer.special.spelling(role) for role in ROLES}
    facts = {key: value for key, value in spelt.items() if value is not None}
    if found.preprocessing.chat_template is not None:
        facts["chat_template"] = found.preprocessing.chat_template
    length = found.config.of_texts.max_len
    storage.write_json(
        aside / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": False,
            "model_max_length": length,
        }
        | ({} if found.config.pair is None else _pair_inputs(found))
        | facts,
    )
    settings_of_search = {key: value for key, value in _ids(found).items() if value is not None}
    markers = _markers(found)
    if markers is not None:
        known = target.special_ids
        unsaid = {known[role] for role in ("pad", "bos", "unk") if role in known} - {target.eos_id}
        settings_of_search |= {
            "bad_words_ids": [[number] for number in sorted(unsaid)],
            "num_beams": 4,
            "max_length": 256,
        }
        settings_of_search |= {"forced_bos_token_id": markers.forced[0]} if markers.forced else {}
    if found.config.head.kind == "language-model" and found.config.shape not in ("encoder", "pair"):
        storage.write_json(aside / "generation_config.json", settings_of_search)


def _pair_inputs(found: Bundle) -> dict[str, Any]:
    """Texts that are read at their last slot are filled up on the right, and the filling is read, too."""
    filled = found.config.of_texts.head.pool == "slot"
    return {"padding_side": "right"} | ({"model_input_names": ["input_ids"]} if filled else {})


def _write_tokenizer(path: Path, tokenizer: Tokenizer, markers: Markers | None) -> None:
    """tokenizer.json; it puts the markers around a source that the model was trained with."""
    tokenizer.save(path)
    if markers is None:
        return
    definition = json.loads(path.read_text(encoding="utf-8"))
    ids = [*markers.before_source, *markers.after_source]
    pieces = {number: tokenizer.piece(number) for number in ids}

    def template(kind: int, before: tuple[int, ...], after: tuple[int, ...], text: str) -> list[dict[str, Any]]:
        def special(number: int) -> dict[str, Any]:
            return {"SpecialToken": {"id": pieces[number], "type_id": kind}}

        middle: dict[str, Any] = {"Sequence": {"id": text, "type_id": kind}}
        return [*map(special, before), middle, *map(special, after)]

    single = template(0, markers.before_source, markers.after_source, "A")
    definition["post_processor"] = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *template(1, (), markers.after_source, "B")],
        "special_tokens": {
            piece: {"id": piece, "ids": [number], "tokens": [piece]} for number, piece in sorted(pieces.items())
        },
    }
    path.write_text(json.dumps(definition, ensure_ascii=False), encoding="utf-8")

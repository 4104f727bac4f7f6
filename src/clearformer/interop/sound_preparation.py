"""How a published Whisper wants its recordings, and which tokens it never writes: two files beside config.json.

preprocessor_config.json says how sound becomes spectra; what the facts cannot say is refused by its key.
generation_config.json lists tokens that are not written, and the heads whose attention follows the sound.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation import settings
from clearformer.interop.foreign_files import read_json
from clearformer.interop.sample_preparation import FILE, read_sample_facts
from clearformer.model.config import ModelConfig
from clearformer.text.tokenizer import Tokenizer

GENERATION = "generation_config.json"
SEVERAL = 51_865  # tokens of a published model that knows several languages, at least
_START, _TASKS = "<|startoftranscript|>", ("<|translate|>", "<|transcribe|>")
_SIGNS = '"#()*+/:;<=>@[\\]^_`{|}~「」『』'  # that nobody says
_GROUPS = (
    "<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", '("', "((", "))", "(((", ")))", "[[", "]]", "{{", "}}",
)  # fmt: skip
_NOTES = "♩♪♫♬♭♮♯"  # of music: the first piece of each is not written
_MARKS = (*_TASKS, _START, "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|nocaptions|>")
_USUAL: dict[str, int] = {"sampling_rate": 16_000, "hop_length": 160, "n_fft": 400, "chunk_length": 30}
# Bookkeeping, and a table of filters that the published program computes again.
_HARMLESS = {
    "feature_extractor_type", "processor_class", "mel_filters", "return_attention_mask", "padding_side",
    "n_samples", "nb_max_frames",
}  # fmt: skip


def read_sound_facts(folder: Path, config: ModelConfig, tokenizer: Tokenizer | None) -> SoundFacts | None:
    """What the folder says of recordings; None for models that hear none."""
    if config.front.kind == "samples":
        return read_sample_facts(folder, config)
    if config.front.kind != "sound":
        return None
    path = folder / FILE
    given = read_json(path) if path.is_file() else {}
    numbers = {key: _whole(path, key, given.get(key, usual)) for key, usual in _USUAL.items()}
    bands = _whole(path, "feature_size", given.get("feature_size", config.front.mels))
    if bands != config.front.mels:
        raise ValueError(f"{path}: feature_size is {bands}, and the model reads {config.front.mels} pitch bands")
    for key, value in given.items():
        if key not in {*_USUAL, *_HARMLESS, "feature_size"} and value not in (None, False, 0):
            raise ValueError(f"{path}: {key} = {str(value)[:60]!r} changes sound in a way that is not known here")
    return settings.parse(
        SoundFacts,
        {
            "sample_rate": numbers["sampling_rate"],
            "mels": bands,
            "window": numbers["n_fft"],
            "hop": numbers["hop_length"],
            "seconds": float(numbers["chunk_length"]),
            **_written(folder / GENERATION, config, tokenizer),
        },
        str(path),
    )


def languages_of(tokenizer: Tokenizer | None, vocab_size: int) -> tuple[str, ...]:
    """The codes that a model of several languages is told. Those that know English alone have the marks of all the
    others, too, but fewer tokens."""
    known = {} if tokenizer is None else tokenizer.marks()
    if vocab_size < SEVERAL or not {_START, *_TASKS} <= known.keys():
        return ()
    end = min(known[mark] for mark in _TASKS)
    return tuple(mark[2:-2] for mark, number in known.items() if known[_START] < number < end)


def unsaid(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What OpenAI's program never writes, and what no text begins with: signs that nobody says, notes of music, and
    marks of the task; a text begins neither with a space nor with its end."""
    known = tokenizer.marks()
    alone = {number for sign in (*_SIGNS, *_GROUPS) for number in _single(tokenizer, sign)}
    notes = {ids[0] for sign in _NOTES for ids in _spellings(tokenizer, sign)}
    inner = {tokenizer.encode(sign, add_special=False).ids[0] for sign in (" -", " '")}
    marks = {known[mark] for mark in _MARKS if mark in known}
    first = (*tokenizer.encode(" ", add_special=False).ids, known["<|endoftext|>"])
    return tuple(sorted(alone | notes | inner | marks)), first


def _spellings(tokenizer: Tokenizer, sign: str) -> list[list[int]]:
    return [list(tokenizer.encode(before + sign, add_special=False).ids) for before in ("", " ")]


def _single(tokenizer: Tokenizer, sign: str) -> list[int]:
    """The token of a sign, where it is one alone."""
    return [ids[0] for ids in _spellings(tokenizer, sign) if len(ids) == 1]


def _written(path: Path, config: ModelConfig, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Tokens that are never written, heads that follow the sound, and languages."""
    given: Mapping[str, Any] = read_json(path) if path.is_file() else {}
    several = given.get("is_multilingual")
    if several is not None and not isinstance(several, bool):
        raise ValueError(f"{path}: is_multilingual must be true or false, not {str(several)[:60]!r}")
    size = SEVERAL if several else config.vocab_size
    return {
        "never": _ids(path, given, "suppress_tokens", config.vocab_size),
        "never_first": _ids(path, given, "begin_suppress_tokens", config.vocab_size),
        "heads": _heads(path, given.get("alignment_heads") or [], config),
        "tongues": () if several is False else languages_of(tokenizer, size),
    }


def _ids(path: Path, given: Mapping[str, Any], key: str, rows: int) -> tuple[int, ...]:
    """Tokens that the vocabulary has; others cannot be written anyway, and the published defaults name some."""
    found = given.get(key) or []
    if not isinstance(found, list) or not all(isinstance(one, int) for one in found):
        raise ValueError(f"{path}: {key} must list tokens, not {str(found)[:60]!r}")
    return tuple(one for one in found if 0 <= one < rows)


def _heads(path: Path, found: Any, config: ModelConfig) -> tuple[tuple[int, int], ...]:
    layers, heads = config.decoder_layers or config.layers, config.attention.heads
    try:
        pairs = tuple((int(layer), int(head)) for layer, head in found)
    except (TypeError, ValueError):
        raise ValueError(f"{path}: alignment_heads must be pairs of layer and head, not {str(found)[:60]!r}") from None
    if not all(0 <= layer < layers and 0 <= head < heads for layer, head in pairs):
        raise ValueError(f"{path}: alignment_heads names a head that a model of {layers} layers does not have")
    return pairs


def _whole(path: Path, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 20:
        raise ValueError(f"{path}: {key} must be a whole number above 0, not {str(value)[:60]!r}")
    return value

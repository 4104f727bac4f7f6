"""How a published sentence encoder makes a vector of a text: the files of Sentence Transformers beside config.json.

modules.json lists what happens after the network; a folder of its own says how states are pooled; prompts and the
longest input are in two further files. A step that is not known here is refused by name: without it every vector would
be another one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.preprocessing import VectorFacts
from clearformer.foundation import storage
from clearformer.interop.foreign_files import parse_json, read_bytes, read_json
from clearformer.text.tokenizer import Tokenizer

MODULES, PROMPTS, LENGTH = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
POOLING = "1_Pooling/config.json"
FILES = (MODULES, PROMPTS, LENGTH, POOLING)

_POOLS: dict[str, Any] = {
    "pooling_mode_cls_token": "first",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}
_WORDS: dict[str, Any] = {"cls": "first", "mean": "mean", "lasttoken": "last"}  # how newer files write the same
_MIXED = "Hello, Ärger AND größe"  # reads differently in small letters, unless the vocabulary has small letters alone


def read_vector_facts(folder: Path, tokenizer: Tokenizer | None) -> VectorFacts | None:
    """What the files say; None where they are not there."""
    if not (folder / MODULES).exists():
        return None
    steps = _steps(folder)
    prompts, usual = _prompts(folder / PROMPTS)
    return VectorFacts(
        pool=_pool(folder, steps),
        longest=_longest(folder / LENGTH, tokenizer),
        prompts=prompts,
        usual_prompt=usual,
    )


def write_sentence_files(folder: Path, facts: VectorFacts, dim: int) -> None:
    """The same files for a model that is exported."""
    start = "sentence_transformers.models"
    parts = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    steps = [
        {"idx": number, "name": str(number), "path": path, "type": f"{start}.{kind}"}
        for number, (path, kind) in enumerate(parts)
    ]
    storage.write_json(folder / MODULES, steps)
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    chosen = {key: word == facts.pool for key, word in _POOLS.items()}
    storage.write_json(folder / POOLING, {"word_embedding_dimension": dim, **chosen})
    storage.write_json(folder / PROMPTS, {"prompts": facts.prompts, "default_prompt_name": facts.usual_prompt})
    if facts.longest is not None:
        storage.write_json(folder / LENGTH, {"max_seq_length": facts.longest, "do_lower_case": False})


def _steps(folder: Path) -> list[str]:
    """The names of the steps: the network, its pooling, and perhaps a vector of length one, which all have here."""
    path = folder / MODULES
    listed = parse_json(path, read_bytes(path))
    if not isinstance(listed, list):
        raise ValueError(f"{path} must hold a list of steps, not {type(listed).__name__}")
    found = []
    for one in listed:
        if not isinstance(one, Mapping) or not isinstance(one.get("type"), str):
            raise ValueError(f"{path} lists a step without a type; download it again")
        found.append(str(one["type"]).rpartition(".")[2])
        if found[-1] == "Transformer" and one.get("path"):
            raise ValueError(f"{path} keeps the network in {one['path']!r}; import that folder")
    unknown = [name for name in found if name not in ("Transformer", "Pooling", "Normalize")]
    if unknown or "Pooling" not in found:
        raise ValueError(
            f"{path} makes vectors by {' + '.join(found) or 'nothing'}; only a Transformer, Pooling and Normalize are "
            "known"
        )
    return found


def _pool(folder: Path, steps: list[str]) -> Any:
    path = folder / POOLING
    if not path.exists():
        raise ValueError(f"{folder / MODULES} asks for Pooling, but {POOLING} is missing; download it, too")
    given = read_json(path)
    if given.get("include_prompt") is False:
        raise ValueError(f"{path}: include_prompt is false, and prompts are always part of a text here")
    word = given.get("pooling_mode")
    if word is not None:
        if word not in _WORDS:
            raise ValueError(f"{path}: states are pooled by {word!r}; known are {', '.join(_WORDS)}")
        return _WORDS[word]
    chosen = [key for key, value in given.items() if key.startswith("pooling_mode_") and value]
    if len(chosen) != 1 or chosen[0] not in _POOLS:
        raise ValueError(
            f"{path}: states are pooled by {' + '.join(chosen) or 'nothing'}; one of {', '.join(_POOLS)} is known"
        )
    return _POOLS[chosen[0]]


def _prompts(path: Path) -> tuple[dict[str, str], str | None]:
    given = read_json(path) if path.exists() else {}
    prompts, usual = given.get("prompts") or {}, given.get("default_prompt_name")
    if not isinstance(prompts, Mapping) or not all(isinstance(one, str) for one in prompts.values()):
        raise ValueError(f"{path}: prompts must be a text for each name")
    if usual is not None and usual not in prompts:
        raise ValueError(f"{path}: default_prompt_name is {str(usual)[:60]!r}, which is none of its prompts")
    return {str(name): text for name, text in prompts.items() if text}, usual if usual and prompts[usual] else None


def _longest(path: Path, tokenizer: Tokenizer | None) -> int | None:
    given = read_json(path) if path.exists() else {}
    if given.get("do_lower_case") and tokenizer is not None:
        mixed, small = tokenizer.encode_batch([_MIXED, _MIXED.lower()])
        if mixed.ids != small.ids:
            raise ValueError(f"{path}: do_lower_case is true, and this vocabulary has capitals; set it to false")
    length = given.get("max_seq_length")
    if length is None:
        return None
    if isinstance(length, bool) or not isinstance(length, int) or not 4 <= length <= 1 << 20:
        raise ValueError(f"{path}: max_seq_length must be a number of tokens, not {str(length)[:60]!r}")
    return length

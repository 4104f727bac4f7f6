"""Which files of a repository an import reads: a description, a vocabulary and one set of weights.

A repository also holds the same weights for other programs, pictures, and programs of its own. None of those is wanted,
and a name that is not listed here, or is not the plain name of a file, is never asked for.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from clearformer.interop.foreign_files import read_json
from clearformer.interop.picture_preparation import FILE as PICTURE_FILE
from clearformer.interop.sample_preparation import PROCESSOR
from clearformer.interop.sentence_files import FILES as SENTENCE_FILES
from clearformer.interop.tensor_files import INDEX, WHOLE
from clearformer.interop.vocabularies import PIECE_FILES

CONFIG = "config.json"
VOCABULARY = (
    "chat_template.jinja", "generation_config.json", "merges.txt", "source.spm", "special_tokens_map.json",
    "target.spm", "target_tokenizer.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "vocab.txt",
    PICTURE_FILE, PROCESSOR, *PIECE_FILES, *SENTENCE_FILES,
)  # fmt: skip
PICKLE, PICKLE_INDEX, CTRANSLATE2 = "pytorch_model.bin", "pytorch_model.bin.index.json", "model.bin"
_SHARDS = {INDEX: ".safetensors", PICKLE_INDEX: ".bin"}  # an index, and how the names in it end


@dataclass(frozen=True, kw_only=True)
class WantedFiles:
    """What to fetch. weights: a file of numbers, or an index that names several.

    texts: small files that can be read first, so that a model that cannot be opened costs no long download.
    """

    texts: tuple[str, ...]
    weights: str

    @property
    def is_index(self) -> bool:
        """Whether the weights are in the files that an index names."""
        return self.weights in _SHARDS

    @property
    def has_family(self) -> bool:
        """Whether config.json is Hugging Face's, and names the family."""
        return self.weights in (WHOLE, INDEX, PICKLE, PICKLE_INDEX)


def wanted_files(listed: Collection[str], repo: str) -> WantedFiles:
    """The choice among a repository's files. Numbers come before pickles, which are read only if there is nothing else.

    repo: what to call it in an error.
    """
    quantised = sorted(name for name in listed if name.endswith(".gguf") and _is_plain(name))
    if CONFIG in listed:
        weights = next((name for name in (WHOLE, INDEX, PICKLE, PICKLE_INDEX, CTRANSLATE2) if name in listed), None)
        if weights is not None:
            texts = [name for name in (CONFIG, *VOCABULARY) if name in listed]
            return WantedFiles(texts=tuple(texts), weights=weights)
    if len(quantised) == 1:
        return WantedFiles(texts=(), weights=quantised[0])
    if quantised:
        raise ValueError(
            f"{repo} has {len(quantised)} .gguf files ({quantised[0]}, …); download the one that you want and import "
            "that file"
        )
    missing = f"no {CONFIG}" if CONFIG not in listed else f"no weights ({WHOLE} or {PICKLE}, whole or with an index)"
    raise ValueError(f"{repo} holds no model that can be imported: it has {missing}")


def shard_names(index: Path, listed: Collection[str], repo: str) -> list[str]:
    """The files that an index names; each must be a file of the repository, beside the index."""
    placed = read_json(index).get("weight_map")
    if not isinstance(placed, dict) or not placed or not all(isinstance(name, str) for name in placed.values()):
        raise ValueError(f"{repo}: {index.name} has no weight_map from tensors to files")
    names = sorted(set(placed.values()))
    for name in names:
        if not _is_plain(name) or not name.endswith(_SHARDS[index.name]):
            raise ValueError(f"{repo}: {index.name} names {name!r}, which is not a file of weights beside it; refused")
        if name not in listed:
            raise ValueError(f"{repo}: {index.name} names {name}, which the repository does not have")
    return names


def _is_plain(name: str) -> bool:
    """Whether a name leads to a file of this folder and nowhere else."""
    return bool(name) and name == Path(name).name and not any(letter in name for letter in "\\:\0") and name[0] != "."

"""SentencePiece models, trained by its own library on a few texts, each kind once a run."""

import io
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import sentencepiece

from interop.texts import PARTS, mixed_texts


def train(path: Path, **choices: Any) -> None:
    """A small model; choices: the trainer's own."""
    path.write_bytes(_trained(tuple(sorted((name, _fixed(value)) for name, value in choices.items()))))


@lru_cache
def _trained(choices: tuple[tuple[str, Any], ...]) -> bytes:
    written = io.BytesIO()
    usual = {"vocab_size": 400, "seed_sentencepiece_size": 2000, "num_sub_iterations": 1, "max_sentencepiece_length": 8}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(mixed_texts(200) + PARTS),
        model_writer=written,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **usual | {name: list(value) if isinstance(value, tuple) else value for name, value in choices},
    )
    return written.getvalue()


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def train_marian(folder: Path) -> dict[str, int]:
    """source.spm, target.spm and the vocab.json that numbers both."""
    ids = {"</s>": 0, "<unk>": 1}
    for name, size in (("source.spm", 400), ("target.spm", 300)):
        train(folder / name, vocab_size=size)
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
        for number in range(3, model.get_piece_size()):
            ids.setdefault(model.id_to_piece(number), len(ids))
    ids["<pad>"] = len(ids)
    (folder / "vocab.json").write_text(json.dumps(ids))
    return ids

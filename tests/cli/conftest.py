"""A small real model folder for the verbs to work on."""

from pathlib import Path

import pytest

from clearformer.folder.preprocessing import Preprocessing
from support.hub_server import hub

__all__ = ["hub", "model_folder", "text_file"]

LINES = ["two dogs play in the snow", "a man reads a book", "the cat sleeps", "a child plays with a dog"]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained translator with a vocabulary of its own: its output is nonsense, but reproducible nonsense."""
    import torch

    from clearformer.folder.bundle import Bundle, save
    from clearformer.model.build import build
    from clearformer.model.families import transformer
    from clearformer.text.train_tokenizer import train

    tokenizer = train("bpe", LINES * 5, 300)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=32, layers=2, heads=2)
    torch.manual_seed(5)
    folder = tmp_path_factory.mktemp("models") / "toy"
    languages = {"source_language": "en", "target_language": "de"}
    save(
        Bundle(
            config=config, model=build(config), preprocessing=Preprocessing(tokenizer=tokenizer), provenance=languages
        ),
        folder,
    )
    return folder


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    """Four sentences, one of them empty."""
    path = tmp_path / "in.txt"
    path.write_text("\n".join([*LINES[:2], "", LINES[2]]) + "\n", encoding="utf-8")
    return path

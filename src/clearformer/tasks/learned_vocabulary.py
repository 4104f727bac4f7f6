"""The vocabularies of a run: learned from the training text once, kept in the run's folder, found there on resume."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from clearformer.folder.preprocessing import Preprocessing
from clearformer.foundation import storage
from clearformer.tasks.task import Workspace
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig, train_from

FOLDER = "vocabulary"


def vocabularies(
    config: TokenizerConfig, texts: Mapping[str, Iterable[str]], workspace: Workspace, given: Sequence[Tokenizer] = ()
) -> list[Tokenizer]:
    """One vocabulary for each named text. given: those of the model that training begins with, which are kept."""
    folder = workspace.folder / FOLDER
    if workspace.anew or not folder.exists():
        with storage.new_folder(folder) as aside:
            for place, (name, lines) in enumerate(texts.items()):
                made = given[place] if given else train_from(config, lines)
                made.save(aside / f"{name}.json")
                storage.write_json(aside / f"{name}.facts.json", made.facts())
    return read_vocabularies(workspace.folder, list(texts))


def read_vocabularies(run: Path, names: Sequence[str]) -> list[Tokenizer]:
    """The vocabularies that a run's folder holds."""
    folder = run / FOLDER
    storage.verify(folder)
    return [Tokenizer.load(folder / f"{name}.json", storage.read_json(folder / f"{name}.facts.json")) for name in names]


def as_preprocessing(tokenizers: Sequence[Tokenizer], start: Preprocessing | None = None) -> Preprocessing:
    """One vocabulary for everything, or one per side."""
    return Preprocessing(
        tokenizer=tokenizers[0],
        target_tokenizer=tokenizers[1] if len(tokenizers) > 1 else None,
        markers=None if start is None else start.markers,
    )

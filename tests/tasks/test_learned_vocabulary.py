"""A run's vocabularies: learned once, found again when it is resumed, never those of another start."""

from dataclasses import replace

import pytest

from clearformer.foundation import storage
from clearformer.tasks.learned_vocabulary import as_preprocessing, read_vocabularies, vocabularies
from clearformer.tasks.task import Workspace
from clearformer.text.train_tokenizer import TokenizerConfig

TEXTS = {"source": ["one two three"] * 20, "target": ["1 2 3"] * 20}
CONFIG = TokenizerConfig(kind="bpe", vocab_size=300)


def test_one_vocabulary_for_each_text(tmp_path):
    source, target = vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path))
    assert source != target
    assert read_vocabularies(tmp_path, ["source", "target"]) == [source, target]
    made = as_preprocessing([source, target])
    assert (made.tokenizer, made.target_tokenizer) == (source, target)
    assert as_preprocessing([source]).target_tokenizer is None


def test_a_fresh_start_learns_its_vocabulary_anew(tmp_path):
    """What a start that went wrong left behind belongs to another recipe."""
    first = vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path))
    other = replace(CONFIG, kind="character")
    again = vocabularies(other, TEXTS, Workspace(folder=tmp_path))
    assert again != first
    assert vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path, resume=True)) == again
    assert vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path, first=False)) == again  # the other ranks find it made


def test_given_vocabularies_are_kept(tmp_path):
    given = vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path / "one"))
    assert vocabularies(replace(CONFIG, vocab_size=500), TEXTS, Workspace(folder=tmp_path / "two"), given) == given


def test_a_damaged_vocabulary_is_named(tmp_path):
    vocabularies(CONFIG, TEXTS, Workspace(folder=tmp_path))
    path = tmp_path / "vocabulary" / "source.json"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(storage.DamagedError, match=r"source\.json is damaged"):
        read_vocabularies(tmp_path, ["source", "target"])

"""What a model folder says without its weights; the damaged ones are in test_bundle.py."""

from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import find_model, load_tokenizers, read_description
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.build import build
from clearformer.model.families import transformer
from clearformer.text.train_tokenizer import train


def make() -> Bundle:
    tokenizer = train("bpe", ["two dogs play in the snow"] * 5, 300)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=32, layers=1, heads=2)
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(tokenizer=tokenizer))


def test_a_folder_says_what_it_holds(tmp_path: Path):
    made = make()
    bundle.save(made, tmp_path / "m")
    assert read_description(find_model(tmp_path / "m"))["model"]["dim"] == 16
    source, target = load_tokenizers(tmp_path / "m")
    assert source is target
    assert source == made.tokenizer


def test_each_side_may_have_its_own_vocabulary(tmp_path: Path):
    other = train("bpe", ["zwei Hunde spielen im Schnee"] * 5, 300)
    bundle.save(replace(make(), target_tokenizer=other), tmp_path / "m")
    assert load_tokenizers(tmp_path / "m")[1] == other


def test_a_folder_without_a_vocabulary_cannot_read(tmp_path: Path):
    bundle.save(replace(make(), tokenizer=None), tmp_path / "m")
    with pytest.raises(ValueError, match="has no tokenizer, so it cannot read text"):
        load_tokenizers(tmp_path / "m")


def test_the_folder_of_a_run_stands_for_its_model(tmp_path: Path):
    bundle.save(make(), tmp_path / "run" / "model")
    assert find_model(tmp_path / "run") == tmp_path / "run" / "model"


def test_a_missing_model_names_those_that_ship():
    with pytest.raises(ValueError, match=r"there is no model folder nowhere .*train one with"):
        find_model("nowhere")

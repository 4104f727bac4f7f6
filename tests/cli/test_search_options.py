"""The options of a search become its settings."""

import re
from dataclasses import fields, replace

import pytest

from clearformer.cli.parser import CommandParser
from clearformer.cli.search_options import add_search, search_config
from clearformer.cli.usage import UsageError
from clearformer.folder.bundle import load, save
from clearformer.inference.translation_settings import DecodingConfig


def chosen(*words, model="en-de"):
    parser = CommandParser(prog="clearformer translate")
    parser.set_defaults(model=model)
    add_search(parser, nbest=True)
    return search_config(parser.read(words))


def test_without_options_it_is_the_usual_search():
    assert chosen() == DecodingConfig()


def test_every_option_is_followed():
    words = ["--beam", "7", "--penalty", "gnmt", "--alpha", "0.6", "--batch", "5", "--nbest", "3", "--max-extra", "7"]
    assert chosen(*words) == DecodingConfig(beam=7, penalty="gnmt", alpha=0.6, batch=5, nbest=3, max_extra=7)


def test_every_field_has_a_flag():
    parser = CommandParser(prog="clearformer translate")
    add_search(parser, nbest=True)
    shown = parser.format_help()
    names = [field.name.replace("_", "-") for field in fields(DecodingConfig)]
    assert [name for name in names if not re.search(rf"--{name}[ ,]", shown)] == []


def test_what_is_left_open_is_as_the_recipe_had_it(model_folder, tmp_path):
    made = load(model_folder)
    facts = {**made.provenance, "decoding": {"beam": 7, "penalty": "gnmt", "alpha": 0.6}}
    save(replace(made, provenance=facts), tmp_path / "model")
    assert chosen(model=tmp_path / "model") == DecodingConfig(beam=7, penalty="gnmt", alpha=0.6)
    assert chosen("--beam", "2", model=tmp_path / "model") == DecodingConfig(beam=2, penalty="gnmt", alpha=0.6)


def test_an_unknown_penalty_is_refused():
    with pytest.raises(UsageError, match="--penalty cannot be 'none'; choose average or gnmt"):
        chosen("--penalty", "none")

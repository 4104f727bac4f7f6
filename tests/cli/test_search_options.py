"""The options of a search become its settings."""

import argparse
from dataclasses import replace

import pytest

from clearformer.cli.search_options import add_search, search_config
from clearformer.folder.bundle import load, save
from clearformer.inference.translation_settings import DecodingConfig


def chosen(*words, model="en-de", **given):
    parser = argparse.ArgumentParser()
    parser.set_defaults(model=model)
    add_search(parser)
    return search_config(parser.parse_args(words), **given)


def test_without_options_it_is_the_usual_search():
    assert chosen() == DecodingConfig()


def test_every_option_is_followed():
    words = ["--beam", "7", "--penalty", "gnmt", "--alpha", "0.6", "--batch", "5"]
    assert chosen(*words, nbest=3) == DecodingConfig(beam=7, penalty="gnmt", alpha=0.6, batch=5, nbest=3)


def test_what_is_left_open_is_as_the_recipe_had_it(model_folder, tmp_path):
    made = load(model_folder)
    facts = {**made.provenance, "decoding": {"beam": 7, "penalty": "gnmt", "alpha": 0.6}}
    save(replace(made, provenance=facts), tmp_path / "model")
    assert chosen(model=tmp_path / "model") == DecodingConfig(beam=7, penalty="gnmt", alpha=0.6)
    assert chosen("--beam", "2", model=tmp_path / "model") == DecodingConfig(beam=2, penalty="gnmt", alpha=0.6)


def test_an_unknown_penalty_is_refused(capsys):
    with pytest.raises(SystemExit):
        chosen("--penalty", "none")
    assert "gnmt" in capsys.readouterr().err

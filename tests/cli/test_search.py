"""The options of a search become its settings."""

import argparse

import pytest

from clearformer.cli.search import add_search, search_config
from clearformer.translation import DecodingConfig


def chosen(*words, **given):
    parser = argparse.ArgumentParser()
    add_search(parser, batch=32)
    return search_config(parser.parse_args(words), **given)


def test_without_options_it_is_the_usual_search():
    assert chosen() == DecodingConfig()


def test_every_option_is_followed():
    words = ["--beam", "7", "--penalty", "gnmt", "--alpha", "0.6", "--batch", "5"]
    assert chosen(*words, nbest=3) == DecodingConfig(beam=7, penalty="gnmt", alpha=0.6, batch=5, nbest=3)


def test_an_unknown_penalty_is_refused(capsys):
    with pytest.raises(SystemExit):
        chosen("--penalty", "none")
    assert "gnmt" in capsys.readouterr().err

"""The catalogue on the command line."""

import json

import pytest

from clearformer.cli.data import WAYS
from clearformer.cli.main import main
from clearformer.data.catalogue.corpora import list_corpora


def test_every_corpus_is_listed_with_its_licence(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "list", "--json"]) == 0
    corpora = {corpus["name"]: corpus for corpus in json.loads(capsys.readouterr().out)}
    assert {"multi30k", "tatoeba-en-de", "zh-en", "wmt14-en-de"} <= corpora.keys()
    assert all(corpus["licence"] and corpus["attribution"] for corpus in corpora.values())
    assert {corpus["way"] for corpus in corpora.values()} == WAYS.keys()


def test_the_list_is_a_table_for_people(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "list"]) == 0
    printed = capsys.readouterr().out
    assert "\ntiny-shakespeare " in printed  # the name that one has to type is never cut
    assert all(f", {way};" in printed for way in WAYS.values())
    assert max(len(corpus.name) for corpus in list_corpora()) <= 19  # the column that names stand in


@pytest.mark.corpora
def test_a_local_copy_is_found_and_checked(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "get", "zh-en"]) == 0
    assert capsys.readouterr().out.strip().endswith("zh-en")


def test_a_corpus_to_get_must_be_named(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "get"]) == 2
    assert "name the corpus" in capsys.readouterr().err


def test_an_unknown_corpus_is_named(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "get", "wmt15"]) == 1
    assert "no corpus 'wmt15'" in capsys.readouterr().err


def test_a_corpus_that_no_server_offers_says_where_to_ask(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("CLEARFORMER_DATA", raising=False)
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    assert main(["data", "get", "msra-ner"]) == 1
    told = capsys.readouterr().err
    assert "ask for it at https://" in told
    assert "into a folder chinese/msra-ner and let CLEARFORMER_DATA point" in told

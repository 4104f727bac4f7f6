"""The catalogue on the command line."""

import json

import pytest

from clearformer.cli.main import main


def test_every_corpus_is_listed_with_its_licence(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "list", "--json"]) == 0
    corpora = {corpus["name"]: corpus for corpus in json.loads(capsys.readouterr().out)}
    assert {"multi30k", "tatoeba-en-de", "zh-en", "wmt14-en-de"} <= corpora.keys()
    assert all(corpus["licence"] and corpus["attribution"] for corpus in corpora.values())


def test_the_list_is_a_table_for_people(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "list"]) == 0
    assert "multi30k" in capsys.readouterr().out


@pytest.mark.corpora
def test_a_local_copy_is_found_and_checked(capsys: pytest.CaptureFixture[str]):
    assert main(["data", "get", "zh-en"]) == 0
    assert capsys.readouterr().out.strip().endswith("zh-en")


@pytest.mark.parametrize(
    ("arguments", "reason"), [(["get"], "name the corpus"), (["get", "wmt15"], "no corpus 'wmt15'")]
)
def test_bad_use_gets_a_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str):
    assert main(["data", *arguments]) == 1
    assert reason in capsys.readouterr().err

"""A translator is found by its languages, whatever ships, and an unknown pair is refused with those that exist."""

import json
from pathlib import Path

import pytest

from clearformer.inference.translator_choice import advice_for, choose_translator, known_translators


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with descriptions of translators, one damaged folder, and one of another task."""
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    model = {"shape": "encoder-decoder"}
    for name, source, target, task in (
        ("some--it-en", "it", "en", "translation"),
        ("some--de-en", "de", "en", None),
        ("some--fr-summaries", "fr", "fr", "summarization"),
        ("some--lzh-zh", "lzh", "zh-Hans", "translation"),
    ):
        folder = tmp_path / "models" / name
        folder.mkdir(parents=True)
        provenance = {"source_language": source, "target_language": target}
        plain = {"format": 2, "task": task, "model": model, "provenance": provenance}
        (folder / "config.json").write_text(json.dumps(plain))
    damaged = tmp_path / "models" / "some--damaged"
    damaged.mkdir()
    (damaged / "config.json").write_text("{")
    return tmp_path


def test_what_ships_is_known():
    assert ("en-de", "en", "de") in {(one.name, one.source, one.target) for one in known_translators()}


def test_both_languages_name_one(fetched: Path):
    assert choose_translator("it", "en") == "some/it-en"
    assert choose_translator("Italian", "English") == "some/it-en"
    assert choose_translator("it_IT", "en-GB") == "some/it-en"
    assert choose_translator("en", "de") == "en-de"
    assert choose_translator("lzh", None) == "some/lzh-zh"


def test_an_open_side_follows_from_the_other_or_from_the_text(fetched: Path):
    assert choose_translator(None, "de") == "en-de"
    assert choose_translator("it", None) == "some/it-en"
    assert choose_translator(None, "en", ["Non è per me, ma per la mia casa."]) == "some/it-en"
    assert choose_translator(None, "en", ["42", "Ich habe das nicht gesehen, und du auch nicht."]) == "some/de-en"
    with pytest.raises(ValueError, match=r"several translators fit: .*; add --from"):
        choose_translator(None, "en", ["42"])


def test_unknown_pairs_are_refused_with_those_that_exist(fetched: Path):
    with pytest.raises(ValueError, match="no translator from French to Chinese is here") as refused:
        choose_translator("fr", "zh")
    for pair in ("en to de", "it to en", "de to en", "lzh to zh-Hans"):
        assert pair in str(refused.value)
    assert "fr to fr" not in str(refused.value)  # which summarises


def test_a_text_in_another_language_is_sent_to_who_reads_it(fetched: Path):
    assert advice_for("it", "en") == "; --from it --to en reads it"
    assert advice_for("it", "de") == "; --from it --to en reads it"
    assert advice_for("nl", "en") == advice_for(None, "en") == ""

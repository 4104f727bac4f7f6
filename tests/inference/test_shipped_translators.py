"""Every translator that ships: it says where it is from, is calibrated, and writes the same on both engines."""

from pathlib import Path

import pytest

import clearformer as cf
from clearformer.folder.description import shipped_models, shipped_names
from clearformer.inference.engines import open_translator
from clearformer.inference.sentence_confidence import Confidence
from clearformer.inference.translator_choice import choose_translator, known_translators

SHIPPED = [one for one in known_translators() if one.name in shipped_names()]
SENTENCES = {
    "en": ["Two dogs play in the snow.", "Where is the train station?", "She has lived in Hamburg for 3 years."],
    "zh": ["机器学习是人工智能的一个分支。", "火车站在哪里？", "她在汉堡住了3年。"],
}
MOST_BYTES = 40_000_000  # of all together
each = pytest.mark.parametrize("known", SHIPPED, ids=lambda known: known.name)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))


@each
def test_both_engines_write_the_same(known):
    fast, readable = (open_translator(known.name, engine) for engine in ("ctranslate2", "torch"))
    sentences = SENTENCES[known.source]
    assert [one.text for one in fast.translate(sentences)] == [one.text for one in readable.translate(sentences)]


@each
def test_a_name_that_no_text_had_is_kept_by_both_engines_unless_asked_otherwise(known):
    name, text = "Okonkwo", {"en": "I asked Okonkwo.", "zh": "我问了Okonkwo。"}[known.source]
    for engine in ("ctranslate2", "torch"):
        translator = open_translator(known.name, engine)
        [kept], [plain] = translator.translate(text), translator.translate(text, keep_names=False)
        assert name in kept.text
        assert name not in (kept.read_as or name)
        assert kept.lost == ()
        assert name not in plain.text
        assert (plain.read_as, plain.lost) == (None, ())


@each
def test_it_says_what_it_learned_from_and_how_sure_it_is(known):
    said = cf.load(known.name).provenance
    for key in ("recipe", "seed", "data", "licence", "attribution"):
        assert said[key] not in (None, "")
    assert Confidence(said).known
    assert said["confidence"]["error"] < 0.08


@each
def test_its_languages_choose_it(known):
    assert choose_translator(known.source, known.target) == known.name


def test_together_they_are_small():
    files = [file for known in SHIPPED for file in (shipped_models() / known.name).iterdir()]
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES

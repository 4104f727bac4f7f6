"""Every word of the pages stands in two catalogues, and both are complete."""

import json
import re

from clearformer.studio.app import STATIC
from clearformer.studio.summary import summary_fields
from clearformer.studio.writing_settings import WritingSettings, fields_of


def catalogue(name: str) -> dict[str, str]:
    text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    return {
        key: json.loads(f'"{value}"')
        for key, value in re.findall(r'^  "([^"]+)": "((?:[^"\\]|\\.)*)",$', text, re.MULTILINE)
    }


def test_both_catalogues_are_complete():
    english, chinese = catalogue("en"), catalogue("zh")
    assert len(english) > 300
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", chinese[key])), key
        assert chinese[key]
    code = "\n".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.js") if path.stem not in ("en", "zh"))
    asked = set(re.findall(r'"((?:[a-z]+\.)+[\w.-]+)"', code)) - {name.name for name in STATIC.iterdir()}
    stems = {key.split(".")[0] for key in english}
    assert {key for key in asked if key.split(".")[0] in stems} - english.keys() == set()
    used_stems = set(re.findall(r"`((?:[a-z]+\.)+)\$\{", code))
    for key in english:  # and nothing is kept that nobody asks for
        assert key in asked or key in ("sentence",) or any(key.startswith(stem) for stem in used_stems), key
    assert not [key for key, text in chinese.items() if "令牌" in text or "標記" in text]


def test_confidence_means_one_thing():
    """The calibrated chance of a good translation; how sure a model was of a token is the token's probability."""
    for name, word in (("en", "confiden"), ("zh", "置信")):
        assert [key for key, said in catalogue(name).items() if word in said.lower()] == ["translate.good"]
    assert not [key for key, said in catalogue("zh").items() if "把握" in said and key.startswith("translate.")]


def test_whatever_the_server_refuses_can_be_said_in_both_languages():
    answers = "\n".join(path.read_text(encoding="utf-8") for path in STATIC.parent.glob("*.py"))
    codes = set(re.findall(r'Refused\(\s*"(\w+)"', answers)) | set(re.findall(r'check_length\([^)]*"(\w+)"\)', answers))
    assert len(codes) > 12
    assert {f"server.{code}" for code in codes} <= catalogue("en").keys()


def test_every_setting_of_the_form_has_its_words_in_both_languages():
    """Names stand in the catalogues. What a setting does is said once in English, by the options themselves."""
    text = (STATIC / "zh.js").read_text(encoding="utf-8")
    chinese = dict(re.findall(r'^  (\w+): "(.+)",$', text.partition("CHINESE_HELP")[2], re.MULTILINE))
    form = [*fields_of(WritingSettings()), *summary_fields()]
    assert chinese.keys() == {told["name"] for told in form}
    for told in form:
        names = [told["name"], *(f"{told['name']}.{choice}" for choice in told["choices"] or ())]
        assert {f"field.{name}" for name in names} <= catalogue("en").keys()
    known = {f"field.{told['name']}" for told in form}
    assert {key for key in catalogue("en") if key.startswith("field.") and key.count(".") == 1} == known

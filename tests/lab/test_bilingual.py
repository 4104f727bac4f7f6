"""Texts in two languages."""

from clearformer.lab.bilingual import LANGUAGES, Bilingual, in_each, say


def test_a_text_is_said_in_either_language():
    text = Bilingual("mask", "掩码")
    assert [text.said(language) for language in LANGUAGES] == ["mask", "掩码"]
    assert say("d_k", "zh") == "d_k"
    assert in_each(lambda language: language.upper()) == Bilingual("EN", "ZH")

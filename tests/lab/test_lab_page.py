"""The frame: whole, closed to the outside, in the language asked for."""

import base64
import hashlib
import re

import pytest

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.lab_page import drawn, said, whole_page, write_page


@pytest.mark.parametrize(("language", "tag", "title"), [("en", "en", "A &amp; B"), ("zh", "zh-Hans", "甲")])
def test_it_opens_in_a_language(language, tag, title):
    page = whole_page(Bilingual("A & B", "甲"), ["<h1>x</h1>"], ["<p>y</p>"], language)
    assert page.startswith(f'<!doctype html>\n<html lang="{tag}" data-language="{language}">')
    assert f"<title>{title}</title>" in page


def test_the_policy_allows_its_own_style_and_script_and_nothing_else():
    page = whole_page(Bilingual("A", "甲"), [], [], "en")
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy


def test_a_text_is_there_in_both_languages_and_escaped():
    assert said(Bilingual("a<b", "甲<乙")) == '<span lang="en">a&lt;b</span><span lang="zh-Hans">甲&lt;乙</span>'
    assert said("a<b") == "a&lt;b"
    assert said("a", "p") == "<p>a</p>"
    assert 'aria-label="&quot;x&quot;"' in drawn("<svg></svg>", '"x"')


def test_a_page_is_written_into_a_new_folder(tmp_path):
    assert write_page(tmp_path / "new" / "page.html", "x\n").read_text(encoding="utf-8") == "x\n"

"""Which language? Seldom wrong, often silent."""

import gzip
import os
from pathlib import Path

import pytest

from clearformer.text.language import LEAST, WORDS, LanguageWatch, code_of, guess, guess_other, name_of

SENTENCES = {
    "en": "I have never been to the city where you live.",
    "de": "Ich war noch nie in der Stadt, in der du wohnst.",
    "fr": "Je ne suis jamais allé dans la ville où tu habites.",
    "es": "Nunca he estado en la ciudad donde vives, pero me gusta.",
    "it": "Non sono mai stato nella città dove abiti, ma mi piace.",
    "pt": "Eu nunca estive na cidade onde você mora, mas gosto dela.",
    "nl": "Ik ben nog nooit in de stad geweest waar jij woont.",
    "zh": "我从来没有去过你住的那个城市。",
    "ja": "あなたが住んでいる街に行ったことがありません。",
    "ko": "저는 당신이 사는 도시에 가 본 적이 없습니다.",
    "el": "Δεν έχω πάει ποτέ στην πόλη όπου μένεις.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_known_and_foreign_to_all_others(language):
    assert guess(SENTENCES[language]).language == language
    assert guess_other(SENTENCES[language], language) is None
    for other in SENTENCES.keys() - {language}:
        assert guess_other(SENTENCES[language], other).language == language


@pytest.mark.parametrize(
    "text", ["", "   ", "OK", "Tom", "12 + 7 = 19", "http://a.b", "!!! ???", "XKCD 42", "\x00\x01"]
)
def test_of_too_little_nothing_is_said(text):
    for language in SENTENCES:
        assert guess_other(text, language) is None


def test_a_shared_script_tells_from_other_scripts_only():
    found = guess_other("Я никогда не был в этом городе.", "en")
    assert (found.language, str(found)) == (None, "the Cyrillic script")
    assert guess_other("Я никогда не был в этом городе.", "uk") is None
    assert guess_other(SENTENCES["de"], "pl") is None  # Polish words are not listed here, so German is not told from it


def test_names_and_quotations_do_not_make_a_language():
    assert guess_other("The film «La vie est belle» is showing at the cinema in our street this week.", "en") is None
    assert guess_other("他用 Microsoft Windows 和 Linux 工作。", "zh") is None
    assert guess_other("我喜欢宫崎骏的《となりのトトロ》这部电影，我看过很多很多次，每一次都非常感动。", "zh") is None
    assert guess_other("We saw the sign 出口 and left the station.", "en") is None


@pytest.mark.parametrize("expected", [None, "", "xx", "english", "und"])
def test_without_a_known_expectation_nothing_is_said(expected):
    assert guess_other(SENTENCES["de"], expected) is None


def test_a_code_may_have_a_region_or_a_script():
    assert guess_other(SENTENCES["de"], "en-GB").language == "de"
    assert guess_other(SENTENCES["zh"], "zh_Hans") is None


def test_no_word_alone_decides():
    """Of every listed word it holds that a text of this one word is not called foreign."""
    assert LEAST > 1
    for words in WORDS.values():
        for word in words.split():
            assert all(guess_other(f"{word} xyzzy plugh frotz", language) is None for language in WORDS)


def test_a_stream_is_watched_for_other_languages():
    watch = LanguageWatch("en")
    assert watch.see([SENTENCES["en"], "Tom", ""]) == [None, None, None]
    assert [str(found) for found in watch.see([SENTENCES["en"], SENTENCES["de"], SENTENCES["fr"]])] == [
        "None", "German", "French",
    ]  # fmt: skip
    assert (watch.seen, watch.others) == (5, 2)
    assert watch.first is not None
    assert (watch.first[0], watch.first[1].language) == (5, "de")
    unknown = LanguageWatch(None)
    assert unknown.see([SENTENCES["en"], SENTENCES["zh"]]) == [None, None]


def test_a_language_has_many_spellings():
    assert {code_of(word) for word in ("zh", "zh-CN", "zh_Hans", "Chinese", "cmn", "中文")} == {"zh"}
    assert code_of("xx-YY") == "xx"
    assert name_of("de_AT") == "German"
    assert name_of("xx") == "xx"


CORPORA = {"tatoeba-en-de": "en de", "en-fr": "en fr", "zh-en": "en zh"}


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "language"),
    [(name, side) for name, sides in CORPORA.items() for side in sides.split()],
)
def test_on_real_sentences_it_is_almost_never_wrong_and_mostly_not_silent(name, language):
    """Of a thousand sentences at most one is taken for another language; of as many foreign ones, most are noticed."""
    path = Path(os.environ["CLEARFORMER_DATA"]) / name / f"val.{language}.gz"
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    wrong = [line for line in lines if guess_other(line, language)]
    assert len(wrong) <= len(lines) / 1000, wrong
    for other in {"en", "de", "fr", "zh"} - {language}:
        noticed = sum(guess_other(line, other) is not None for line in lines) / len(lines)
        assert noticed > (0.98 if "zh" in (language, other) else 0.8), other

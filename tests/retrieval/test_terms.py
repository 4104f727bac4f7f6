"""Terms: one spelling for one word, pairs of characters where nothing shows the ends of words, exact places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.retrieval.terms import document_terms, query_terms, term_spans


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dogs", "dog"),
        ("cities", "CITY"),
        ("Straße", "STRASSE"),
        ("Café", "cafe"),
        ("cafe\u0301s", "café"),
        ("ﬁre", "fire"),
        ("houses", "house"),
    ],
)
def test_one_word_has_one_spelling(one, other):
    assert query_terms(one) == query_terms(other) == document_terms(one) == document_terms(other)


@pytest.mark.parametrize("word", ["glass", "bus", "is", "gas", "shoes"])
def test_not_every_s_is_a_plural(word):
    assert query_terms(word) == [word]


def test_marks_and_underscores_end_a_word_and_vowel_signs_do_not():
    assert query_terms("e-mail: snake_case, 3.5") == ["e", "mail", "snake", "case", "3", "5"]
    assert query_terms("हिन्दी") == ["हिन्दी"]


def test_chinese_is_found_by_pairs_and_by_one_character():
    assert query_terms("下雪了") == ["下雪", "雪了"]
    assert query_terms("雪") == ["雪"]
    assert set(query_terms("下雪")) | set(query_terms("雪")) <= set(document_terms("昨天下雪了"))
    assert not set(query_terms("雪下")) & set(document_terms("昨天下雪了"))
    assert query_terms("用GPT写诗") == ["用", "gpt", "写诗"]


@given(st.text())
def test_terms_stand_where_they_say_and_documents_have_all_that_is_asked_for(text):
    for term, start, end in term_spans(text, single=True):
        assert 0 <= start < end <= len(text)
        assert term in document_terms(text[start:end])
    assert set(query_terms(text)) <= set(document_terms(text))
    assert "\n" not in "".join(document_terms(text))


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_plain_letters_is_the_long_way(text):
    assert document_terms(text) == [found.term for found in term_spans(text, single=True)]

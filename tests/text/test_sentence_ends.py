"""A text is cut where sentences end: abbreviations, numbers, initials and quotes end nothing, Chinese marks do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.sentence_ends import sentence_spans
from clearformer.text.sentences import size


def cut(text: str, language: str | None = None, **more: int) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language, **more)]


@pytest.mark.parametrize(
    "one",
    [
        "Dr. Smith paid 3.50 for it.",
        "It costs approx. 3 dollars, e.g. in Boston.",
        "J. R. R. Tolkien wrote it.",
        "The U.S. Army came.",
        "See fig. 3 and eq. 4 for more.",
        "Das ist z. B. am 3. Mai.",
        "Visit www.example.org or write to a.b@c.org today.",
        "Wait... what did you say?",
        "1. Install the package",
        'He said "Stop!" and left.',
        "It ended (at last!) in 1995",
        "你好，世界",
    ],
)
def test_what_is_one_sentence(one: str):
    assert cut(one, "de" if "Mai" in one else "en") == [one]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Hello. How are you? I am fine!", ["Hello.", "How are you?", "I am fine!"]),
        ("He left in 1995. Then it rained.", ["He left in 1995.", "Then it rained."]),
        ("It was I. You knew.", ["It was I.", "You knew."]),
        ('"Stop!" He ran. (It rained.) "Why?" No.', ['"Stop!"', "He ran.", "(It rained.)", '"Why?"', "No."]),
        ("机器学习很有趣。你喜欢吗？“喜欢！”他说。", ["机器学习很有趣。", "你喜欢吗？", "“喜欢！”", "他说。"]),
        ("One.\n  Two.", ["One.", "Two."]),
        ("He is 30. She is 20.", ["He is 30.", "She is 20."]),
    ],
)  # fmt: skip
def test_where_sentences_end(text: str, wanted: list[str]):
    assert cut(text, "en") == wanted


def test_a_long_sentence_is_cut_behind_a_clause():
    text = ("the dog runs and the cat sleeps, " * 40).strip()
    found = cut(text)
    assert all(size(part) <= 400 for part in found)
    assert all(part.endswith(",") for part in found)
    assert " ".join(found) == text
    assert all(size(part) <= 400 for part in cut("长" * 1000))
    assert "".join(cut("长" * 1000)) == "长" * 1000
    assert "".join(cut("x" * 1000)) == "x" * 1000


@given(st.text(alphabet=st.sampled_from("ab A.B!?。！” ,;\n3\ufffc长"), max_size=200), st.integers(8, 60))
def test_nothing_is_lost_but_white_space(text: str, longest: int):
    spans = sentence_spans(text, "en", longest)
    edges = [0, *(place for span in spans for place in span), len(text)]
    assert edges == sorted(edges)
    gaps = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    assert not "".join(gaps).strip()
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)

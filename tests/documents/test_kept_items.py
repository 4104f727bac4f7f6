"""Addresses, placeholders and code are found and kept, ordinary words are not; a text is cut around its numbers."""

import pytest

from clearformer.documents.kept_items import around_numbers, guarded, in_order
from clearformer.documents.segments import Fragment, plain


def kept(text: str) -> list[str]:
    return [piece.text for piece in guarded([Fragment(text)], plain) if piece.kind == "kept"]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("see https://a.b/c?d=e. Then", ["https://a.b/c?d=e"]),
        ("（https://a.b/c）", ["https://a.b/c"]),
        ("write to a.b@c.org or www.example.org/x", ["a.b@c.org", "www.example.org/x"]),
        ("%s of %d, %(name)s and %1$s, 100%% sure", ["%s", "%d", "%(name)s", "%1$s", "%%"]),
        ("%-10.3f %5d %.*s %zu %<PRIu64>", ["%-10.3f", "%5d", "%.*s", "%zu", "%<PRIu64>"]),
        ("{0} and {name!r} in {{ page }} {% if x %}", ["{0}", "{name!r}", "{{ page }}", "{% if x %}"]),
        ("use `ls -l` in $HOME or ~/x", ["`ls -l`", "$HOME", "~/x"]),
        ("foo_bar() in src/a/b.py with --help", ["foo_bar()", "src/a/b.py", "--help"]),
        ("%1 of %2", ["%1", "%2"]),
        ("a \ufffc b", ["\ufffc"]),
    ],
)
def test_what_is_kept(text: str, items: list[str]):
    assert kept(text) == items
    assert "".join(piece.text for piece in guarded([Fragment(text)], plain)) == text


@pytest.mark.parametrize(
    "text", ["50% of it", "100 % a day", "100% safe", "and/or", "TCP/IP", "$100", "3/4", "It's {not} so", "He/she said"]
)
def test_what_is_no_placeholder(text: str):
    assert kept(text.replace("{not}", "not")) == []


def test_a_text_around_its_numbers():
    assert [(one.text, one.kind) for one in around_numbers("at 7.30 in 12")] == [
        ("at ", "words"), ("7.30", "kept"), (" in ", "words"), ("12", "kept"),
    ]  # fmt: skip


def test_only_unnumbered_placeholders_have_an_order():
    assert in_order(["%s", "%d"], ["%s", "%d"])
    assert not in_order(["%s", "%d"], ["%d", "%s"])
    assert in_order(["%1$s", "%2$s", "{a}"], ["{a}", "%2$s", "%1$s"])

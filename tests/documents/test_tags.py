"""Tags are found in what is barely HTML; characters are written again as the page writes them."""

from clearformer.documents.tags import CharacterReferences, tags_in


def test_tags_comments_and_what_is_none():
    text = "<p class='a>b'>x < y <!-- <b> --><BR/></p ><1> <a\nhref=\"x\">"
    assert [(one.name, one.closes, one.alone) for one in tags_in(text)] == [
        ("p", False, False), ("", False, True), ("br", False, True), ("p", True, False), ("a", False, False),
    ]  # fmt: skip


def test_an_open_comment_goes_on_to_the_end_and_an_open_quote_is_no_tag():
    assert [text[one.start : one.end] for text in ["<!-- a <b>"] for one in tags_in(text)] == ["<!-- a <b>"]
    assert list(tags_in('<a href="x>' + "<" * 1000)) == []


def test_references_are_written_as_they_were():
    page = CharacterReferences("a &amp; b&nbsp;c &copy; &lt;")
    assert page.escape("a & b\u00a0c © <") == "a &amp; b&nbsp;c &copy; &lt;"
    assert list(page.words_of("a &amp; b&nbsp;c")) == [(True, "a & b\u00a0c")]
    assert CharacterReferences("AT&T").escape("&") == "&"
    assert CharacterReferences("").escape("<&>") == "&lt;&amp;&gt;"


def test_the_rarer_spelling_is_no_word():
    page = CharacterReferences("é é &eacute;")
    assert list(page.words_of("é &eacute;x")) == [(True, "é "), (False, "&eacute;"), (True, "x")]
    assert list(page.words_of("&bogus; &NewLine;")) == [(False, "&bogus;"), (True, " "), (False, "&NewLine;")]

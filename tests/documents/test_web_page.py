"""HTML keeps every tag, attribute, script and piece of code; inline tags are marks in sentences."""

from pathlib import Path

from clearformer.documents.web_page import open_web_page
from support.document_structure import structure
from support.documents import shouting, shown, spoiling, translated, written

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>A page</title><style>p > a {}</style>
<script>if (a < b) { document.write("<p>words</p>") }</script></head>
<body><!-- not words -->
<h1 title="stays">Dogs &amp; cats</h1>
<p>This is <b>very</b> good,
  see <a href="x?a=1&amp;b=2">the page</a>.</p>
<pre>code stays</pre><p>Call <code>run()</code> now.<br>Then stop.</p>
<p translate="no">Clearformer</p><ul><li>one<li>two &nbsp; three</ul>
<img alt="stays" src=a.png> <textarea>stays</textarea>
</body></html>
"""


def test_what_is_text(tmp_path: Path):
    document = open_web_page(written(tmp_path / "a.html", PAGE))
    words = ["".join(piece.text for piece in one.pieces) for one in document.segments]
    assert words == [
        "A page", "Dogs & cats", 'This is <b>very</b> good,\n  see <a href="x?a=1&amp;b=2">the page</a>.',
        "Call <code>run()</code> now.", "Then stop.", "one", "two \u00a0 three",
    ]  # fmt: skip
    assert shown(document.segments[2].pieces)[:3] == [("words", "This is "), ("mark", "<b>"), ("words", "very")]
    assert ("kept", "<code>run()</code>") in shown(document.segments[3].pieces)


def test_everything_else_stays(tmp_path: Path):
    path = written(tmp_path / "a.html", PAGE)
    assert translated(path) == PAGE.encode()
    changed = translated(path, shouting).decode()
    assert '<h1 title="stays">dOGS &amp; CATS</h1>' in changed
    assert "<li>two &nbsp; three".swapcase().replace("&NBSP;", "&nbsp;").replace("<LI>", "<li>") in changed
    assert '<a href="x?a=1&amp;b=2">THE PAGE</a>' in changed
    for ask in (shouting, spoiling):
        assert structure(path, translated(path, ask)) == structure(path, PAGE.encode())


def test_a_page_that_is_cut_off_is_copied_as_far_as_it_goes(tmp_path: Path):
    for cut in range(0, len(PAGE), 7):
        path = written(tmp_path / "a.html", PAGE[:cut])
        assert translated(path) == PAGE[:cut].encode()

"""The Markdown of the course as HTML: what is marked is marked, and every text stays a text."""

from xml.etree import ElementTree

import pytest

from clearformer.lab.marked_text import MarkedText, blocks

MARKED = MarkedText(
    link=lambda target: None if target.startswith("../") else f"#{target}",
    image=lambda path, description: f"<figure>{path}: {description}</figure>",
    table="a table",
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Title", "<h2>Title</h2>"),
        ("### Deep", "<h4>Deep</h4>"),
        ("one\ntwo", "<p>one two</p>"),
        ("注意\n力", "<p>注意力</p>"),
        ("a **b** *c* `d_k <`", "<p>a <strong>b</strong> <em>c</em> <code>d_k &lt;</code></p>"),
        ("the *d_k* of `W_Q`", "<p>the <em>d<sub>k</sub></em> of <code>W_Q</code></p>"),
        ("h_(t−1) and b_(2,1)", "<p>h<sub>t−1</sub> and b<sub>2,1</sub></p>"),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ("<b> & [x](y)", '<p>&lt;b&gt; &amp; <a href="#y">x</a></p>'),
        ("see [this **file**](../file.md)", "<p>see this <strong>file</strong></p>"),
        ("- one\n  more\n- two", "<ul><li>one more</li><li>two</li></ul>"),
        ("1. one\n2. two", "<ol><li>one</li><li>two</li></ol>"),
        ("![seen](here.svg)", "<figure>here.svg: seen</figure>"),
        ("> said\n> again", "<blockquote><p>said again</p></blockquote>"),
        ("```sh\na <b>\n\nc_d\n```", '<pre tabindex="0"><code>a &lt;b&gt;\n\nc_d</code></pre>'),
    ],
)
def test_each_mark(text, html):
    assert MARKED.html(text) == html


def test_a_table_has_names_of_columns_and_can_be_reached():
    html = MARKED.html("| a | b |\n|---|---|\n| `1` | **2** |")
    table = ElementTree.fromstring(html)
    assert table.get("tabindex") == "0"
    assert table.get("aria-label") == "a table"
    assert [cell.text for cell in table.iter("th")] == ["a", "b"]
    assert len(list(table.iter("td"))) == 2


def test_a_block_of_code_ends_a_paragraph_and_keeps_its_empty_lines():
    assert list(blocks("text\n```\na\n\nb\n```\nmore\n\nend")) == [
        ["text"],
        ["```", "a", "", "b", "```"],
        ["more"],
        ["end"],
    ]


@pytest.mark.parametrize("text", ['"><script>', "a & b < c", "[<i>](x)", "**<i>**", "`<i>`", "- <i>", "| <i> |\n|---|"])
def test_a_text_with_markup_stays_text(text):
    html = MARKED.html(text)
    assert "<script" not in html
    assert "<i>" not in html

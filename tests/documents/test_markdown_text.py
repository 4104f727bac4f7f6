"""Markdown keeps code, addresses, tables and every mark; another parser sees the same page."""

from pathlib import Path

from clearformer.documents.markdown_text import open_markdown
from support.document_structure import structure
from support.documents import shouting, spoiling, translated, written

PAGE = """\
---
title: stays
---
# A *heading* here #

A paragraph with `code`, **bold words** and [a link](http://x.org/a_b "stays"),
which goes on. ![stays](a.png) See [this][id] and <https://a.b>.

> A quote
> over lines

- an item
  goes on

      code in the item

1. [ ] a task

```python
print("stays")
```

~~~
also stays
~~~

    indented code

| a word | `b\\|c` |
|--------|:-----:|
| d      | e \\| f |

A title
-------

<div class="x">
words in <b>HTML</b>
</div>

[id]: http://stays.org "stays"
Hard break{}
next line\\
and the last[^1].

***
""".replace("{}", "  ")


def test_what_is_text(tmp_path: Path):
    document = open_markdown(written(tmp_path / "a.md", PAGE))
    words = ["".join(one.text for one in segment.pieces) for segment in document.segments]
    assert words[0] == "A *heading* here"
    assert words[2:5] == ["A quote\n> over lines", "an item\n  goes on", "a task"]
    assert words[5:9] == ["a word", "d", "e \\| f", "A title"]
    assert not [one for one in words if "stays" in one and "](" not in one]
    assert not [one for one in words if "indented" in one or "print" in one]
    assert "words in <b>HTML</b>" in words[9] + words[10]


def test_everything_else_stays(tmp_path: Path):
    path = written(tmp_path / "a.md", PAGE)
    assert translated(path) == PAGE.encode()
    changed = translated(path, shouting).decode()
    assert '`code`, **BOLD WORDS** AND [A LINK](http://x.org/a_b "stays"),\nWHICH' in changed
    assert "hARD BREAK  \nNEXT LINE\\\nAND THE LAST[^1].\n\n***\n" in changed
    for ask in (shouting, spoiling):
        assert structure(path, translated(path, ask)) == structure(path, PAGE.encode())


def test_a_link_that_is_a_name_of_a_definition_keeps_it(tmp_path: Path):
    page = "See [The\nManual] and [more] now.\n\n[the manual]: http://x.org\n"
    path = written(tmp_path / "a.md", page)
    assert translated(path, shouting).decode().startswith("sEE [The\nManual] AND [MORE] NOW.\n")
    assert structure(path, translated(path, spoiling)) == structure(path, page.encode())


def test_line_ends_of_windows_stay(tmp_path: Path):
    text = PAGE.replace("\n", "\r\n")
    path = written(tmp_path / "a.md", text)
    assert translated(path) == text.encode()
    assert structure(path, translated(path, spoiling)) == structure(path, text.encode())

"""The course as HTML: its pages and the ledger of mistakes, in both languages, one of which is shown."""

from collections.abc import Container, Iterator, Mapping
from html import escape
from pathlib import Path

from clearformer.lab.bilingual import LANGUAGES, Bilingual, Language
from clearformer.lab.course import (
    CONTENTS,
    FIGURE,
    CoursePage,
    Drawings,
    read_course,
    shipped_drawing,
    shipped_measurements,
)
from clearformer.lab.lab_page import TAGS, drawn, made_with, said, whole_page, write_page
from clearformer.lab.ledger import SEVERITIES, measured_lines, read_ledger
from clearformer.lab.marked_text import MarkedText
from clearformer.lab.noted import Noted

NAME = "course.html"
TITLE = Bilingual("The Transformer: a course with measurements", "Transformer：一门用实测说话的课")
LEDGER_FILE = "mistakes.md"
TABLE = Bilingual("table", "表格")
EVIDENCE = Bilingual("the whole experiment", "完整实验")


def write_course(folder: Path, language: Language) -> Path:
    """The course alone, with the figures that come with it; gives the page's path."""
    body = [*course_sections(read_course(), shipped_drawing), *ledger_section(shipped_measurements())]
    header = (f"<h1>{said(TITLE)}</h1>", f'<p class="facts">{escape(made_with())}</p>')
    return write_page(folder / NAME, whole_page(TITLE, header, body, language))


def course_sections(pages: tuple[CoursePage, ...], drawings: Drawings, reported: Container[str] = ()) -> Iterator[str]:
    """One section per page. reported: experiments that have a section of their own to point to."""
    names = {page.name for page in pages}
    for page in pages:
        yield f'<section id="{_anchor(page.name)}" class="course">'
        for language in LANGUAGES:
            marked = _marked(language, names, drawings, reported)
            yield f'<div lang="{TAGS[language]}">{marked.html(page.text.said(language))}</div>'
        yield "</section>"


def ledger_section(measured: Mapping[str, Noted], reported: Container[str] = ()) -> Iterator[str]:
    """Every mistake: what is written, what is so, what was measured."""
    yield f'<section id="ledger"><h2>{said(Bilingual("The ledger of mistakes", "错误清单"))}</h2><dl class="ledger">'
    for entry in read_ledger():
        yield f'<dt id="mistake-{entry.number}">{entry.number}. {said(entry.said)}'
        yield f" ({said(SEVERITIES[entry.severity])})</dt><dd>{said(entry.right)}</dd>"
        for line in measured_lines(entry, measured):
            yield f'<dd class="measured">{said(line)}</dd>'
        links = ", ".join(
            f'<a href="#{name}">{name}</a>' if name in reported else f"<code>clearformer lab {name}</code>"
            for name in entry.experiments
        )
        if links:
            yield f'<dd class="facts">{said(Bilingual("Measured by", "实验："))} {links}</dd>'
    yield "</dl></section>"


def _marked(language: Language, names: set[str], drawings: Drawings, reported: Container[str]) -> MarkedText:
    def image(path: str, description: str) -> str:
        [(_, experiment, figure)] = FIGURE.findall(f"![]({path})")
        where = f' <a href="#{experiment}">{EVIDENCE.said(language)}</a>' if experiment in reported else ""
        drawing = drawn(drawings(experiment, figure).said(language), description)
        return f"<figure>{drawing}<figcaption>{escape(description)}{where}</figcaption></figure>"

    return MarkedText(link=lambda target: _address(target, names), image=image, table=TABLE.said(language))


def _address(target: str, names: set[str]) -> str | None:
    """Where a link of the course leads within the one page; files elsewhere are not part of it."""
    file, _, part = target.partition("#")
    if file == LEDGER_FILE:
        return f"#mistake-{part}" if part else "#ledger"
    name = file.removesuffix(".md")
    return f"#{_anchor(name)}" if name in names else None


def _anchor(name: str) -> str:
    return "course" if name == CONTENTS else f"course-{name}"

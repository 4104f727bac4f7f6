"""All findings as one HTML file in both languages that needs no server and asks nothing of anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from clearformer.lab.bilingual import LANGUAGES, Bilingual, Language
from clearformer.lab.course import read_course, shipped_drawing, shipped_measurements
from clearformer.lab.course_html import course_sections, ledger_section
from clearformer.lab.experiment import Experiment, Findings, MeasuredTable, Scale
from clearformer.lab.lab_page import TAGS, drawn, made_with, said, whole_page, write_page
from clearformer.lab.ledger import entries_of
from clearformer.lab.noted import note_findings
from clearformer.lab.told import COLON, WORDS, checks_table
from clearformer.lab.verdicts import RULE, VERDICTS, number

NAME = "report.html"
TITLE = Bilingual("What is said of the Transformer, measured", "关于 Transformer 的说法，逐条实测")
INTRODUCTION = Bilingual(
    "Every claim of five study notes as an experiment: what is said, what was measured, and whether it holds. The "
    "code is the package's own, and each verdict follows from the numbers by one rule. A course with the same figures "
    "comes first.",
    "把五篇学习笔记里的说法逐条做成实验：说了什么，测到什么，成不成立。所用代码就是这个软件包自己的代码，每个结论都"
    "按同一条规则由数字得出。前面是一门课，用的就是这些实验的图。",
)


@dataclass(frozen=True, kw_only=True)
class Reported:
    """An experiment with what it found, or why it could not run."""

    experiment: Experiment
    findings: Findings | None = None
    missing: str = ""


def write_report(folder: Path, reported: Sequence[Reported], scale: Scale, language: Language) -> Path:
    """Write the page; gives its path."""
    return write_page(folder / NAME, report_page(reported, scale, language))


def report_page(reported: Sequence[Reported], scale: Scale, language: Language) -> str:
    """The whole page: the course with this run's own figures, every experiment, the ledger."""
    found = {one.experiment.name: one.findings for one in reported if one.findings is not None}
    measured = {name: note_findings(findings) for name, findings in found.items()}
    names = {one.experiment.name for one in reported}

    def drawing(experiment: str, figure: str) -> Bilingual:
        own = found[experiment].figures if experiment in found else ()
        return next((one.svg for one in own if one.name == figure), None) or shipped_drawing(experiment, figure)

    body = [
        *course_sections(read_course(), drawing, names),
        *_summary(reported),
        *_sections(reported),
        *ledger_section({**shipped_measurements(), **measured}, names),
    ]
    return whole_page(TITLE, _header(scale), body, language)


def _header(scale: Scale) -> Iterator[str]:
    yield f"<h1>{said(TITLE)}</h1>{said(INTRODUCTION, 'p')}"
    parts = {
        "course": Bilingual("The course", "课程"),
        "verdicts": Bilingual("Verdicts", "结论一览"),
        "ledger": Bilingual("The ledger of mistakes", "错误清单"),
    }
    links = " · ".join(f'<a href="#{part}">{said(name)}</a>' for part, name in parts.items())
    yield f"<nav>{links}</nav>"
    sizes = {"quick": Bilingual("quick scale", "快速规模"), "full": Bilingual("full scale", "完整规模")}
    yield f'<p class="facts">{escape(made_with())}; {said(sizes[scale])}</p>'


def _summary(reported: Sequence[Reported]) -> Iterator[str]:
    yield f'<section id="verdicts"><h2>{said(Bilingual("Verdicts", "结论一览"))}</h2>'
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(
        f'<th scope="col">{said(name)}</th>' for name in (Bilingual("no.", "题号"), WORDS["question"], WORDS["verdict"])
    )
    yield "</tr></thead><tbody>"
    for one in reported:
        link = f'<a href="#{one.experiment.name}">{said(one.experiment.question)}</a>'
        yield f"<tr><td>{escape(one.experiment.number)}</td><td>{link}</td><td>{_verdict(one)}</td></tr>"
    yield f"</tbody></table></div>{said(RULE, 'p')}</section>"


def _verdict(one: Reported) -> str:
    if one.findings is None:
        return f'<span class="verdict v-not-run">{said(Bilingual("not run", "未运行"))}</span>'
    kind = one.findings.verdict.replace(" ", "-")
    return f'<span class="verdict v-{kind}">{said(VERDICTS[one.findings.verdict])}</span>'


def _sections(reported: Sequence[Reported]) -> Iterator[str]:
    for one in reported:
        experiment, findings = one.experiment, one.findings
        yield f'<section id="{experiment.name}"><h2>{said(_heading(experiment))}</h2>'
        yield f'<p class="facts">{said(WORDS["says"])}{said(COLON)}</p>'
        yield f"<blockquote>{said(experiment.claim)}</blockquote>"
        yield f"<p>{said(WORDS['verdict'])}{said(COLON)}{_verdict(one)}</p>{said(experiment.answer, 'p')}"
        if findings is None:
            yield f'<p lang="en" class="always">{escape(one.missing)}</p>'
        else:
            yield from _evidence(experiment, findings)
        mistakes = ", ".join(
            f'<a href="#mistake-{entry.number}">{entry.number}</a>' for entry in entries_of(experiment.name)
        )
        if mistakes:
            yield f"<p>{said(Bilingual('In the ledger of mistakes:', '错误清单中的条目：'))} {mistakes}</p>"
        places = escape(", ".join(experiment.code))
        yield f'<p class="code">{said(Bilingual("In the code:", "代码："))} {places}</p></section>'


def _heading(experiment: Experiment) -> Bilingual:
    question, asked = experiment.question, experiment.number
    if asked == "–":
        return question
    return Bilingual(f"Question {asked}: {question.en}", f"第 {asked} 题：{question.zh}")


def _evidence(experiment: Experiment, findings: Findings) -> Iterator[str]:
    """Figures, tables and checks."""
    yield f"<p>{said(WORDS['expected'])}{said(COLON)}{said(experiment.expected)}</p>"
    for figure in findings.figures:
        drawings = "".join(
            f'<div lang="{TAGS[one]}">{drawn(figure.svg.said(one), figure.caption.said(one))}</div>'
            for one in LANGUAGES
        )
        yield f"<figure>{drawings}</figure>"
    for place, table in enumerate([*findings.tables, checks_table(findings)]):
        yield from _table(table, f"{experiment.name}-table-{place}")
    if experiment.timed:
        yield f'<p class="facts">{said(WORDS["times"])}</p>'


def _table(table: MeasuredTable, name: str) -> Iterator[str]:
    """It scrolls by itself where the screen is narrow, and can be reached with the keyboard."""
    yield f'<div class="wide" tabindex="0" role="group" aria-labelledby="{name}"><table>'
    yield f'<caption id="{name}">{said(table.title)}</caption><thead><tr>'
    yield "".join(f'<th scope="col">{said(one)}</th>' if one else "<td></td>" for one in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        shown = (number(one) if isinstance(one, int | float) else said(one) for one in row)
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in shown) + "</tr>"
    yield "</tbody></table></div>"

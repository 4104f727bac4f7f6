"""Write what the course takes from the lab: figures, measurements, and the ledger of mistakes as a page.

python tools/course_pages.py            measure what is not known yet, then write
python tools/course_pages.py NAME...    only these experiments anew; the others stay as they are

An experiment that was measured at the full scale is taken so; one that takes more than two minutes and was not is taken
at the quick scale, and `docs/course/measured.json` says which.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from clearformer import __version__
from clearformer.lab.bilingual import LANGUAGES, Bilingual, Language
from clearformer.lab.catalogue import EXPERIMENTS, find_experiment
from clearformer.lab.conduct import conduct, is_kept
from clearformer.lab.course import MEASURED, course_folder, read_course, shipped_measurements
from clearformer.lab.experiment import Experiment, Findings, Scale
from clearformer.lab.kept_results import KeptResults, usual_folder
from clearformer.lab.ledger import SEVERITIES, measured_lines, read_ledger
from clearformer.lab.noted import note_findings, noted_data

LONG = 2.0  # minutes

TITLE = Bilingual("The ledger of mistakes", "错误清单")
LEAD = Bilingual(
    "Thirty-three sentences of five study notes that are wrong, loose, or slips of the pen; what is so; and what was "
    "measured. Made from `src/clearformer/lab/ledger.toml` by `python tools/course_pages.py`; `clearformer lab NAME` "
    "measures it again.",
    "五篇学习笔记里的三十三处错误、不准确和笔误；正确的说法；以及实测结果。本页由 `python tools/course_pages.py` 根据 "
    "`src/clearformer/lab/ledger.toml` 生成；用 `clearformer lab NAME` 可以重新测量。",
)
WROTE = Bilingual("The notes", "笔记原话")
RIGHT = Bilingual("So it is", "正确的说法")
FOUND = Bilingual("Measured", "实测")
AGAIN = Bilingual("Again", "重测")


def main(names: list[str]) -> None:
    """Figures, numbers, ledger."""
    known = _known()
    for name in names or EXPERIMENTS:
        experiment = find_experiment(name)
        scale = _scale(experiment)
        findings = conduct(experiment, scale, kept=KeptResults(usual_folder()))
        _draw(name, findings)
        seeds = len({trial.seed for trial in experiment.trials(scale)})
        today = datetime.now(UTC).date().isoformat()
        known[name] = {"scale": scale, "seeds": seeds, "date": today, **noted_data(note_findings(findings))}
        print(f"{name:<19} {scale:<5} {findings.verdict}", flush=True)
    ordered = {name: known[name] for name in EXPERIMENTS if name in known}
    _write(course_folder() / MEASURED, json.dumps({"version": __version__, "experiments": ordered}, **_READABLE))
    shipped_measurements.cache_clear()
    for language in LANGUAGES:
        _write(course_folder() / language / "mistakes.md", ledger_page(language))


_READABLE = {"ensure_ascii": False, "indent": 1}


def ledger_page(language: Language) -> str:
    """The ledger as Markdown."""
    measured, lines = shipped_measurements(), [f"# {TITLE.said(language)}", "", LEAD.said(language)]
    dot, stop = (": ", ".") if language == "en" else ("：", "。")
    for entry in read_ledger():
        lines += ["", f"## {entry.number}", ""]
        said = entry.said.said(language)
        lines.append(f"- **{WROTE.said(language)}** ({SEVERITIES[entry.severity].said(language)}){dot}{said}")
        lines.append(f"- **{RIGHT.said(language)}**{dot}{entry.right.said(language)}")
        for line in measured_lines(entry, measured):
            lines.append(f"- **{FOUND.said(language)}**{dot}{line.said(language)}{stop}")
        if entry.experiments:
            commands = ", ".join(f"`clearformer lab {name}`" for name in entry.experiments)
            lines.append(f"- **{AGAIN.said(language)}**{dot}{commands}")
    return "\n".join(lines) + "\n"


def _known() -> dict[str, object]:
    file = course_folder() / MEASURED
    return dict(json.loads(file.read_text(encoding="utf-8"))["experiments"]) if file.is_file() else {}


def _scale(experiment: Experiment) -> Scale:
    kept = KeptResults(usual_folder())
    return "full" if experiment.minutes <= LONG or is_kept(experiment, "full", kept) else "quick"


def _draw(name: str, findings: Findings) -> None:
    """The figures that a page of the course shows."""
    shown = {figure for page in read_course() for experiment, figure in page.figures if experiment == name}
    for figure in findings.figures:
        for language in LANGUAGES:
            if figure.name in shown:
                path = course_folder() / "figures" / f"{name}.{figure.name}.{language}.svg"
                _write(path, figure.svg.said(language))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

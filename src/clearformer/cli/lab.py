"""clearformer lab: claims about the Transformer as experiments, each with its numbers and a verdict."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.parser import suggestion
from clearformer.cli.usage import UsageError
from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.lab.experiment import Experiment, Findings

ALL, COURSE = "all", "course"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="an experiment, `all`, or `course`; without it they are listed"
    )
    parser.add_argument("--quick", action="store_true", help="seconds instead of the full number of seeds and sizes")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured before")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="write figures and numbers there; with all, a report; with course, the course",
    )
    parser.add_argument(
        "--language",
        choices=("en", "zh"),
        default=_usual_language(),
        help="of what is printed (the one of your locale, else en)",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def _usual_language() -> str:
    """Chinese where the locale is; the first variable that is set decides, as for other programs."""
    chosen = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "zh" if chosen.lower().startswith("zh") else "en"


def run(arguments: argparse.Namespace) -> None:
    """List, run one, or run all."""
    check_folder(arguments.out, "--out")
    from clearformer.lab.catalogue import EXPERIMENTS

    if arguments.name is None:
        for option in ("quick", "again", "out"):
            if getattr(arguments, option):
                raise UsageError(f"--{option} belongs to an experiment; name one, or all")
        _list(arguments)
    elif arguments.name == ALL:
        _run_all(arguments)
    elif arguments.name == COURSE:
        _write_course(arguments)
    elif arguments.name not in EXPERIMENTS:
        near = suggestion(arguments.name, [*EXPERIMENTS, ALL, COURSE]) or "; `clearformer lab` lists them"
        raise UsageError(f"there is no experiment {arguments.name!r}{near}")
    else:
        _run_one(arguments)


def _list(arguments: argparse.Namespace) -> None:
    from clearformer.lab.catalogue import list_experiments
    from clearformer.lab.course import shipped_measurements
    from clearformer.lab.kept_results import KeptResults, usual_folder
    from clearformer.lab.told import COLON, WORDS, described, verdict_lines

    kept, authors, language = KeptResults(usual_folder()), shipped_measurements(), arguments.language
    experiments = list_experiments()
    runs = {one.name: (authors.get(one.name), kept.last(one.name)) for one in experiments}
    listed = [described(one, language, runs[one.name][1], runs[one.name][0]) for one in experiments]
    if arguments.json:
        print(json.dumps(listed, ensure_ascii=False, indent=1))
        return
    unit = "min" if language == "en" else "分钟"
    for one in listed:
        print(f"{one['number']:>6}  {one['name']:<19} {one['question']}")
        print(f"{'':8}{WORDS['says'].said(language)}{COLON.said(language)}{one['claim']}")
        print(f"{'':8}{one['minutes']:g} {unit}")
        for line in verdict_lines(*runs[one["name"]], language):
            print(f"{'':8}{line}")


def _run_one(arguments: argparse.Namespace) -> None:
    from clearformer.lab.catalogue import find_experiment
    from clearformer.lab.told import findings_data, findings_lines

    experiment = find_experiment(arguments.name)
    findings = _conducted(experiment, arguments)
    data = findings_data(experiment, findings, arguments.language)
    if arguments.json:
        print(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        print("\n".join(findings_lines(experiment, findings, arguments.language)))
    if arguments.out is not None:
        _write(arguments.out, experiment, findings, arguments.language, data)


def _conducted(experiment: "Experiment", arguments: argparse.Namespace) -> "Findings":
    from clearformer.cli.progress import progress_bar
    from clearformer.lab.conduct import conduct
    from clearformer.lab.kept_results import KeptResults, usual_folder

    scale: Any = "quick" if arguments.quick else "full"
    with progress_bar(experiment.name) as watch:
        return conduct(experiment, scale, kept=KeptResults(usual_folder()), again=arguments.again, watch=watch)


def _write(folder: Path, experiment: "Experiment", findings: "Findings", language: Any, data: dict[str, Any]) -> None:
    """The figures and the numbers as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in findings.figures:
        file = folder / f"{experiment.name}-{figure.name}.svg"
        file.write_text(figure.svg.said(language), encoding="utf-8", newline="\n")
        print(file, file=sys.stderr)
    file = folder / f"{experiment.name}.json"
    file.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _run_all(arguments: argparse.Namespace) -> None:
    """One after the other; one that lacks its data is named, and the others run."""
    from clearformer.lab.catalogue import list_experiments
    from clearformer.lab.experiment import DataNeededError
    from clearformer.lab.lab_report import Reported, write_report
    from clearformer.lab.told import findings_data
    from clearformer.lab.verdicts import VERDICTS

    reported, told = [], []
    for experiment in list_experiments():
        try:
            findings = _conducted(experiment, arguments)
        except DataNeededError as error:
            print(f"{experiment.name}: {error}", file=sys.stderr)
            reported.append(Reported(experiment=experiment, missing=str(error)))
            continue
        reported.append(Reported(experiment=experiment, findings=findings))
        told.append(findings_data(experiment, findings, arguments.language))
        if not arguments.json:
            print(f"{experiment.name:<19} {VERDICTS[findings.verdict].said(arguments.language)}", flush=True)
    if arguments.json:
        print(json.dumps(told, ensure_ascii=False, indent=1))
    if arguments.out is not None:
        scale: Any = "quick" if arguments.quick else "full"
        print(write_report(arguments.out, reported, scale, arguments.language), file=sys.stderr)


def _write_course(arguments: argparse.Namespace) -> None:
    """The course as one page, with the figures that come with it; nothing is measured."""
    for option in ("quick", "again", "json"):
        if getattr(arguments, option):
            raise UsageError(f"--{option} belongs to an experiment; the course is only written")
    if arguments.out is None:
        raise UsageError("say with --out where to write the course: clearformer lab course --out FOLDER")
    from clearformer.lab.course_html import write_course

    print(write_course(arguments.out, arguments.language))

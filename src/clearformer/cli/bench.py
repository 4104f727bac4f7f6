"""clearformer bench: speed, memory and start-up time beside other programs, in one run."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.parser import number_between
from clearformer.cli.usage import UsageError
from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.bench.idleness import Moment
    from clearformer.bench.programme import Programme
    from clearformer.bench.race import Turn

PARTS = ("limits", "train", "decode", "pictures", "startup", "scaling")
USUAL = ("train", "decode", "startup")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)} ({' '.join(USUAL)})"
    )
    parser.add_argument("--peers", nargs="+", metavar="NAME", help="only these programs, and this package (all)")
    parser.add_argument(
        "--sizes", nargs="+", choices=("tiny", "base"), default=["tiny"], help="sizes of the models (tiny)"
    )
    many = number_between(1, 1_000_000)
    parser.add_argument("--repeats", type=many, default=5, metavar="N", help="turns that every program takes (5)")
    parser.add_argument(
        "--seconds",
        type=number_between(0.01, 1e6),
        default=20.0,
        metavar="X",
        help="how long each case is measured in a turn (20)",
    )
    parser.add_argument("--threads", type=many, metavar="N", help="processors that every program may use (all)")
    parser.add_argument("--sentences", type=many, default=1000, metavar="N", help="sentences to translate (1000)")
    parser.add_argument("--json", action="store_true", help="print everything that was measured as JSON")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="also write report.json, report.md and plots there")


def run(arguments: argparse.Namespace) -> None:
    """Check that the machine is idle, measure, and report."""
    parts = arguments.parts or USUAL
    check_folder(arguments.out, "--out")
    if unknown := [part for part in parts if part not in PARTS]:
        raise UsageError(f"there is no part called {', '.join(unknown)}; choose from {', '.join(PARTS)}")

    from clearformer.bench import idleness
    from clearformer.bench.contenders import benchmarks_folder, read_contenders
    from clearformer.bench.programme import BenchSettings, Programme
    from clearformer.foundation.machine import cores

    settings = BenchSettings(
        threads=arguments.threads or len(cores()),
        seconds=arguments.seconds,
        repeats=arguments.repeats,
        sizes=tuple(arguments.sizes),
        sentences=arguments.sentences,
    )
    folder = None if set(parts) == {"limits"} else benchmarks_folder()
    programme = Programme(folder, read_contenders(folder) if folder else {}, settings, _say)
    moment = idleness.look()
    if disturbance := moment.disturbance():
        print(f"warning: {disturbance}; do not quote the figures of this run", file=sys.stderr, flush=True)
    for part in PARTS:
        if part in parts:
            getattr(programme, part)(*([] if part == "limits" else [arguments.peers]))
    _tell(programme, moment, arguments)


def _say(turn: "Turn") -> None:
    """One line per turn, so that one sees that something happens."""
    found = "; ".join(f"{one.case}: {one.rate:,.1f} {one.unit}/s" for one in turn.readings)
    print(f"{turn.name}: {turn.failure or found}", file=sys.stderr, flush=True)


def _tell(programme: "Programme", moment: "Moment", arguments: argparse.Namespace) -> None:
    """Print the tables or the JSON, and write both where asked."""
    from clearformer.bench import idleness, results_page

    results, processor = programme.results, idleness.processor_name()
    told: dict[str, Any] = {
        **results_page.to_json(
            moment=moment,
            processor=processor,
            settings=vars(programme.settings),
            tables=results.tables,
            turns=results.turns,
        ),
        "footprints": results.footprints,
        "series": results.series,
    }
    text = results_page.to_markdown(results.tables, moment=moment, processor=processor, turns=results.turns)
    text += results_page.footprint_table(results.footprints)
    as_json = json.dumps(told, ensure_ascii=False, indent=1)
    print(as_json if arguments.json else text)
    if arguments.out is not None:
        _write(arguments.out, as_json, text, results.series)


def _write(folder: Path, as_json: str, text: str, series: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    from clearformer.figures.chart import chart

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(as_json + "\n", encoding="utf-8")
    (folder / "report.md").write_text(text, encoding="utf-8")
    labels = {"length": "tokens per sentence", "vocabulary": "pieces", "width": "width of the model"}
    for axis, lines in series.items():
        drawn = chart(f"Training cost against {axis}", labels[axis], "seconds per thousand target tokens", lines)
        (folder / f"{axis}.svg").write_text(drawn, encoding="utf-8")

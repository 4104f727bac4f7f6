"""What a run of the bench does: which races, on which work, against which limits. The results are tables and turns."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.bench import machine_limits, picture_work, results_page, startup, work
from clearformer.bench.contenders import Contender, choose
from clearformer.bench.race import Runner, Turn, race
from clearformer.bench.results_page import Names, ResultTable, tabulate
from clearformer.foundation.machine import cache_folder

LIMITS = "limits"
SIZES = ("tiny", "base")
LENGTH = 20  # tokens of every translation in the decoding race
PATIENCE = 300.0  # seconds that a turn may take besides measuring: imports, building, warm-up
SLOWEST = 12.0  # plus this multiple of the measured seconds: a slow peer finishes its last call
# One axis is changed at a time, the others stay at the first model's: 32 tokens, 8,000 pieces, 128 wide.
SCALING: dict[str, tuple[int, ...]] = {
    "length": (8, 16, 32, 64, 128, 256, 512),
    "vocabulary": (2_000, 4_000, 8_000, 16_000, 32_000, 64_000),
    "width": (64, 128, 256, 512),
}
USUAL = {"length": 32, "vocabulary": 8_000, "width": 128}
SCALED_PEERS = ("transformers", "torch")  # as many lines as a chart can show


@dataclass(frozen=True, kw_only=True)
class BenchSettings:
    """How long and how often."""

    threads: int
    seconds: float = 20.0  # of measuring in a case of a turn
    repeats: int = 5  # turns of each contender
    sizes: tuple[str, ...] = ("tiny",)
    sentences: int = work.SENTENCES

    def __post_init__(self) -> None:
        for name in ("threads", "repeats", "sentences"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.seconds <= 0:
            raise ValueError(f"seconds must be above 0, not {self.seconds:g}")

    @property
    def patience(self) -> float:
        """Seconds after which a turn counts as hung. Decoding has four cases."""
        return PATIENCE + 4 * SLOWEST * self.seconds


@dataclass
class Results:
    """The results of the races so far."""

    tables: list[ResultTable] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    footprints: dict[str, dict[str, Any]] = field(default_factory=dict)
    series: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)  # axis -> title -> points


class Programme:
    """Runs races one after the other and keeps the results."""

    def __init__(
        self,
        folder: Path | None,
        known: Mapping[str, Contender],
        settings: BenchSettings,
        watch: Callable[[Turn], None],
    ) -> None:
        self.folder, self.known, self.settings, self.watch = folder, known, settings, watch
        self.results = Results()
        self.works = cache_folder() / "bench"

    def limits(self) -> None:
        """The machine alone."""
        turns = self._race([_limits()], {})
        for case in dict.fromkeys(reading.case for turn in turns for reading in turn.readings):
            self.results.tables.append(tabulate(case, turns, {LIMITS: Names(title="this machine", ours=True)}))

    def train(self, peers: Sequence[str] | None) -> None:
        """Training, one table per model size."""
        chosen = choose(self.known, peers, task="train")
        text = work.multi30k(self.works)
        for size in self.settings.sizes:
            self._train(text, size, {"preset": size}, chosen)

    def _train(self, text: work.Work, case: str, model: Mapping[str, Any], chosen: Sequence[Contender]) -> ResultTable:
        job = work.training_job(text, case, model)
        turns, missing = self._compete(chosen, job)
        operations = work.training_operations(text, work.configuration(text, model))
        best = results_page.median_rate(turns, machine_limits.product_case(self.settings.threads))
        table = tabulate(
            case,
            [turn for turn in turns if turn.name != LIMITS],
            _names(chosen),
            missing=missing,
            operations=operations,
            limit=None if best is None else 1e9 * best,
            note=f"{operations / 1e6:.1f} MFLOP per target token; limit {best:.0f} GFLOP/s" if best else "",
        )
        self.results.tables.append(table)
        return table

    def decode(self, peers: Sequence[str] | None) -> None:
        """Decoding, one table per size, beam and batch size."""
        chosen = choose(self.known, peers, task="decode")
        text = work.multi30k(self.works)
        for size in self.settings.sizes:
            job = work.decoding_job(text, size, {"preset": size}, length=LENGTH, sentences=self.settings.sentences)
            turns, missing = self._compete(chosen, job)
            raced = [turn for turn in turns if turn.name != LIMITS]
            beams = {reading.case: reading.facts.get("beam") for turn in raced for reading in turn.readings}
            best = results_page.median_rate(turns, machine_limits.product_case(self.settings.threads))
            config = work.configuration(text, {"preset": size})
            for case, beam in (beams or {size: None}).items():
                against: dict[str, Any] = {}
                if beam and best:  # one sentence alone is bound by memory, not by products
                    operations = work.decoding_operations(text, config, length=LENGTH, beam=beam)
                    against = {"operations": operations, "limit": 1e9 * best}
                    against["note"] = f"{operations / 1e9:.2f} GFLOP per sentence; limit {best:.0f} GFLOP/s"
                self.results.tables.append(tabulate(case, raced, _names(chosen), missing=missing, **against))

    def pictures(self, peers: Sequence[str] | None) -> None:
        """Vision Transformers, one table per size and use: training, the bare network, and from pictures to classes."""
        chosen = choose(self.known, peers, task="pictures")
        ours = next((one.name for one in chosen if _ours(one)), "")
        for shape in picture_work.SHAPES:
            turns, missing = self._compete(chosen, picture_work.picture_job(self.works, shape))
            raced = [turn for turn in turns if turn.name != LIMITS]
            for case in dict.fromkeys(reading.case for turn in raced for reading in turn.readings) or [shape.case]:
                note = picture_work.by_processor(raced, case, ours)
                self.results.tables.append(tabulate(case, raced, _names(chosen), missing=missing, note=note))

    def startup(self, peers: Sequence[str] | None) -> None:
        """Start-up times and installed sizes."""
        chosen = [one for one in self.known.values() if peers is None or one.name in peers or _ours(one)]
        present = [one for one in chosen if one.missing() is None]
        text = work.multi30k(self.works)
        model = work.decoding_job(text, "tiny", {"preset": "tiny"}, length=LENGTH)["model_folder"]
        timed = {one.name: startup.commands(one, Path(model)) for one in present}
        raced = startup.race(timed, repeats=self.settings.repeats, limit=PATIENCE, watch=self.watch)
        for case, turns in raced.items():
            self.results.turns += turns
            self.results.tables.append(tabulate(case, turns, _names(chosen)))
        for one in present:
            if one.imports is not None:
                self.results.footprints[one.title] = startup.footprint_of(one)

    def scaling(self, peers: Sequence[str] | None) -> None:
        """How the cost of training grows: seconds per thousand target tokens against length, vocabulary and width."""
        chosen = choose(self.known, SCALED_PEERS if peers is None else peers, task="train")
        for axis, values in SCALING.items():
            lines: dict[str, list[tuple[float, float]]] = {one.title: [] for one in chosen}  # the same colours in all
            for value in values:
                at = {**USUAL, axis: value}
                text = work.made_up(self.works, length=at["length"], vocab_size=at["vocabulary"])
                model = {"preset": "tiny", "dim": at["width"], "hidden_dim": 2 * at["width"], "max_len": 1024}
                for row in self._train(text, f"{axis} {value:,}", model, chosen).rows:
                    if row.rate is not None:
                        lines[row.title].append((float(value), 1000 / row.rate))
            if any(lines.values()):
                self.results.series[axis] = {title: line for title, line in lines.items() if line}

    def _compete(self, chosen: Sequence[Contender], job: Mapping[str, Any]) -> tuple[list[Turn], dict[str, str]]:
        """A race of the contenders that can start, with the machine's limits; and why the others cannot."""
        assert self.folder is not None
        missing = {one.name: reason for one in chosen if (reason := one.missing()) is not None}
        runners = [_runner(one, self.folder) for one in chosen if one.name not in missing]
        return self._race([_limits(), *runners], job), missing

    def _race(self, runners: Sequence[Runner], job: Mapping[str, Any]) -> list[Turn]:
        timed = {**job, "threads": self.settings.threads, "seconds": self.settings.seconds}
        turns = race(runners, timed, repeats=self.settings.repeats, limit=self.settings.patience, watch=self.watch)
        self.results.turns += turns
        return turns


def _limits() -> Runner:
    return Runner(name=LIMITS, command=(sys.executable, "-m", machine_limits.__name__))


def _runner(one: Contender, folder: Path) -> Runner:
    variables = {**one.variables, "PYTHONPATH": str(folder)}
    return Runner(name=one.name, command=one.command(folder), variables=variables, options=one.options)


def _names(chosen: Sequence[Contender]) -> dict[str, Names]:
    return {one.name: Names(title=one.title, ours=_ours(one)) for one in chosen}


def _ours(one: Contender) -> bool:
    return one.package == "clearformer"

"""From turns to tables: medians, ratios, the fraction of the machine's limit, and whether they may be quoted."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from clearformer.bench.idleness import QUIET_CORES, Moment
from clearformer.bench.race import RaceReading, Turn

DO_NOT_QUOTE = "The machine was not idle. Do not quote these figures"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A contender's line in a table; rates and times are medians over its turns."""

    name: str
    title: str
    ours: bool
    version: str | None = None
    turns: int = 0
    rate: float | None = None  # units per second
    low: float | None = None  # the slowest turn
    high: float | None = None  # the fastest turn
    latency: float | None = None  # seconds of one call
    peak_bytes: int | None = None
    against_peer: float | None = None  # rate over that of the fastest peer
    of_limit: float | None = None  # share of the machine's matrix products
    facts: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """One case with the results of all contenders."""

    case: str
    unit: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Names:
    """A contender's name, and whether it is this package."""

    title: str
    ours: bool


def tabulate(
    case: str,
    turns: Sequence[Turn],
    names: Mapping[str, Names],
    *,
    missing: Mapping[str, str] | None = None,
    operations: float | None = None,
    limit: float | None = None,
    note: str = "",
) -> ResultTable:
    """The table of one case, fastest first, failed contenders last.

    missing: contenders that could not even start, with the reason. operations: floating-point operations per unit;
    limit: the machine's matrix products, in operations per second.
    """
    rows = [_row(name, names[name], case, [turn for turn in turns if turn.name == name]) for name in _in_order(turns)]
    rows += [_absent(name, names[name], reason) for name, reason in (missing or {}).items()]
    fastest = max((row.rate for row in rows if row.rate is not None and not row.ours), default=None)
    at_best = operations / limit if operations and limit else None
    finished = sorted((_compared(row, fastest, at_best) for row in rows), key=lambda row: -(row.rate or 0.0))
    units = {reading.unit for turn in turns for reading in turn.readings if reading.case == case}
    return ResultTable(case=case, unit=units.pop() if units else "", rows=tuple(finished), note=note)


def _in_order(turns: Iterable[Turn]) -> list[str]:
    return list(dict.fromkeys(turn.name for turn in turns))


def _row(name: str, called: Names, case: str, turns: Sequence[Turn]) -> Row:
    readings = [reading for turn in turns for reading in turn.readings if reading.case == case]
    failure = next((turn.failure for turn in turns if turn.failure), None)
    if not readings:
        return _absent(name, called, failure or "did not measure this case")
    rates = [reading.rate for reading in readings]
    return Row(
        name=name,
        title=called.title,
        ours=called.ours,
        version=readings[-1].facts.get("version"),
        turns=len(readings),
        rate=statistics.median(rates),
        low=min(rates),
        high=max(rates),
        latency=median_of(reading.latency for reading in readings),
        peak_bytes=max((turn.peak_bytes for turn in turns if turn.peak_bytes is not None), default=None),
        facts={key: value for key, value in readings[-1].facts.items() if key != "version"},
        failure=failure,
    )


def _absent(name: str, called: Names, reason: str) -> Row:
    return Row(name=name, title=called.title, ours=called.ours, failure=reason)


def _compared(row: Row, fastest: float | None, seconds_at_best: float | None) -> Row:
    """A row with its ratios. seconds_at_best: the time of a unit if it were matrix products alone."""
    if row.rate is None:
        return row
    ratio = row.rate / fastest if fastest else None
    share = row.rate * seconds_at_best if seconds_at_best else None
    return Row(**{**vars(row), "against_peer": ratio, "of_limit": share})


def median_of(values: Iterable[float | None]) -> float | None:
    """The median of those that are known, if any is."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def median_rate(turns: Iterable[Turn], case: str) -> float | None:
    """The median rate of a case over all turns."""
    return median_of(reading.rate for turn in turns for reading in turn.readings if reading.case == case)


def disturbances(moment: Moment, turns: Iterable[Turn]) -> list[str]:
    """Why a run may not be quoted; empty if the machine was idle otherwise from start to end."""
    reasons = [reason] if (reason := moment.disturbance()) else []
    noisy = [turn for turn in turns if turn.others is not None and turn.others > QUIET_CORES]
    if noisy:
        worst = max(noisy, key=lambda turn: turn.others or 0.0)
        reasons.append(
            f"other programs were running during {len(noisy)} of the turns "
            f"(worst: {worst.others:.1f} cores beside {worst.name})"
        )
    return reasons


def to_json(
    *, moment: Moment, processor: str, settings: Mapping[str, Any], tables: Sequence[ResultTable], turns: Sequence[Turn]
) -> dict[str, Any]:
    """Everything that was measured, for programs."""
    reasons = disturbances(moment, turns)
    return {
        "quotable": not reasons,
        "disturbances": reasons,
        "machine": {"processor": processor, **asdict(moment)},
        "settings": dict(settings),
        "tables": [asdict(table) for table in tables],
        "turns": [{**asdict(turn), "readings": [_told(reading) for reading in turn.readings]} for turn in turns],
    }


def _told(reading: RaceReading) -> dict[str, Any]:
    return {**asdict(reading), "rate": reading.rate}


def to_markdown(tables: Sequence[ResultTable], *, moment: Moment, processor: str, turns: Sequence[Turn]) -> str:
    """The tables for people."""
    reasons = disturbances(moment, turns)
    state = "idle before and during the run" if not reasons else f"**{DO_NOT_QUOTE}**: {'; '.join(reasons)}"
    lines = [f"{processor}, {moment.cores} cores, load {moment.load:.2f} before; {state}.", ""]
    for table in tables:
        lines += [_table_text(table), ""]
    return "\n".join(lines)


def _table_text(table: ResultTable) -> str:
    timed = any(row.latency is not None for row in table.rows)
    limited = any(row.of_limit is not None for row in table.rows)
    heading = ["", "version", f"{table.unit or 'units'}/s (slowest–fastest turn)", "× fastest peer"]
    heading += ["p50 of one call"] * timed + ["of the limit"] * limited + ["peak memory"]
    lines = [f"**{table.case}**" + (f" ({table.note})" if table.note else ""), "", _line(heading)]
    lines.append(_line(["---", *["---:" for _ in heading[1:]]]))
    for row in table.rows:
        if row.rate is None:
            lines.append(_line([row.title, row.version or "–", f"– ({row.failure})", *["–" for _ in heading[3:]]]))
            continue
        cells = [f"**{row.title}**" if row.ours else row.title, row.version or "–"]
        cells += [f"{_number(row.rate)} ({_number(row.low)}–{_number(row.high)})", _ratio(row.against_peer)]
        cells += ["–" if row.latency is None else f"{1000 * row.latency:.1f} ms"] * timed
        cells += ["–" if row.of_limit is None else f"{row.of_limit:.0%}"] * limited
        cells.append("–" if row.peak_bytes is None else f"{row.peak_bytes / 2**20:,.0f} MiB")
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def footprint_table(footprints: Mapping[str, Mapping[str, Any]]) -> str:
    """The size of each installation; torch counts for every package that requires it."""
    if not footprints:
        return ""
    lines = [_line(["", "version", "packages", "installed size", "of it its own", "asked for, not installed here"])]
    lines.append(_line(["---", *["---:"] * 4, "---"]))
    for title, found in footprints.items():
        if "failure" in found:
            lines.append(_line([title, *["–"] * 4, found["failure"]]))
            continue
        sizes = [f"{found[name] / 2**20:,.1f} MiB" for name in ("bytes", "own_bytes")]
        missing = ", ".join(found["not_installed"]) or "nothing"
        lines.append(_line([title, found["version"], str(found["packages"]), *sizes, missing]))
    return "\n".join(["**Footprint**", "", *lines, ""])

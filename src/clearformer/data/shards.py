"""Examples on disk as memory-mapped arrays with named columns, so that a corpus need not fit into memory.

A folder of shards holds, for every shard and column, the numbers of all rows end to end (`.values`) and where each row
begins (`.offsets`, unsigned 64 bit, one more than there are rows), raw and little-endian. A column may be the tokens of
a sentence, the pixels of a picture or a single label. `shards.json` says what the columns are and what they were made
from. The folder is written by `foundation.storage`: complete with a manifest, or absent.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from clearformer.foundation import storage
from clearformer.foundation.locks import only_one

FORMAT = 2
FACTS = "shards.json"
OFFSET_TYPE = "<u8"
ROWS_PER_SHARD = 1_000_000


class ShardError(ValueError):
    """Shards cannot be read or written; the message is one sentence that names the file and what to do."""


class OutdatedShardsError(ShardError):
    """Shards in a format of another version: not damaged, but of no use to this one."""


class Column(NamedTuple):
    """Many rows of one column: all numbers end to end, and how many belong to each row."""

    values: NDArray[Any]
    lengths: NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """What is in the folder, and what it was made from."""

    columns: dict[str, str]  # name -> type of number, in order
    made_from: dict[str, Any]
    tally: dict[str, Any] = field(default_factory=dict)
    shards: list[int] = field(default_factory=list)  # rows in each
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> Self:
        path = folder / FACTS
        try:
            entry = storage.read_json(path)
            if entry["format"] == FORMAT:
                return cls(**entry)
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise ShardError(f"{path} cannot be read ({problem}): delete {folder} to make it anew") from problem
        raise OutdatedShardsError(f"{path} has format {entry['format']} and this version reads {FORMAT}: make it anew")


def token_type_for(vocab_size: int) -> str:
    """The smallest type that holds every id."""
    return "<u2" if vocab_size <= 1 << 16 else "<u4"


class Shards:
    """The rows of a folder of shards, by index; a row is read from disk when it is asked for."""

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        """Open and check sizes; `verify` reads everything once to compare checksums as well."""
        self.folder = folder
        self.facts = ShardFacts.read(folder)
        try:
            storage.verify(folder, content=verify)
        except storage.DamagedError as error:
            damage = str(error).removesuffix("; get the folder anew")
            raise ShardError(f"{damage}: delete {folder} to make it anew") from error
        self._ends = list(accumulate(self.facts.shards))
        self._values = {name: self._map(name, "values", kind) for name, kind in self.facts.columns.items()}
        self._offsets = {name: self._map(name, "offsets", OFFSET_TYPE) for name in self.facts.columns}

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> tuple[NDArray[Any], ...]:
        """One row: the numbers of each column in order, as views of the files."""
        if not 0 <= index < len(self):
            raise IndexError(f"there is no row {index} in {self.folder}, which has {len(self)}")
        shard = bisect_right(self._ends, index)
        row = index - (self._ends[shard - 1] if shard else 0)
        return tuple(
            self._values[name][shard][int(offsets[shard][row]) : int(offsets[shard][row + 1])]
            for name, offsets in self._offsets.items()
        )

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        return (self[index] for index in range(len(self)))

    def lengths(self, column: str) -> NDArray[np.int64]:
        """How many numbers each row of a column has."""
        parts = [np.diff(shard) for shard in self._offsets[column]]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.folder,)  # a data worker maps the files itself instead of receiving a copy

    def _map(self, column: str, kind: str, number_type: str) -> list[NDArray[Any]]:
        names = [f"{shard:05}.{column}.{kind}" for shard in range(len(self.facts.shards))]
        return [_map_file(self.folder / name, number_type) for name in names]


def _reopen(folder: Path) -> Shards:
    return Shards(folder, verify=False)


def _map_file(path: Path, number_type: str) -> NDArray[Any]:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=number_type)
    return np.asarray(np.memmap(path, dtype=number_type, mode="r"))  # plain: slicing a memmap object is slow


def shards_for(
    folder: Path,
    *,
    columns: Mapping[str, str],
    made_from: dict[str, Any],
    fill: Callable[[ShardWriter], dict[str, Any]],
    rows_per_shard: int = ROWS_PER_SHARD,
    same: bool = False,
) -> Shards:
    """The shards that were made from just this, or new ones, which `fill` writes; it returns what it counted.

    Shards that match but are damaged are refused rather than silently replaced: a disk that loses bytes is news.
    same: shards of other data are refused, too, because a run that began with them resumes with them or not at all.
    """
    with only_one(folder.with_name(f".{folder.name}.lock")):
        storage.sweep(folder.parent, folder.name)
        present = facts_of(folder)
        if present is None or _as_read(present.made_from) != _as_read(made_from):
            if same and present is not None:
                raise ShardError(_other_data(folder, present.made_from, made_from))
            with storage.new_folder(folder) as aside:
                with ShardWriter(aside, columns, rows_per_shard=rows_per_shard) as writer:
                    tally = fill(writer)
                facts = ShardFacts(columns=dict(columns), made_from=made_from, tally=tally, shards=writer.shards)
                storage.write_json(aside / FACTS, asdict(facts))
        return Shards(folder)


def facts_of(folder: Path) -> ShardFacts | None:
    """What is said of the shards that are there; a folder of something else is nobody's to replace."""
    if not folder.exists():
        return None
    if not (folder / FACTS).exists():
        raise ShardError(
            f"{folder} exists but holds no shards (there is no {FACTS}): choose another folder for them, or delete "
            "this one"
        )
    try:
        return ShardFacts.read(folder)
    except OutdatedShardsError:
        return None


class ShardWriter:
    """Appends rows to the files of a folder that is being made."""

    def __init__(self, folder: Path, columns: Mapping[str, str], *, rows_per_shard: int = ROWS_PER_SHARD) -> None:
        self.folder, self.columns, self.rows_per_shard = folder, dict(columns), rows_per_shard
        self.shards: list[int] = []
        self._open: dict[str, IO[bytes]] = {}
        self._ends: dict[str, int] = {}

    def add(self, **columns: Column) -> None:
        """Append rows, which stay together in one shard; every column has as many."""
        if columns.keys() != self.columns.keys() or len({len(part.lengths) for part in columns.values()}) != 1:
            raise ValueError(f"give as many rows of each of {', '.join(self.columns)}")
        if not self._open:
            self._begin_shard()
        for name, column in columns.items():
            ends = self._ends[name] + np.cumsum(column.lengths, dtype=OFFSET_TYPE)
            self._write(f"{name}.values", column.values.astype(self.columns[name], copy=False))
            self._write(f"{name}.offsets", ends.astype(OFFSET_TYPE, copy=False))
            self._ends[name] += len(column.values)
        self.shards[-1] += len(column.lengths)
        if self.shards[-1] >= self.rows_per_shard:
            self.close()

    def close(self) -> None:
        """End the present shard. What is still buffered is written now, and may be what does not fit on the disk."""
        files, self._open = list(self._open.values()), {}
        problems: list[ShardError] = []
        for file in files:
            try:
                file.close()
            except OSError as problem:
                problems.append(_unwritable(file, problem))
        if problems:
            raise problems[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except ShardError:
            if error is None:  # what went wrong first is what people should read
                raise

    def _begin_shard(self) -> None:
        number = len(self.shards)
        for name in self.columns:
            for kind in ("values", "offsets"):
                self._open[f"{name}.{kind}"] = (self.folder / f"{number:05}.{name}.{kind}").open("wb")
            self._write(f"{name}.offsets", np.zeros(1, dtype=OFFSET_TYPE))
        self._ends = dict.fromkeys(self.columns, 0)
        self.shards.append(0)

    def _write(self, name: str, numbers: NDArray[Any]) -> None:
        file = self._open[name]
        try:
            file.write(numbers.tobytes())
        except OSError as problem:
            raise _unwritable(file, problem) from problem


def _unwritable(file: IO[bytes], problem: OSError) -> ShardError:
    where = os.fsdecode(file.name)
    return ShardError(f"{where} cannot be written ({problem.strerror}): make room on the disk and start again")


def _other_data(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> str:
    """Which files are not those that shards were made from; all of them where only the way of reading differs."""
    known = {entry["sha256"] for entry in before.get("files", [])}
    named = [entry["name"] for entry in now.get("files", [])]
    changed = [entry["name"] for entry in now.get("files", []) if entry["sha256"] not in known] or named
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"{', '.join(changed[:3])}{more}: not the data that the run was begun with (see {folder}); begin anew"


def _as_read(made_from: dict[str, Any]) -> dict[str, Any]:
    """As it reads after a time on disk (tuples are lists). A file may be moved or touched; its bytes decide."""
    content: dict[str, Any] = json.loads(json.dumps(made_from))
    return {**content, "files": [entry["sha256"] for entry in content.get("files", [])]}

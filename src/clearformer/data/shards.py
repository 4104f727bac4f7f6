"""A tokenised parallel corpus on disk as memory-mapped arrays, so that it need not fit into memory.

A folder of shards holds, for every shard and side, the token ids of all sentences end to end (`.tokens`, unsigned 16 or
32 bit) and where each sentence begins (`.offsets`, unsigned 64 bit, one more than there are sentences), raw and
little-endian. `manifest.json` says what they were made from and what every file must look like. It is written last,
into a folder that gets its name only when everything in it is on disk: a folder of the right name is complete or was
damaged later, never half made.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from bisect import bisect_right
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from clearformer.data.file_facts import sha256_of
from clearformer.data.token_pairs import SPECIALS_PER_SIDE, TokenIds

FORMAT = 1
MANIFEST = "manifest.json"
SIDES = ("source", "target")
OFFSET_TYPE = "<u8"


class ShardError(Exception):
    """Shards cannot be read or written; the message is one sentence that names the file and what to do."""


class OutdatedShardsError(ShardError):
    """Shards in a format of another version: not damaged, but of no use to this one."""


class Sentences(NamedTuple):
    """Many sentences of one side: all ids end to end, and how many belong to each."""

    tokens: TokenIds
    lengths: NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What is in the folder, and what it was made from."""

    made_from: dict[str, Any]
    tally: dict[str, Any]
    token_type: str
    shards: list[int] = field(default_factory=list)  # pairs in each
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> bytes, sha256
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> Self:
        path = folder / MANIFEST
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["format"] == FORMAT:
                return cls(**entry)
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise ShardError(f"{path} cannot be read ({problem}): delete {folder} to make it anew.") from problem
        raise OutdatedShardsError(f"{path} has format {entry['format']} and this version reads {FORMAT}: make it anew.")


def token_type_for(vocab_size: int) -> str:
    """The smallest type that holds every id."""
    return "<u2" if vocab_size <= 1 << 16 else "<u4"


class ShardedPairs:
    """The pairs of a folder of shards, by index; a sentence is read from disk when it is asked for."""

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        """Open and check sizes; `verify` reads everything once to compare checksums as well."""
        self.folder = folder
        self.manifest = Manifest.read(folder)
        for name, facts in self.manifest.files.items():
            _check_file(folder / name, facts, verify=verify)
        self._ends = list(accumulate(self.manifest.shards))
        self._tokens = [self._map(".tokens", self.manifest.token_type, side) for side in SIDES]
        self._offsets = [self._map(".offsets", OFFSET_TYPE, side) for side in SIDES]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> tuple[TokenIds, TokenIds]:
        """Source and target ids without special tokens, as views of the files."""
        if not 0 <= index < len(self):
            raise IndexError(f"There is no pair {index} in {self.folder}, which has {len(self)}.")
        shard = bisect_right(self._ends, index)
        row = index - (self._ends[shard - 1] if shard else 0)
        source, target = (
            tokens[shard][int(offsets[shard][row]) : int(offsets[shard][row + 1])]
            for tokens, offsets in zip(self._tokens, self._offsets, strict=True)
        )
        return source, target

    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target lengths as they will stand in a batch, special tokens included."""
        source, target = (
            np.concatenate([np.diff(shard) for shard in offsets]).astype(np.int64) + SPECIALS_PER_SIDE
            for offsets in self._offsets
        )
        return source, target

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.folder,)  # a data worker maps the files itself instead of receiving a copy

    def _map(self, kind: str, number_type: str, side: str) -> list[NDArray[Any]]:
        names = [f"{shard:05}.{side}{kind}" for shard in range(len(self.manifest.shards))]
        return [_map_file(self.folder / name, number_type) for name in names]


def _reopen(folder: Path) -> ShardedPairs:
    return ShardedPairs(folder, verify=False)


def _check_file(path: Path, facts: dict[str, Any], *, verify: bool) -> None:
    remedy = f"delete {path.parent} to make it anew"
    if not path.is_file():
        raise ShardError(f"{path} is missing: {remedy}.")
    if path.stat().st_size != facts["bytes"]:
        raise ShardError(f"{path} has {path.stat().st_size:,} bytes, its manifest says {facts['bytes']:,}: {remedy}.")
    if verify:
        with path.open("rb") as file:
            if sha256_of(file) != facts["sha256"]:
                raise ShardError(f"{path} is damaged (its SHA-256 is not the one in the manifest): {remedy}.")


def _map_file(path: Path, number_type: str) -> NDArray[Any]:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=number_type)
    return np.asarray(np.memmap(path, dtype=number_type, mode="r"))  # plain: slicing a memmap object is slow


class ShardWriter:
    """Writes pairs into `.<name>.partial` beside the folder; `finish` makes it the folder. Leaving early removes it."""

    def __init__(self, folder: Path, *, token_type: str, pairs_per_shard: int) -> None:
        self.folder = folder
        self._partial = folder.with_name(f".{folder.name}.partial")
        self._token_type = token_type
        self._pairs_per_shard = pairs_per_shard
        self._shards: list[int] = []
        self._open: dict[str, _HashedFile] = {}
        self._ends: dict[str, int] = {}
        self._files: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        shutil.rmtree(self._partial, ignore_errors=True)  # what a killed process left behind
        self._partial.mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._open.values():
            file.abandon()
        shutil.rmtree(self._partial, ignore_errors=True)

    def add(self, source: Sentences, target: Sentences) -> None:
        """Append pairs; they stay together in one shard."""
        if not self._open:
            self._begin_shard()
        for side, sentences in zip(SIDES, (source, target), strict=True):
            ends = self._ends[side] + np.cumsum(sentences.lengths, dtype=OFFSET_TYPE)
            self._open[f"{side}.tokens"].write(sentences.tokens.astype(self._token_type, copy=False))
            self._open[f"{side}.offsets"].write(ends.astype(OFFSET_TYPE, copy=False))
            self._ends[side] += len(sentences.tokens)
        self._shards[-1] += len(source.lengths)
        if self._shards[-1] >= self._pairs_per_shard:
            self._end_shard()

    def finish(self, *, made_from: dict[str, Any], tally: dict[str, Any]) -> None:
        """Complete the last shard, write the manifest, and put the folder in its place."""
        self._end_shard()
        manifest = Manifest(
            made_from=made_from, tally=tally, token_type=self._token_type, shards=self._shards, files=self._files
        )
        _write_durably(self._partial / MANIFEST, json.dumps(asdict(manifest), indent=1, ensure_ascii=False))
        _sync_folder(self._partial)
        outdated = self.folder.with_name(f".{self.folder.name}.outdated")
        shutil.rmtree(outdated, ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(outdated)
        self._partial.rename(self.folder)
        _sync_folder(self.folder.parent)
        shutil.rmtree(outdated, ignore_errors=True)

    def _begin_shard(self) -> None:
        number = len(self._shards)
        for side in SIDES:
            for kind in ("tokens", "offsets"):
                self._open[f"{side}.{kind}"] = _HashedFile(self._partial / f"{number:05}.{side}.{kind}")
            self._open[f"{side}.offsets"].write(np.zeros(1, dtype=OFFSET_TYPE))
        self._ends = dict.fromkeys(SIDES, 0)
        self._shards.append(0)

    def _end_shard(self) -> None:
        for file in self._open.values():
            self._files[file.path.name] = file.close()
        self._open = {}


class _HashedFile:
    """A file that knows its checksum by the time it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._digest = hashlib.sha256()

    def write(self, numbers: NDArray[Any]) -> None:
        content = numbers.tobytes()
        self._digest.update(content)
        try:
            self._file.write(content)
        except OSError as problem:
            raise _cannot_write(self.path, problem) from problem

    def close(self) -> dict[str, Any]:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise _cannot_write(self.path, problem) from problem
        size = self._file.tell()
        self._file.close()
        return {"bytes": size, "sha256": self._digest.hexdigest()}

    def abandon(self) -> None:
        with contextlib.suppress(OSError):  # closing writes what is buffered, and the disk may be full
            self._file.close()


def _cannot_write(path: Path, problem: OSError) -> ShardError:
    return ShardError(f"{path} cannot be written ({problem.strerror}): make room on the disk and start again.")


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make names durable too; Windows has no such call and needs none."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

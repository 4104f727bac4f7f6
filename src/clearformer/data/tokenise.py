"""Tokenise a parallel corpus once, on all cores, into shards; find them again the next time.

The parent reads lines and writes arrays, both cheap; the processes in between judge and encode chunks of pairs. Chunks
come back in the order of the corpus, and only a few are under way at a time, so the memory needed does not depend on
the size of the corpus.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearformer.data.file_facts import FileFacts, scan
from clearformer.data.readers.parallel import (
    CorpusError,
    JoinedFiles,
    Pair,
    ParallelCorpus,
    ParallelFiles,
    Tally,
    unequal_lines,
)
from clearformer.data.shards import (
    Column,
    ShardError,
    ShardFacts,
    Shards,
    ShardWriter,
    facts_of,
    shards_for,
    token_type_for,
)
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.foundation.machine import cores
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.text.doctor.parallel import PairLimits, classify_pair
from clearformer.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

PAIRS_PER_CHUNK = 8192  # a fraction of a second of work: the pool stays busy and a chunk stays small
CHUNKS_UNDER_WAY = 2  # for each process: one being worked on, one waiting
SIDES = ("source", "target")  # the columns
TOO_MANY_TOKENS = "too many tokens"


@dataclass(frozen=True, kw_only=True)
class PairEncoder:
    """What decides which pairs are kept and which ids they get; it is sent to every process once."""

    source: Tokenizer
    target: Tokenizer
    limits: PairLimits = field(default_factory=PairLimits)
    max_len: int | None = None  # tokens a side, special tokens included; longer pairs are left out and counted

    @property
    def token_type(self) -> str:
        return token_type_for(max(self.source.vocab_size, self.target.vocab_size))

    def facts(self) -> dict[str, Any]:
        """Everything that the shards depend on besides the text."""
        return {
            "source_tokenizer": self.source.fingerprint(),
            "target_tokenizer": self.target.fingerprint(),
            "limits": asdict(self.limits),
            "max_len": self.max_len,
        }

    def encode(self, pairs: list[Pair]) -> Encoded:
        """Judge and encode a chunk."""
        tally = Tally()
        useful = []
        for pair in pairs:
            reason = classify_pair(pair.source, pair.target, self.limits)
            if reason is None:
                useful.append(pair)
            else:
                tally.leave_out(str(reason), pair.line)
        sources = self.source.ids([pair.source for pair in useful], add_special=False)
        targets = self.target.ids([pair.target for pair in useful], add_special=False)
        longest = None if self.max_len is None else self.max_len - SPECIALS_PER_SIDE
        kept: list[tuple[list[int], list[int]]] = []
        for pair, source, target in zip(useful, sources, targets, strict=True):
            if longest is not None and max(len(source), len(target)) > longest:
                tally.leave_out(TOO_MANY_TOKENS, pair.line)
            else:
                tally.kept += 1
                kept.append((source, target))
        return Encoded(
            source=self._column([source for source, _ in kept]),
            target=self._column([target for _, target in kept]),
            tally=tally,
        )

    def _column(self, rows: list[list[int]]) -> Column:
        lengths = np.array([len(row) for row in rows], dtype=np.uint32)
        return Column(np.fromiter(chain.from_iterable(rows), dtype=self.token_type, count=int(lengths.sum())), lengths)


class Encoded(NamedTuple):
    """A chunk of the corpus, ready to be written."""

    source: Column
    target: Column
    tally: Tally


def prepare(
    corpus: ParallelCorpus,
    folder: Path,
    *,
    encoder: PairEncoder,
    workers: int | None = None,
    same: bool = False,
    on_progress: OnProgress = unwatched,
) -> Shards:
    """The shards of a corpus: reused when they were made from the same text in the same way, else made now.

    same: shards of another text are refused instead.
    """
    files = [_file_facts(path, facts_of(folder)) for path in corpus.files]
    made_from = {"corpus": _form_of(corpus), "files": [asdict(facts) for facts in files], **encoder.facts()}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        total = _count_pairs(corpus, files)
        log.info("tokenising %s into %s", ", ".join(map(str, corpus.files)), folder)
        tally = Tally()
        for chunk in encode_all(corpus.pairs(), encoder, workers):
            writer.add(source=chunk.source, target=chunk.target)
            tally.add(chunk.tally)
            on_progress(tally.total, total)
        _refuse_nothing(corpus, tally)
        _refuse_change(corpus, files)
        return asdict(tally)

    columns = dict.fromkeys(SIDES, encoder.token_type)
    return shards_for(folder, columns=columns, made_from=made_from, fill=fill, same=same)


def encode_all(pairs: Iterator[Pair], encoder: PairEncoder, workers: int | None = None) -> Iterator[Encoded]:
    """Encode all pairs, chunk by chunk and in order, in `workers` processes (default: one a core)."""
    chunks = iter(lambda: list(islice(pairs, PAIRS_PER_CHUNK)), [])
    head = list(islice(chunks, 2))
    workers = workers or len(cores())
    if workers == 1 or len(head) < 2:  # a single chunk is done before the first process has started
        return map(encoder.encode, chain(head, chunks))
    return _encode_in_processes(chain(head, chunks), encoder, workers)


def _encode_in_processes(chunks: Iterable[list[Pair]], encoder: PairEncoder, workers: int) -> Iterator[Encoded]:
    # Spawned, not forked: a fork copies locks that other threads may hold, and macOS and Windows have no other way.
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_process, initargs=(encoder,)
    )
    under_way: deque[Future[Encoded]] = deque()
    try:
        for chunk in chunks:
            under_way.append(pool.submit(_encode_chunk, chunk))
            if len(under_way) >= workers * CHUNKS_UNDER_WAY:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenProcessPool as problem:
        raise ShardError(
            "A process that tokenised ended without a word, most likely for want of memory: use fewer workers, and in "
            "a script of your own start below `if __name__ == '__main__':`."
        ) from problem
    finally:
        pool.shutdown(cancel_futures=True)


_encoder: PairEncoder | None = None  # one a process, set when it starts: a chunk then travels without its tokenizers


def _start_process(encoder: PairEncoder) -> None:
    global _encoder
    _encoder = encoder
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes are the parallelism; threads inside would compete
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the pool


def _encode_chunk(pairs: list[Pair]) -> Encoded:
    assert _encoder is not None
    return _encoder.encode(pairs)


def _file_facts(path: Path, known_facts: ShardFacts | None) -> FileFacts:
    """From the shards made before if the file has not been touched since, else by reading it."""
    if not path.is_file():
        raise CorpusError(f"{path} does not exist or is not a file: check the name.")
    for entry in known_facts.made_from.get("files", []) if known_facts else []:
        known = FileFacts(**entry)
        if known.name == path.name and known.still_true_of(path):
            return known
    return scan(path)


def _count_pairs(corpus: ParallelCorpus, files: list[FileFacts]) -> int:
    """How many pairs there are to go through; two files of unequal length are refused before any work is done."""
    if not isinstance(corpus, ParallelFiles | JoinedFiles):
        return files[0].lines
    parts = corpus.parts if isinstance(corpus, JoinedFiles) else (corpus,)
    for part, source, target in zip(parts, files[::2], files[1::2], strict=True):
        if source.lines != target.lines:
            raise unequal_lines(part, source.lines, target.lines)
    return sum(source.lines for source in files[::2])


def _form_of(corpus: ParallelCorpus) -> dict[str, Any]:
    """How the files are read: the kind of corpus and its options, without the paths."""
    options = {name: value for name, value in vars(corpus).items() if isinstance(value, str | int | bool)}
    return {"kind": type(corpus).__name__, **options}


def _refuse_nothing(corpus: ParallelCorpus, tally: Tally) -> None:
    if not tally.kept:
        names = " and ".join(map(str, corpus.files))
        raise CorpusError(f"Nothing in {names} can be trained on ({tally}): run `clearformer doctor` on it.")


def _refuse_change(corpus: ParallelCorpus, files: list[FileFacts]) -> None:
    for path, facts in zip(corpus.files, files, strict=True):
        if not facts.still_true_of(path):
            raise CorpusError(f"{path} changed while it was being read: start again when nothing writes to it.")

"""Make parallel text, tokenise it into shards, plan an epoch and read from it; print the memory that this needed.

python tests/data/measure_memory.py FOLDER PAIRS
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np

from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.readers.parallel import ParallelFiles
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.data.tokenise import SIDES, PairEncoder, prepare
from clearformer.text.train_tokenizer import train

WORKERS = 2


def make_text(path: Path, pairs: int, *, seed: int, alphabet: str) -> None:
    """Lines of 4 to 20 made-up words with the frequencies of real ones (Zipf)."""
    generator = np.random.default_rng(seed)
    letters = np.array(list(alphabet))
    words = np.array(["".join(generator.choice(letters, generator.integers(2, 9))) for _ in range(30_000)])
    with path.open("w") as file:
        for start in range(0, pairs, 10_000):
            lengths = np.random.default_rng(start).integers(4, 21, min(10_000, pairs - start))  # alike on both sides
            stream = words[np.minimum(generator.zipf(1.3, lengths.sum()), len(words)) - 1]
            lines = (" ".join(line) for line in np.split(stream, np.cumsum(lengths)[:-1]))
            file.writelines(f"{line}\n" for line in lines)


def gigabytes(who: int) -> float:
    return resource.getrusage(who).ru_maxrss * 1024 / 1e9  # Linux counts in kilobytes


def main() -> None:
    folder, pairs = Path(sys.argv[1]), int(sys.argv[2])
    corpus = ParallelFiles(source=folder / "made.en", target=folder / "made.de")
    if not corpus.source.exists():
        make_text(corpus.source, pairs, seed=1, alphabet="abcdefghijklmnopqrstuvwxyz")
        make_text(corpus.target, pairs, seed=2, alphabet="abcdefghijklmnopqrstuvwxyzäöüß")
    print(f"text: {sum(path.stat().st_size for path in corpus.files) / 1e9:.2f} GB")
    sample = [text for pair in islice(corpus.pairs(), 20_000) for text in (pair.source, pair.target)]
    pieces = train("bpe", sample, 8000)
    del sample

    began = time.monotonic()
    shards = prepare(corpus, folder / "shards", encoder=PairEncoder(source=pieces, target=pieces), workers=WORKERS)
    seconds = time.monotonic() - began
    print(f"{len(shards):,} pairs tokenised by {WORKERS} processes in {seconds:.0f} s")

    began = time.monotonic()
    plan = DataPlan(
        *(shards.lengths(side) + SPECIALS_PER_SIDE for side in SIDES), config=BatchingConfig(max_tokens=25_000), seed=1
    )
    batches = plan.batches(0)
    print(f"planned {len(batches):,} batches in {time.monotonic() - began:.1f} s, {plan.waste():.1%} padding")
    tokens = sum(len(shards[index][0]) for rows in batches[::20] for index in rows.tolist())  # from all over the files
    print(f"read {tokens:,} source tokens of every twentieth batch")

    parent, process = gigabytes(resource.RUSAGE_SELF), gigabytes(resource.RUSAGE_CHILDREN)
    print(f"peak resident memory: parent {parent:.2f} GB, largest process {process:.2f} GB")
    print(f"together {parent + WORKERS * process:.2f} GB")


if __name__ == "__main__":
    main()

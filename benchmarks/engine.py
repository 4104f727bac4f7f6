"""The fast engine as it ships compared with the bare library, at every setting that one might find by hand.

    python benchmarks/engine.py --model runs/a/model --source dev.en

The same weights, the same sentences and the same search, in one process: all take turns, several times.
The engine reads and writes text; the library reads and writes pieces. The result is the engine's speed divided by that
of the library at its best setting.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ctranslate2

from clearformer.foundation import storage
from clearformer.inference.ctranslate2 import CTranslate2Translator, cores
from clearformer.inference.engines import converted, open_translator
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.text.doctor.parallel import read_lines

OURS = "clearformer, as it ships"
PAUSE = 0.5  # seconds before a turn: the previous turn's threads keep spinning for a while
BATCHES: dict[str, dict[str, Any]] = {
    **{f"batches of {size}": {"max_batch_size": size} for size in (32, 64, 128, 256)},
    **{f"batches of {size:,} tokens": {"max_batch_size": size, "batch_type": "tokens"} for size in (1024, 2048, 4096)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True, help="a file with one sentence per line")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--repeats", type=int, default=7, help="turns of each (7)")
    asked = parser.parse_args()
    texts = list(read_lines(asked.source))
    ours = open_translator(asked.model, "ctranslate2", scores="none")
    assert isinstance(ours, CTranslate2Translator)
    for beam in asked.beams:
        report(
            beam,
            len(texts),
            race({OURS: as_shipped(ours, texts, beam), **by_hand(ours, asked.model, texts, beam)}, asked.repeats),
        )


def as_shipped(ours: CTranslate2Translator, texts: Sequence[str], beam: int) -> Callable[[], Any]:
    return lambda: ours.translate(texts, beam=beam, any_language=True)


def by_hand(ours: CTranslate2Translator, model: Path, texts: Sequence[str], beam: int) -> dict[str, Callable[[], Any]]:
    """The library with one worker per core, and with all cores in one worker, for every way to make batches."""
    folder, config = converted(model).path, DecodingConfig(beam=beam)
    [listed] = [*folder.glob("shared_vocabulary.json"), *folder.glob("source_vocabulary.json")][:1]
    names = storage.read_json(listed)
    pieces = [[names[number] for number in source] for source in ours.encode(texts, config)]
    search = {
        "beam_size": beam,
        "length_penalty": config.alpha,
        "max_input_length": 0,
        "max_decoding_length": config.longest(max(map(len, pieces))),
    }
    ways: dict[str, Callable[[], Any]] = {}
    for spread, workers in (("a thread a worker", cores()), ("all threads in one worker", 1)):
        engine = ctranslate2.Translator(str(folder), inter_threads=workers, intra_threads=cores() // workers)
        for title, batches in BATCHES.items():
            ways[f"CTranslate2, {spread}, {title}"] = _call(engine, pieces, {**search, **batches})
    return ways


def _call(engine: Any, pieces: list[list[str]], options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: engine.translate_batch(pieces, **options)


def race(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every turn; the first round warms up and is not counted."""
    seconds: dict[str, list[float]] = {title: [] for title in ways}
    for turn in range(repeats + 1):
        for title, way in ways.items():
            time.sleep(PAUSE)
            started = time.perf_counter()
            way()
            if turn:
                seconds[title].append(time.perf_counter() - started)
    return seconds


def report(beam: int, sentences: int, seconds: dict[str, list[float]]) -> None:
    """A table, fastest first, and the ratio turn by turn to the best of the others."""
    rates = {title: sentences / statistics.median(spent) for title, spent in seconds.items()}
    best = max((title for title in rates if title != OURS), key=rates.__getitem__)
    print(f"\nbeam {beam}\n\n| | sentences/s | slowest–fastest |\n|---|---:|---:|")
    for title in sorted(rates, key=lambda one: -rates[one]):
        turns = [sentences / spent for spent in seconds[title]]
        print(f"| {title} | {rates[title]:.0f} | {min(turns):.0f}–{max(turns):.0f} |")
    ratios = [theirs / ours for ours, theirs in zip(seconds[OURS], seconds[best], strict=True)]
    middle = f"{statistics.median(ratios):.2f} x the library at its best setting"
    print(f"\n{middle} ({min(ratios):.2f}–{max(ratios):.2f} by turn)")


if __name__ == "__main__":
    main()

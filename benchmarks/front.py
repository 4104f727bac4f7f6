"""The front of score against speed: which model, engine, precision and beam gives most for its time.

    python benchmarks/front.py --source dev.en --reference dev.de --train-source train.en --train-target train.de \\
        --out F tiny=runs/a/model fast=runs/b/model

Both engines translate with every model, in full precision and in eight bits, with and without a shortlist, at
several beams. They take turns; the table has medians, and a row is on the front if no faster one is as good.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.evaluation.bleu import score_translations
from clearformer.figures.chart import chart
from clearformer.inference.ctranslate2 import CTranslate2Translator
from clearformer.inference.engines import open_translator
from clearformer.inference.quantize import shortlist_learner
from clearformer.interop.to_ctranslate2 import convert
from clearformer.text.doctor.parallel import read_lines

BEAMS = (1, 2, 5)


@dataclass
class Entry:
    """One way to translate."""

    name: str
    beam: int
    translate: Callable[[Sequence[str], int], list[Any]]
    bleu: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def rate(self, sentences: int) -> float:
        """Sentences per second, of the median pass."""
        return sentences / statistics.median(self.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--source", "--reference", "--train-source", "--train-target"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("models", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--tokenise", help="sacreBLEU's tokeniser")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True, help="a folder for front.md and front.svg")
    asked = parser.parse_args()
    sources, references = (list(read_lines(path)) for path in (asked.source, asked.reference))
    pairs = tuple(list(read_lines(path)) for path in (asked.train_source, asked.train_target))
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as aside:
        entries = [
            entry
            for word in asked.models
            for entry in ways(*word.split("=", 1), Path(aside), pairs)  # type: ignore[arg-type]
        ]
        for repeat in range(asked.repeats + 1):
            for entry in entries:
                started = time.perf_counter()
                found = entry.translate(sources, entry.beam)
                spent = time.perf_counter() - started
                if repeat == 0:  # warms up, and gives the score
                    texts = [one.text for one in found]
                    entry.bleu = score_translations(texts, references, tokenise=asked.tokenise).bleu
                    print(
                        f"{entry.name}, beam {entry.beam}: BLEU {entry.bleu:.2f}, {len(sources) / spent:.0f}/s",
                        flush=True,
                    )
                else:
                    entry.seconds.append(spent)
    write(entries, len(sources), asked.out)


def ways(name: str, folder: str, aside: Path, pairs: tuple[Sequence[str], Sequence[str]]) -> list[Entry]:
    """A model in every form that is compared."""
    made: dict[str, Any] = {
        f"{name}, torch": open_translator(folder, "torch"),
        f"{name}, ctranslate2 float32": open_translator(folder, "ctranslate2", scores="none"),
    }
    for form, shortlist in (("int8", None), ("int8, shortlist", shortlist_learner(Path(folder), pairs))):
        small = aside / f"{name}-{form.replace(', ', '-')}"
        convert(Path(folder), small, quantization="int8", shortlist=shortlist)
        made[f"{name}, ctranslate2 {form}"] = CTranslate2Translator(small, scores="none")
    return [Entry(way, beam, _with(translator)) for way, translator in made.items() for beam in BEAMS]


def _with(translator: Any) -> Callable[[Sequence[str], int], list[Any]]:
    return lambda texts, beam: translator.translate(texts, beam=beam, any_language=True)


def write(entries: Sequence[Entry], sentences: int, out: Path) -> None:
    """The table, best score first, and the picture."""
    lines = ["| model, engine, precision | beam | BLEU | sentences/s | on the front |", "|---|---:|---:|---:|---|"]
    for entry in sorted(entries, key=lambda one: -one.bleu):
        rate = entry.rate(sentences)
        beaten = any(one.bleu >= entry.bleu and one.rate(sentences) > rate for one in entries)
        lines.append(f"| {entry.name} | {entry.beam} | {entry.bleu:.2f} | {rate:.0f} | {'' if beaten else 'yes'} |")
    (out / "front.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    series: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        series.setdefault(entry.name, []).append((entry.rate(sentences), entry.bleu))
    drawn = chart("Score against speed", "sentences per second", "BLEU", series, straight=True)
    (out / "front.svg").write_text(drawn, encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

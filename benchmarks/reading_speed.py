"""How fast texts are classified: by ctranslate2 in float32 and int8, by PyTorch, and by transformers, the same weights.

    python benchmarks/reading_speed.py --model runs/sst-2/model
    python benchmarks/reading_speed.py                             (MiniLM with a random head; no accuracy)

From text to class, in batches and one text at a time, on as many threads. All take turns in one process, several times;
the result is the speed divided by that of transformers, turn by turn. With a trained model the classes of all are
compared with the right ones of SST-2's dev part, too. Needs `transformers`; MiniLM: `clearformer models get minilm`.
"""

import argparse
import csv
import gzip
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from clearformer.data.catalogue.fetch import get
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import find_model
from clearformer.foundation.machine import cores
from clearformer.inference.engines import open_bundle
from clearformer.inference.text_readers import Classifier
from clearformer.interop.to_ctranslate2 import convert
from clearformer.interop.to_hugging_face import export
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.model.weights import put_weights, weights_of

THEIRS = "transformers"
PAUSE = 0.3  # seconds before a turn: the previous turn's threads keep spinning for a while
Classify = Callable[[Sequence[str], int], list[str]]  # texts, batch -> labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a classifier of SST-2 over a BERT; without it, MiniLM with a random head")
    parser.add_argument("--threads", type=int, default=len(cores()), help="of PyTorch, here and there (one per core)")
    parser.add_argument("--repeats", type=int, default=7, help="turns of each (7)")
    parser.add_argument("--texts", type=int, default=872, help="how many texts of SST-2's dev part (872)")
    parser.add_argument("--alone", type=int, default=100, help="how many of them one at a time (100)")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    rows = read_dev(asked.texts)
    texts = [text for text, _ in rows]
    with tempfile.TemporaryDirectory() as folder:
        ways = open_all(asked.model, Path(folder))
        for title, given, batch in (("batches of 32", texts, 32), ("one at a time", texts[: asked.alone], 1)):
            report(title, len(given), race(ways, given, batch, asked.repeats))
        compare(ways, rows, trained=asked.model is not None)


def read_dev(count: int) -> list[tuple[str, str]]:
    """Sentences of SST-2's dev part and their labels."""
    with gzip.open(get("sst-2") / "dev.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        read = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["sentence"], row["label"]) for row in read][:count]


def open_all(model: str | None, folder: Path) -> dict[str, Classify]:
    """Every contender over the same weights."""
    given = bundle.load(find_model(model or "minilm"))
    given = given if given.config.head.kind == "class" else with_head(given)
    bundle.save(given, folder / "model")
    convert(folder / "model", folder / "int8", quantization="int8")
    opened = {
        "clearformer, float32 (torch)": open_bundle(folder / "model"),
        "clearformer, int8 (ctranslate2)": open_bundle(folder / "int8"),
        "clearformer, float32 (ctranslate2)": open_bundle(folder / "model", "ctranslate2"),
    }
    ours = {title: _ours(Classifier(one)) for title, one in opened.items()}
    return {THEIRS: open_transformers(given, folder), **ours}


def with_head(given: Bundle) -> Bundle:
    """The same encoder with a random head for two classes."""
    torch.manual_seed(0)
    config = replace(given.config, head=HeadConfig(kind="class", labels=2, pooler=True))
    model = build(config)
    put_weights(model, weights_of(model) | _encoder_weights(given))
    preprocessing = replace(given.preprocessing, labels=("0", "1"))
    return replace(given, config=config, model=model.eval(), task="text-classification", preprocessing=preprocessing)


def _encoder_weights(given: Bundle) -> dict[str, torch.Tensor]:
    return {name: weight for name, weight in weights_of(given.model).items() if name.startswith("encoder.")}


def _ours(classifier: Classifier) -> Classify:
    return lambda texts, batch: [one.label for one in classifier.classify(list(texts), batch=batch)]


def open_transformers(given: Bundle, folder: Path) -> Classify:
    """BertForSequenceClassification, or, where it has no such head (the mean of all states), BertModel and our head."""
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    try:
        export(folder / "model", folder / "theirs")
        network = AutoModelForSequenceClassification.from_pretrained(folder / "theirs").eval()
        head: nn.Module | None = None
    except ValueError:
        plain = replace(given.config, head=HeadConfig(kind="states", pooler=True))
        body = build(plain)
        put_weights(body, weights_of(body) | _encoder_weights(given))
        bundle.save(replace(given, config=plain, model=body, task=None), folder / "body")
        export(folder / "body", folder / "theirs")
        network, head = AutoModel.from_pretrained(folder / "theirs").eval(), given.model.head
    tokenizer = AutoTokenizer.from_pretrained(folder / "theirs")
    longest = given.provenance.get("max_length") or given.config.max_len

    def classify(texts: Sequence[str], batch: int) -> list[str]:
        found: list[str] = []
        with torch.inference_mode():
            for start in range(0, len(texts), batch):
                part = list(texts[start : start + batch])
                read = tokenizer(part, padding=True, truncation=True, max_length=longest, return_tensors="pt")
                said: Any = network(**read)
                logits = (
                    said.logits if head is None else head(said.last_hidden_state, read["attention_mask"].to(torch.bool))
                )
                found += [given.labels[number] for number in logits.argmax(-1).tolist()]
        return found

    return classify


def race(ways: dict[str, Classify], texts: Sequence[str], batch: int, repeats: int) -> dict[str, list[float]]:
    """Seconds of every turn; the first round warms up and is not counted."""
    seconds: dict[str, list[float]] = {title: [] for title in ways}
    for turn in range(repeats + 1):
        for title, way in ways.items():
            time.sleep(PAUSE)
            started = time.perf_counter()
            if batch == 1:
                for text in texts:  # as somebody who waits for each answer
                    way([text], 1)
            else:
                way(texts, batch)
            if turn:
                seconds[title].append(time.perf_counter() - started)
    return seconds


def report(title: str, count: int, seconds: dict[str, list[float]]) -> None:
    """A table: texts per second, and how many times as fast as transformers."""
    print(f"\n{title}, {count} texts\n\n| | texts/s | times transformers | by turn |\n|---|---:|---:|---:|")
    for name, spent in seconds.items():
        ratios = [theirs / ours for ours, theirs in zip(spent, seconds[THEIRS], strict=True)]
        middle = f"{statistics.median(ratios):.2f} | {min(ratios):.2f}–{max(ratios):.2f}"
        print(f"| {name} | {count / statistics.median(spent):.0f} | {middle} |")


def compare(ways: dict[str, Classify], rows: Sequence[tuple[str, str]], *, trained: bool) -> None:
    """How often each agrees with transformers, and how often it is right."""
    texts = [text for text, _ in rows]
    said = {title: way(texts, 32) for title, way in ways.items()}
    print("\n| | agrees | right |\n|---|---:|---:|")
    for title, labels in said.items():
        agrees = sum(a == b for a, b in zip(labels, said[THEIRS], strict=True)) / len(rows)
        right = sum(label == wanted for label, (_, wanted) in zip(labels, rows, strict=True)) / len(rows)
        print(f"| {title} | {agrees:.2%} | {f'{right:.2%}' if trained else '–'} |")


if __name__ == "__main__":
    main()

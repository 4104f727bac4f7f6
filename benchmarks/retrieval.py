"""How often the right paragraph is found: `python benchmarks/retrieval.py [--model FOLDER] [--data FILE]`.

The questions of a file in SQuAD's layout, each looked for among all paragraphs of the file: by BM25, by the cosine of
embeddings, and by both, fused by scores and by ranks; without a model, by BM25 alone.

R@1: the share of questions whose own paragraph is first. MRR@10: the mean of one over its rank, 0 beyond the tenth.
Intervals: 95 %, bootstrap over questions.
"""

import argparse
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np
import torch

from clearformer.folder.description import open_folder
from clearformer.retrieval.build_index import index_documents
from clearformer.retrieval.documents import Document
from clearformer.retrieval.search_index import WAYS

DEV = Path(os.environ.get("CLEARFORMER_DATA", ".")) / "squad" / "dev-v1.1.rebuilt.json.gz"
DRAWS = 1_000


def read(path: Path) -> tuple[list[Document], list[str], np.ndarray]:
    """The paragraphs, each once, the questions, and the number of each question's paragraph."""
    paragraphs: dict[str, int] = {}
    questions, own = [], []
    for article in json.loads(gzip.decompress(path.read_bytes()))["data"]:
        for paragraph in article["paragraphs"]:
            number = paragraphs.setdefault(paragraph["context"], len(paragraphs))
            questions += [one["question"] for one in paragraph["qas"]]
            own += [number] * len(paragraph["qas"])
    return [Document(text, path.name, 1, 0) for text in paragraphs], questions, np.array(own)


def shown(name: str, values: np.ndarray, draw: np.random.Generator) -> str:
    """A mean, and between which means 95 of 100 samples of as many questions lie."""
    means = [values[draw.integers(len(values), size=len(values))].mean() for _ in range(DRAWS)]
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{name} {values.mean():.4f} ({low:.4f} to {high:.4f})"


def main() -> None:
    """Index, ask, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="an encoder's folder")
    parser.add_argument("--data", type=Path, default=DEV, help="a .json.gz in SQuAD's layout (SQuAD's development set)")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    documents, questions, own = read(given.data)
    begun = time.perf_counter()
    index = index_documents(documents, model=open_folder(given.model) if given.model else None)
    ways = WAYS if given.model else ("words",)
    built = time.perf_counter()
    print(f"{given.data.name}: {len(questions):,} questions, {len(index):,} paragraphs", flush=True)
    print(f"{len(index.content.windows):,} windows indexed in {built - begun:.0f} s", flush=True)
    ranks = {way: np.zeros(len(questions)) for way in ways}
    for number, scores in enumerate(index.scores(questions)):
        for way in ways:
            order, _ = scores.ranked(way)
            place = np.flatnonzero(order == own[number])
            ranks[way][number] = place[0] + 1 if len(place) else np.inf
    print(f"asked in {time.perf_counter() - built:.0f} s")
    draw = np.random.default_rng(1)
    for way, found in ranks.items():
        print(f"{way:8} {shown('R@1', (found == 1) * 1.0, draw)}  {shown('MRR@10', (found <= 10) / found, draw)}")


if __name__ == "__main__":
    main()

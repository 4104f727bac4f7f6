"""Sentence pairs whose words people have linked: `$CLEARFORMER_DATA/alignment`, which is not ours to ship."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.lab.experiment import DataNeededError
from clearformer.lab.word_aligner import Links

SPLIT = " ||| "


@dataclass(frozen=True, kw_only=True)
class LinkedPair:
    """links: source word, target word, which people are sure of. possible: others that they allow. others: the links
    of another aligner, where there are some."""

    source: list[str]
    target: list[str]
    links: Links
    possible: Links = field(default_factory=set)
    others: Links = field(default_factory=set)


def german_english() -> list[LinkedPair]:
    """English is the source here, as in the translator that ships."""
    folder = _folder("de-en")
    german, english, links = (_lines(folder / name) for name in ("test.de", "test.en", "de-en.wa"))
    return [
        LinkedPair(source=en.split(), target=de.split(), links={(right, left) for left, right in _links(row)})
        for de, en, row in zip(german, english, links, strict=True)
    ]


def chinese_english() -> list[LinkedPair]:
    """Chinese is the source; the gold counts from 1, the other aligner from 0."""
    folder = _folder("zh-en")
    pairs, gold, others = (_lines(folder / name) for name in ("src-tgt", "gold", "awesome-align"))
    return [
        LinkedPair(
            source=pair.split(SPLIT)[0].split(),
            target=pair.split(SPLIT)[1].split(),
            links=_links(row, first=1),
            possible=_links(row, first=1, mark="p"),
            others=_links(other),
        )
        for pair, row, other in zip(pairs, gold, others, strict=True)
    ]


def _folder(pair: str) -> Path:
    root = os.environ.get("CLEARFORMER_DATA")
    folder = Path(root or "") / "alignment" / pair
    if root is None or not folder.is_dir():
        raise DataNeededError(
            f"needs sentences with gold word alignments in $CLEARFORMER_DATA/alignment/{pair}; set CLEARFORMER_DATA to "
            "a folder that has them"
        )
    return folder


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines()


def _links(row: str, *, first: int = 0, mark: str = "-") -> Links:
    """Links as `3-4`, or `3p4` where they are possible only. first: what counting begins with."""
    pairs = (one.split(mark) for one in row.split() if mark in one)
    return {(int(left) - first, int(right) - first) for left, right in pairs}

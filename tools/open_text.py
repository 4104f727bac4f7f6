"""What the tools that gather parallel text share: reading sources, and telling which sentences are the same."""

import gzip
import hashlib
import html
import re
import subprocess
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

Pair = tuple[str, str]
PARAGRAPH = re.compile(r'<(p|h\d)[^>]* id="([a-z_]+id[^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
MARKUP = re.compile(r"[<>{}|\\`]|\[\^?\d*\]|\]_|https?:|\*\*|::.|--\w|\w_\w|[A-Za-z]\.[a-z]+\(|\(\)")


def key(text: str) -> str:
    """What two spellings of one sentence share: letters, digits and characters."""
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


def office(packages: Path, left: str, right: str) -> dict[str, list[Pair]]:
    """LibreOffice's help, page by page: paragraphs that have the same file and number in both languages."""
    with tempfile.TemporaryDirectory() as folder:
        sides = [dict(paragraphs(packages, language, Path(folder) / language)) for language in (left, right)]
    pages: dict[str, list[Pair]] = {}
    for place, text in sides[0].items():
        if place in sides[1]:
            pages.setdefault(place[0], []).append((text, sides[1][place]))
    return pages


def paragraphs(packages: Path, language: str, folder: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """The text of each paragraph of one language's package, by file and number."""
    (package,) = packages.glob(f"libreoffice-help-{language}_*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    root = next(folder.glob("usr/share/libreoffice/help/*/text"))
    for path in sorted(root.rglob("*.html")):
        for number, text in marked_paragraphs(path.read_text(encoding="utf-8")):
            yield (str(path.relative_to(root)), number), text


def marked_paragraphs(page: str) -> Iterator[tuple[str, str]]:
    """Number and text; not where a page holds alternatives for other systems."""
    for match in PARAGRAPH.finditer(page):
        if "hidden=" not in match[3]:
            yield match[2], html.unescape(re.sub("<[^>]+>", "", match[3]))


def table(path: Path, left: int, right: int, *, only: str | None = None) -> Iterator[Pair]:
    """Two columns of tab-separated lines; of the lines that begin with one name alone."""
    for line in lines(path):
        cells = line.split("\t")
        if only is None or cells[0] == only:
            yield cells[left], cells[right]


def every(pairs: Iterator[Pair], step: int) -> Iterator[Pair]:
    return (pair for number, pair in enumerate(pairs) if number % step == 0)


def by_chance(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")

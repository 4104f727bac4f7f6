"""The frame of the lab's HTML: one file in both languages that needs no server and asks nothing of anybody."""

import base64
import hashlib
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import torch

from clearformer import __version__
from clearformer.lab.bilingual import LANGUAGES, Bilingual, Language, Sayable

HERE = Path(__file__).parent
TAGS: dict[Language, str] = {"en": "en", "zh": "zh-Hans"}


def whole_page(title: Bilingual, header: Iterable[str], body: Iterable[str], language: Language) -> str:
    """The page, its style and its script included. language: the one that it opens in."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title.said(language))}</title>\n<style>{style}</style>"
    )
    lines = "\n".join(["<header>", _switches(), *header, "</header>", "<main>", *body, "</main>"])
    return (
        f'<!doctype html>\n<html lang="{TAGS[language]}" data-language="{language}"><head>{head}</head>\n'
        f"<body>\n{lines}\n<script>{script}</script>\n</body></html>\n"
    )


def write_page(file: Path, page: str) -> Path:
    """Write it; gives its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


def said(text: Sayable, tag: str = "span") -> str:
    """A text in both languages, one of which is shown; what has no language stands once."""
    if isinstance(text, str):
        return f"<{tag}>{escape(text)}</{tag}>" if tag != "span" else escape(text)
    return "".join(f'<{tag} lang="{TAGS[one]}">{escape(text.said(one))}</{tag}>' for one in LANGUAGES)


def drawn(svg: str, label: str) -> str:
    """A drawing that keeps its size on a narrow screen, where it scrolls by itself and can be reached by keyboard."""
    return f'<div class="drawing" tabindex="0" role="group" aria-label="{escape(label)}">{svg}</div>'


def made_with() -> str:
    """The versions and the day."""
    facts = f"clearformer {__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    return f"{facts}; {datetime.now(UTC).date().isoformat()}"


def _switches() -> str:
    other = '<span class="in-english" lang="zh-Hans">中文</span><span class="in-chinese" lang="en">English</span>'
    theme = said(Bilingual("light / dark", "浅色 / 深色"))
    return (
        f'<div class="switches"><button id="switch-language" type="button">{other}</button>'
        f'<button id="switch-theme" type="button">{theme}</button></div>'
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

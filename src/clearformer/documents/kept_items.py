"""What must come out as it went in: addresses, placeholders, code; and numbers, which are looked at afterwards."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from clearformer.documents.segments import Fragment

_URL = r"(?:https?|ftp|file|git|ssh|mailto|urn|doi):[^\s<>\"'“”‘’（）。，、]*[^\s<>\"'“”‘’.,;:!?)\]}（）。，、]"
_WWW = r"\bwww\.[\w.-]+\.\w+(?:/[^\s<>\"'（）。，、]*[\w/])?"
_MAIL = r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_CONVERSION = (
    r"%(?:\d+\$)?(?:\(\w+\))?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|ll|[hlLzZjtqI])?"
    r"[diouxXeEfFgGcrsapnmbYHMSTB@]"
)
# Behind a digit a percent sign is a percent sign, unless a letter ends there: 50%s is none, and 50% safe is not.
_PRINTF = rf"(?<!\d){_CONVERSION}|{_CONVERSION}(?![A-Za-z])"
_PERCENT_NAMED = r"%\(\w+\)[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|%%|%[-+#0.\d*]*<\w+>"
_PERCENT_NUMBERED = r"%\d{1,2}(?![\d$.]|\s*%|[a-zA-Z])|%\{\w+\}|%L\d"
_BRACES = r"\$?\{\{[^{}\n]*\}\}|\$?\{[\w.!:\[\]%,+<>^=-]*\}|\{%[^{}\n]*%\}|\$[A-Za-z_]\w*|\$\(\w+\)|\ufffc"
_CODE = r"`[^`\n]+`"
_PATH = r"(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*\w/?|\b[A-Za-z]:\\[\w\\.-]+|\b[\w-]+(?:/[\w.-]+)+\.\w+"
_NAME = r"\b\w+\(\)|\b\w*[a-z]_[a-z]\w*\b|\b[A-Z]+_[A-Z_]+\b|--[a-z][\w-]+"
_FILE = r"\b[\w-]+\.(?:py|txt|md|html|json|toml|cfg|rst|xml|yaml|yml|sh|c|h|js)\b"
_KEPT = re.compile("|".join(f"(?:{one})" for one in (
    _URL, _WWW, _MAIL, _CODE, _BRACES, _PERCENT_NAMED, _PERCENT_NUMBERED, _PRINTF, _NAME, _FILE, _PATH
)))  # fmt: skip

_BY_ORDER = re.compile(r"%[-+#0]*[\d.*]*[hlLzjt]*[A-Za-z@]|\{\}")
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_INSIDE = re.compile(r"[.,'’\u00a0\u202f]")
# How small numbers are also written. A model that says "drei" for 3 has kept it.
_SPELLED = {
    "0": "zero null 零 〇", "1": "one a an ein eine einen einem einer eines eins 一", "2": "two zwei beide 二 两 兩",
    "3": "three drei 三", "4": "four vier 四", "5": "five fünf 五", "6": "six sechs 六", "7": "seven sieben 七",
    "8": "eight acht 八", "9": "nine neun 九", "10": "ten zehn 十", "11": "eleven elf 十一", "12": "twelve zwölf 十二",
    "20": "twenty zwanzig 二十", "30": "thirty dreißig 三十", "40": "forty vierzig 四十", "50": "fifty fünfzig 五十",
    "60": "sixty sechzig 六十", "70": "seventy siebzig 七十", "80": "eighty achtzig 八十", "90": "ninety neunzig 九十",
    "100": "hundred hundert 百 一百", "1000": "thousand tausend 千 一千",
}  # fmt: skip


def guarded(pieces: Iterable[Fragment], escape: Callable[[str], str]) -> Iterator[Fragment]:
    """The same pieces, with what must be kept taken out of the words. escape: how the file writes words."""
    for piece in pieces:
        if piece.kind != "words":
            yield piece
            continue
        last = 0
        for found in _KEPT.finditer(piece.text):
            if found.start() > last:
                yield Fragment(piece.text[last : found.start()])
            yield Fragment(escape(found[0]), "kept")
            last = found.end()
        if last < len(piece.text):
            yield Fragment(piece.text[last:])


def numbers_in(text: str) -> Counter[str]:
    """The numbers of a text, without marks between their digits: 1,000 and 1.000 are one."""
    return Counter(_INSIDE.sub("", found) for found in _NUMBER.findall(_ascii_digits(text)))


def numbers_kept(source: str, translation: str) -> bool:
    """Whether every number of a text is in its translation, in digits or, if it is a small one, in words."""
    lost = numbers_in(source) - numbers_in(translation)
    said = translation.lower()
    return all(_is_spelled(number, said) for number in lost.elements())


def around_numbers(text: str) -> list[Fragment]:
    """A text with its numbers as kept items."""
    pieces, last = [], 0
    for found in _NUMBER.finditer(text):
        pieces += [Fragment(text[last : found.start()]), Fragment(found[0], "kept")]
        last = found.end()
    return [piece for piece in (*pieces, Fragment(text[last:])) if piece.text]


def _is_spelled(number: str, said: str) -> bool:
    words = _SPELLED.get(number, "").split()
    return any(word in said if word > "\u3000" else re.search(rf"\b{word}\b", said) for word in words)


def in_order(before: Iterable[str], after: Iterable[str]) -> bool:
    """Whether placeholders that are filled by their order (%s, {}) are still in it."""
    return [one for one in before if _BY_ORDER.fullmatch(one)] == [one for one in after if _BY_ORDER.fullmatch(one)]


def _ascii_digits(text: str) -> str:
    """Full-width and other digits as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(int(letter)) if letter.isdecimal() else letter for letter in text)

"""Whether the numbers of a text are in its translation, in digits or, if they are small, in words."""

import re
from collections import Counter

NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_INSIDE = re.compile(r"[.,'’\u00a0\u202f]")
_CHINESE = "〇零一二三四五六七八九十百千万两兩"
# How small numbers are also written. A model that says "drei" for 3 has kept it.
_SPELLED = {
    "0": "zero null 零 〇", "1": "one a an ein eine einen einem einer eines eins 一", "2": "two zwei beide 二 两 兩",
    "3": "three drei 三", "4": "four vier 四", "5": "five fünf 五", "6": "six sechs 六", "7": "seven sieben 七",
    "8": "eight acht 八", "9": "nine neun 九", "10": "ten zehn 十", "11": "eleven elf 十一", "12": "twelve zwölf 十二",
    "20": "twenty zwanzig 二十", "30": "thirty dreißig 三十", "40": "forty vierzig 四十", "50": "fifty fünfzig 五十",
    "60": "sixty sechzig 六十", "70": "seventy siebzig 七十", "80": "eighty achtzig 八十", "90": "ninety neunzig 九十",
    "100": "hundred hundert 百 一百", "1000": "thousand tausend 千 一千",
}  # fmt: skip


def numbers_in(text: str) -> Counter[str]:
    """The numbers of a text, without marks between their digits: 1,000 and 1.000 are one."""
    return Counter(map(digits_of, NUMBER.findall(_ascii_digits(text))))


def digits_of(number: str) -> str:
    """A number without the marks between its digits."""
    return _INSIDE.sub("", number)


def numbers_lost(source: str, translation: str) -> list[str]:
    """The numbers of a text that are not in its translation."""
    lost = numbers_in(source) - numbers_in(translation)
    said = translation.lower()
    return [number for number in lost.elements() if not _is_spelled(number, said)]


def numbers_kept(source: str, translation: str) -> bool:
    """Whether every number of a text is in its translation, in digits or, if it is a small one, in words."""
    return not numbers_lost(source, translation)


def spellings(number: str) -> list[str]:
    """How a small number is written in words, in any of the languages that are known here."""
    return _SPELLED.get(number, "").split()


def value_of(number: str) -> str:
    """A number in digits, if it is a word that is known here; anything else as it is."""
    return next((digits for digits, words in _SPELLED.items() if number in words.split()), number)


def spelled(word: str) -> str:
    """The pattern of a number in words; 十 is not found in 二十."""
    if word > "\u3000":
        return rf"(?<![{_CHINESE}]){word}(?![{_CHINESE}])"
    return rf"\b{word}\b"


def _is_spelled(number: str, said: str) -> bool:
    return any(re.search(spelled(word), said) for word in spellings(number))


def _ascii_digits(text: str) -> str:
    """Full-width and other digits as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(int(letter)) if letter.isdecimal() else letter for letter in text)

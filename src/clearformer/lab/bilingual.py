"""A text in both languages of the lab."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True)
class Bilingual:
    """The same text, written in English and in Chinese."""

    en: str
    zh: str

    def said(self, language: Language) -> str:
        """The text in one language."""
        return self.en if language == "en" else self.zh


Sayable = Bilingual | str  # names, formulas and code read the same in both languages


def say(text: Sayable, language: Language) -> str:
    """A text in one language; what has no language is taken as it is."""
    return text if isinstance(text, str) else text.said(language)


def in_each(draw: Callable[[Language], str]) -> Bilingual:
    """Something that is made once per language, such as a drawing with words in it."""
    return Bilingual(draw("en"), draw("zh"))

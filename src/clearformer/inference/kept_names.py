"""Names, numbers and codes that a translator would lose are led around it.

A sentence is translated as it is first. Only if it has rare items and loses one, it is asked for again with known names
and numbers in their places (`text/stand_in_table.py`), in several ways at once. What is kept is the likeliest
translation in which every stand-in is found as often as it was asked for.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from clearformer.inference.translation_settings import DecodingConfig, Translation
from clearformer.text.stand_in_table import Attempt, StandInTable, stand_in_table

Search = Callable[[list[str], DecodingConfig], list[list[Translation]]]
ATTEMPTS = 16  # ways to fill the places of a sentence
WIDE = 12  # the beam of a second try, where every translation of the first lost something


class _Found(NamedTuple):
    """A translation with its items back in place, and what counts against it."""

    losses: int
    invented: int
    oddness: int
    translation: Translation


class NameKeeper:
    """What a translator asks when it keeps names; made by `name_keeper`, if the folder says how."""

    def __init__(self, table: StandInTable) -> None:
        self.table = table

    def mend(
        self,
        texts: Sequence[str],
        found: list[list[Translation]],
        config: DecodingConfig,
        search: Search,
    ) -> list[list[Translation]]:
        """The same translations, and others where items were lost. search: how the model translates texts."""
        mended = list(found)
        lost = [row for row, text in enumerate(texts) if self.table.missing(text, found[row][0].text)]
        for beam in dict.fromkeys((config.beam, max(config.beam, WIDE))):
            if lost:
                self._try(texts, mended, lost, search, replace(config, beam=beam, nbest=beam))
            lost = [row for row in lost if self.table.missing(texts[row], mended[row][0].text)]
        return self._told(texts, [best[: config.nbest] for best in mended])

    def _try(
        self,
        texts: Sequence[str],
        found: list[list[Translation]],
        rows: Sequence[int],
        search: Search,
        config: DecodingConfig,
    ) -> None:
        """Put what is found with stand-ins among what was found before, for these rows, all in one batch."""
        attempts = {row: self.table.attempts(texts[row].strip(), ATTEMPTS) for row in rows}
        asked = list(dict.fromkeys(one.text for row in attempts.values() for one in row))
        answers = dict(zip(asked, search(asked, config) if asked else [], strict=True))
        for row, tried in attempts.items():
            found[row] = self._best(texts[row].strip(), found[row], tried, answers)

    def put_back(self, text: str, read_as: str, said: str) -> str | None:
        """What was said of the text that was read instead, with the items of the text itself; None if it lost some."""
        tried = self.table.attempts(text.strip(), ATTEMPTS)
        return next((self.table.restored(one, said) for one in tried if one.text == read_as), None)

    def _best(
        self,
        text: str,
        before: Sequence[Translation],
        attempts: Sequence[Attempt],
        answers: Mapping[str, Sequence[Translation]],
    ) -> list[Translation]:
        """Everything that was found for a text, best first: what loses least, then what is likeliest."""
        candidates = [self._judged(text, one) for one in before]
        for attempt in attempts:
            for answer in answers[attempt.text]:
                restored = self.table.restored(attempt, answer.text)
                if restored is not None:
                    candidates.append(
                        self._judged(text, replace(answer, text=restored, read_as=attempt.text), attempt.oddness)
                    )
        ranked: dict[str, Translation] = {}
        for one in sorted(candidates, key=_rank):
            ranked.setdefault(one.translation.text, one.translation)
        return list(ranked.values())

    def _judged(self, text: str, one: Translation, oddness: int = 0) -> _Found:
        return _Found(len(self.table.missing(text, one.text)), self.table.invented(text, one.text), oddness, one)

    def _told(self, texts: Sequence[str], found: Sequence[Sequence[Translation]]) -> list[list[Translation]]:
        """Each translation with the items that it lost all the same."""
        return [
            [replace(one, lost=tuple(lost)) if (lost := self.table.missing(text, one.text)) else one for one in best]
            for text, best in zip(texts, found, strict=True)
        ]


def _rank(one: _Found) -> tuple[int, int, int, float]:
    score = one.translation.score
    return one.losses, one.invented, one.oddness, 0.0 if math.isnan(score) else -score


def name_keeper(provenance: Mapping[str, Any]) -> NameKeeper | None:
    """What keeps a translator's names; None where its folder has no table of stand-ins."""
    table = stand_in_table(provenance)
    return None if table is None else NameKeeper(table)


class LostRemarks:
    """Collects names and numbers that are in no translation, for one remark at the end. keeper: None sees nothing."""

    SHOWN = 3

    def __init__(self, keeper: NameKeeper | None) -> None:
        self._keeper = keeper
        self._lost: list[str] = []

    def see(self, name: str, text: str, translation: str) -> None:
        """One translation. name: what to call it in the remark."""
        lost = self._keeper.table.missing(text, translation) if self._keeper and translation else []
        if lost:
            self._lost.append(f"{', '.join(lost)} ({name})")

    def remark(self) -> str | None:
        """A sentence, or None where there is nothing to say."""
        if not self._lost:
            return None
        more = f" and {len(self._lost) - self.SHOWN:,} more" if len(self._lost) > self.SHOWN else ""
        return f"not in the translation as in the text: {'; '.join(self._lost[: self.SHOWN])}{more}"

"""Which words fit at a gap: a masked language model in use."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.text_readers import Reader
from clearformer.inference.wrong_use import use_of, wrong_use
from clearformer.text.tokenizer import Encoding
from clearformer.text.unusable import UnusableTextError

BEST = 5
STAND_IN = "0"  # for a gap while a text is read: every vocabulary trained here cuts a digit off from its neighbours
CUT_BEFORE_SPACES = ("bpe", "unigram")  # kinds whose words bring the space before them along


@dataclass(frozen=True, kw_only=True)
class FilledWord:
    """A token for a gap. start, end: where the gap stands in the text."""

    text: str
    probability: float
    start: int
    end: int


class WordFiller(Reader):
    """A model that was trained to guess hidden words."""

    def __init__(self, bundle: Bundle) -> None:
        if use_of(bundle.config)[1] != "fill":  # what writes from left to right sees no word behind the gap
            raise ValueError(wrong_use(bundle.config, "masked-language-model", bundle.task))
        super().__init__(bundle, "language-model")
        if "mask" not in self.tokenizer.special_ids:
            raise ValueError("this vocabulary has no token for a gap, so the model cannot fill one")
        self.mask = self.tokenizer.special_id("mask")

    @property
    def gap(self) -> str:
        """How a gap is written in a text."""
        return self.tokenizer.piece(self.mask)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Texts with the mask where they have a gap, also for vocabularies to which "[MASK]" is text like any other."""
        if self.tokenizer.special_in_text:
            return super().encode(texts)
        read = super().encode([text.replace(self.gap, STAND_IN) for text in texts])
        return [self._put_gaps(one, text) for one, text in zip(read, texts, strict=True)]

    def _put_gaps(self, read: Encoding, text: str) -> Encoding:
        """The mask in place of each stand-in and of a space that is cut off before it; offsets as in the given text."""
        longer = len(self.gap) - len(STAND_IN)
        spots = [found.start() - number * longer for number, found in enumerate(re.finditer(re.escape(self.gap), text))]
        kept: list[tuple[int, str, tuple[int, int]]] = []
        gaps = iter([*spots, math.inf])
        spot = next(gaps)
        passed = 0
        for one, piece, (begin, end) in zip(read.ids, read.pieces, read.offsets, strict=True):
            if end <= begin or end <= spot:
                kept.append((one, piece, (begin + passed, end + passed) if end > begin else (begin, end)))
                continue
            start = int(spot) + passed
            if self.tokenizer.kind in CUT_BEFORE_SPACES and kept and kept[-1][1].isspace() and kept[-1][2][1] == start:
                kept.pop()
            kept.append((self.mask, self.gap, (start, start + len(self.gap))))
            spot, passed = next(gaps), passed + longer
        ids, pieces, offsets = zip(*kept, strict=True)
        return Encoding(ids, pieces, offsets)

    def fill(
        self, texts: str | Sequence[str], config: ReadingConfig | None = None, **changes: Any
    ) -> list[list[FilledWord]]:
        """The likeliest tokens at the first gap of each text, best first."""
        chosen = replace(config or ReadingConfig(), **changes)
        given = [texts] if isinstance(texts, str) else list(texts)
        read, known = self.encode(given), self.tokenizer.vocab_size  # a table may have more rows than that
        for number, one in enumerate(read, start=1):
            if self.mask not in one.ids:
                raise UnusableTextError(number, f"has no gap; write {self.gap} where a word is missing")
        results: list[list[FilledWord]] = []
        for start in range(0, len(read), chosen.batch):
            part = read[start : start + chosen.batch]
            logits = self.run([one.ids for one in part])
            for row, one in enumerate(part):
                place = list(one.ids).index(self.mask)
                best = logits[row, place].softmax(-1)[:known].topk(min(BEST, known))
                begin, end = one.offsets[place]
                results.append(
                    [
                        FilledWord(text=self._spelled(token), probability=share, start=begin, end=end)
                        for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                    ]
                )
        return results

    def _spelled(self, token: int) -> str:
        """A marker is shown as it is: a guess without a word would say nothing."""
        return self.tokenizer.decode([token], skip_special=False).strip()

    def __repr__(self) -> str:
        return describe(self, f"gaps are written {self.gap}")

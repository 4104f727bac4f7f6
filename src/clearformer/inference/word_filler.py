"""Which words fit at a gap: a masked language model in use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.text_readers import Reader
from clearformer.inference.wrong_use import wrong_use
from clearformer.text.unusable import UnusableTextError

BEST = 5


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
        if bundle.config.shape != "encoder":  # what writes from left to right sees no word behind the gap
            raise ValueError(wrong_use(bundle.config, "masked-language-model"))
        super().__init__(bundle, "language-model")
        if "mask" not in self.tokenizer.special_ids:
            raise ValueError("this vocabulary has no token for a gap, so the model cannot fill one")
        self.mask = self.tokenizer.special_id("mask")

    @property
    def gap(self) -> str:
        """How a gap is written in a text."""
        return self.tokenizer.piece(self.mask)

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

"""Texts in, summaries out: an encoder–decoder in use.

A summary is never longer than its text, and ends with a sentence where the limit would cut one. A text that is longer
than the model reads is summarised in parts, whose summaries are joined; or only its beginning is read. Both are said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.folder.bundle import Bundle
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.predictor import describe
from clearformer.inference.summary_settings import HARD, Summary, SummaryConfig, usual_summaries
from clearformer.inference.translator_ensemble import translator_of
from clearformer.inference.wrong_use import translates, wrong_use
from clearformer.text.sentences import ends_a_sentence, sentences, whole_sentences

LONGEST = 1024  # tokens that are read at a time by a model whose folder does not say


class Summarizer:
    """A model that reads a text and writes a shorter one; or several, the mean of whose probabilities decides."""

    def __init__(self, bundle: Bundle, *others: Bundle) -> None:
        for one in (bundle, *others):
            if one.task not in (None, "summarization") or not translates(one.config):
                raise ValueError(wrong_use(one.config, "summarization", one.task))
        self.bundle, self.model = bundle, bundle.model
        self.writer = translator_of([bundle, *others])
        self.tokenizer = self.writer.source_tokenizer
        self.usual = usual_summaries(bundle.provenance)
        self.longest = min(map(_longest, (bundle, *others)))
        self.together = 1 + len(others)

    def __repr__(self) -> str:
        more = f"the first of {self.together} that decide together, " if self.together > 1 else ""
        return describe(self, f"{more}reads {self.longest} tokens at a time")

    def summarize(
        self,
        texts: str | Sequence[str],
        config: SummaryConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> list[Summary]:
        """A summary of each text, in order. changes: single settings, such as beam=1."""
        chosen = replace(config or self.usual, **changes)
        given = [text.strip() for text in ([texts] if isinstance(texts, str) else texts)]
        rows = self.tokenizer.ids(given, add_special=False)
        parts = [self._parts(text, row, chosen) for text, row in zip(given, rows, strict=True)]
        markers = self.writer.markers
        sources = [[*markers.before_source, *part, *markers.after_source] for row in parts for part in row]
        found = self.writer.search_all(sources, chosen.search(), most=HARD * chosen.max_tokens, on_progress=on_progress)
        best = (hypotheses[0] for hypotheses in found)
        return [
            self._joined(text, len(row), [(part, next(best)) for part in mine], chosen)
            for text, row, mine in zip(given, rows, parts, strict=True)
        ]

    def _parts(self, text: str, ids: list[int], config: SummaryConfig) -> list[list[int]]:
        """The ids of a text, whole or in parts that fit; whole sentences stay together where they fit."""
        if len(ids) <= self.longest or config.long == "beginning":
            return [ids[: self.longest]] if ids else []
        spans = sentences(text)
        found: list[list[int]] = []
        for row in self.tokenizer.ids([text[start:end] for start, end in spans], add_special=False):
            if found and len(found[-1]) + len(row) <= self.longest:
                found[-1] += row
            else:
                found += [row[start : start + self.longest] for start in range(0, len(row), self.longest)]
        return found

    def _joined(
        self, text: str, tokens: int, parts: Sequence[tuple[list[int], Hypothesis]], config: SummaryConfig
    ) -> Summary:
        """One summary of the parts'. What would be as long as the text itself is the text."""
        written = [self._written(one, len(part), config) for part, one in parts]
        said = join_parts([one for one, _ in written])
        read = sum(len(part) for part, _ in parts)
        if not parts or len(said) >= len(text):
            return Summary(text=text, score=0.0, tokens=tokens, read=tokens, parts=max(1, len(parts)))
        return Summary(
            text=said,
            score=min(one.score for _, one in parts),
            tokens=tokens,
            read=read if config.long == "beginning" else tokens,
            parts=len(parts),
            ended=all(ended for _, ended in written),
        )

    def _written(self, found: Hypothesis, read: int, config: SummaryConfig) -> tuple[str, bool]:
        """The text of a hypothesis, and whether it came to an end; one that is too long ends with a whole sentence."""
        text = self.writer.target_tokenizer.decode(found.tokens).strip()
        limit = min(HARD * config.max_tokens, read)
        if len(found.tokens) <= config.max_tokens and len(found.tokens) < limit:
            return text, True
        within = self.writer.target_tokenizer.decode(found.tokens[: config.max_tokens]).strip()
        if whole := whole_sentences(within).strip():
            return whole, True
        return text, len(found.tokens) < limit or ends_a_sentence(text)


def summarizer_of(bundles: Sequence[Bundle]) -> Summarizer:
    """One model alone, or several together."""
    return Summarizer(*bundles)


def join_parts(summaries: Sequence[str]) -> str:
    """The summaries of a text's parts as one, in order and each once."""
    different = [one for one in dict.fromkeys(summaries) if one]
    if all(map(ends_a_sentence, different)):
        return " ".join(different)
    return "; ".join(different)


def _longest(bundle: Bundle) -> int:
    """How many tokens of a text the model reads at a time: as in its training, or as its positions allow."""
    markers, said = bundle.preprocessing.framing, bundle.provenance.get("max_length")
    around = len(markers.before_source) + len(markers.after_source)
    if isinstance(said, int) and not isinstance(said, bool) and said > around:
        return said - around
    return bundle.config.max_len - around if bundle.config.position.kind == "learned" else LONGEST

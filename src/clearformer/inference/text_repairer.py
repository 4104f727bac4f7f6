"""Damaged texts in, whole ones out: a model that was trained to denoise, in use.

A gap that somebody writes is filled; a text without one is damaged as in training, so that damage and repair stand side
by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.data.corruption import Corruption, CorruptionConfig, put_back
from clearformer.data.text_rows import in_parts
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.bundle import Bundle
from clearformer.foundation import settings
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.text.special import BERT
from clearformer.text.unusable import UnusableTextError

GAP = str(BERT.mask)


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A text as the model made it whole, and as it was shown to it; its gaps are written [MASK]."""

    text: str
    shown: str


class Judged(NamedTuple):
    """Nats of each token that was to be written, and whether it was the likeliest."""

    nats: NDArray[np.float64]
    right: NDArray[np.bool_]


class TextRepairer:
    """A model that writes texts without the damage that it reads."""

    gap = GAP

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.model = bundle, bundle.model
        self.writer = Translator(bundle, wanted="denoising")
        self.tokenizer = self.writer.source_tokenizer
        self.corruption = Corruption(self.tokenizer, corruption_of(bundle.provenance))
        if self.corruption.mask < 0 and not len(self.corruption.sentinels):
            raise ValueError("this vocabulary has neither a mask nor sentinels, so the model was not trained to repair")
        said = bundle.provenance.get("max_length")
        self.longest = said - 1 if isinstance(said, int) and said > 2 else bundle.config.max_len - 1

    def __repr__(self) -> str:
        return describe(self, f"gaps are written {self.gap}")

    def fill(self, texts: str | Sequence[str], config: ReadingConfig | None = None, **changes: Any) -> list[Repair]:
        """Each text without its gaps; one that has none is damaged first, always in the same way."""
        given = [texts] if isinstance(texts, str) else list(texts)
        read = [self._read(text.strip(), number) for number, text in enumerate(given, start=1)]
        chosen = replace(config or ReadingConfig(), **changes)
        search = DecodingConfig(beam=1, batch=chosen.batch, max_ratio=2.0, max_extra=20)
        after = self.writer.markers.after_source
        found = self.writer.search_all([[*row, *after] if row else [] for row in read], search)
        return [self._repair(row, best[0].tokens if best else ()) for row, best in zip(read, found, strict=True)]

    def _read(self, text: str, number: int) -> list[int]:
        """The ids of a text with a mask, or the next sentinel, at each gap; damaged, if it has no gap."""
        parts = [part.strip(" ") for part in text.split(self.gap)]
        rows = self.tokenizer.ids(parts, add_special=False)
        if len(parts) == 1:
            self._check(rows[0], number)
            return self.corruption(np.array(rows[0]), np.random.default_rng(rows[0]))[0].tolist() if rows[0] else []
        marks = self.corruption.sentinels.tolist() or [self.corruption.mask] * len(parts)
        if len(parts) > len(marks):
            raise UnusableTextError(number, f"has {len(parts) - 1} gaps, more than the {len(marks) - 1} allowed")
        joined = [*rows[0]]
        for mark, row in zip(marks, rows[1:], strict=False):
            joined += [mark, *row]
        self._check(joined, number)
        return joined

    def _check(self, ids: Sequence[int], number: int) -> None:
        if len(ids) > self.longest:
            raise UnusableTextError(number, f"has {len(ids)} tokens, more than the {self.longest} it reads; split it")

    def _repair(self, read: list[int], written: Sequence[int]) -> Repair:
        sentinels = self.corruption.sentinels
        whole = put_back(read, written, sentinels) if len(sentinels) else list(written)
        marks = {self.corruption.mask, *sentinels.tolist()}
        pieces = [[]] if not read else _split(read, marks)
        shown = f" {self.gap} ".join(self.tokenizer.decode(piece).strip() for piece in pieces).strip()
        return Repair(text=self.tokenizer.decode(whole).strip(), shown=shown)

    def rows(self, texts: Sequence[str]) -> list[TokenIds]:
        """Texts as rows that the model reads; a long one in parts."""
        read = (np.array(ids, dtype=np.int64) for ids in self.tokenizer.ids(texts, add_special=False) if ids)
        return [part for ids in read for part in in_parts(ids, self.longest)]

    @torch.inference_mode()
    def judge(self, rows: Sequence[TokenIds]) -> list[Judged]:
        """How well each row, damaged always in the same way, is repaired, token by token, all before each given."""
        markers, eos = self.writer.markers, self.writer.target_tokenizer.eos_id
        device = next(self.model.parameters()).device
        judged = []
        for row in rows:
            source, target = self.corruption(row, np.random.default_rng(row))
            read = torch.tensor([[*source, *markers.after_source]], device=device)
            wanted = torch.tensor([*target, eos], device=device)
            scores = self.model(read, torch.cat((wanted.new_tensor([markers.start]), wanted[:-1]))[None])[0]
            nats = -scores.float().log_softmax(-1).gather(-1, wanted[:, None])[:, 0]
            right = scores.argmax(-1) == wanted
            judged.append(Judged(nats.double().cpu().numpy(), right.cpu().numpy()))
        return judged


def corruption_of(provenance: Mapping[str, Any]) -> CorruptionConfig:
    """How a model's training texts were damaged, or as BART does it where its folder does not say."""
    told = provenance.get("corruption", {})
    return settings.parse(CorruptionConfig, told if isinstance(told, Mapping) else {}, "the model's provenance")


def _split(ids: Sequence[int], marks: set[int]) -> list[list[int]]:
    """What stands between marks."""
    parts: list[list[int]] = [[]]
    for one in ids:
        if one in marks:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts

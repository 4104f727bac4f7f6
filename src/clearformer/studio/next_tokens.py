"""What a language model expects next, how it came to that layer by layer, and which parts of it spoke for it.

All answers about a text come from one forward pass, which is recorded once. The arithmetic is the library's:
`inference/logit_lens.py` and `inference/logit_parts.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.ranking import top
from clearformer.inference.logit_lens import LOGITS, lens_names, lens_of, ranks
from clearformer.inference.logit_parts import part_names, parts_of, why_no_sum
from clearformer.serving.refusal import Refused
from clearformer.studio.packing import pack
from clearformer.studio.requests import LensRequest, NextRequest, PartsRequest
from clearformer.studio.shown_model import Look, ShownModel, check_length
from clearformer.studio.spelling import Token, spell, spell_each
from clearformer.studio.trace_cache import TraceCache, Values

MAX_TOKENS = 512  # of a text: a score for each of them and each of the vocabulary is kept
SHOWN = 10  # likeliest tokens
LENS_SHOWN = 5  # of each layer
BLOCK = 64  # rows whose probabilities are computed at a time: a large vocabulary takes much memory

Left = Callable[[], bool]


def waits() -> bool:
    """Whoever asked has not left."""
    return False


class NextTokens:
    """Answers about what comes next. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, traces: TraceCache) -> None:
        self.shown_model, self._traces = shown_model, traces

    def likeliest(self, asked: NextRequest, left: Left = waits) -> dict[str, Any]:
        """The likeliest next tokens at a place, and how much each token of the text surprised the model."""
        ids, values, place = self._seen(asked, left)
        logits = values[LOGITS]
        return {
            "tokens": self._surprises(ids, logits),
            "place": place,
            "likeliest": self._tops(logits[place], ids[: place + 1], SHOWN),
            "entropy": _entropy(logits[place]),
        }

    def lens(self, asked: LensRequest, left: Left = waits) -> dict[str, Any]:
        """What each layer would say at a place, and what it thinks of one token: the final choice, or another."""
        ids, values, place = self._seen(asked, left)
        logits = lens_of(self.shown_model.model, values, position=place)
        token = self._token(asked.token, logits[-1])
        shares = logits.float().log_softmax(-1)[:, token].exp().tolist()
        rows = zip(logits, shares, ranks(logits, token), strict=True)
        return {
            "place": place,
            "token": self._spell([token])[0],
            "layers": [
                {
                    "likeliest": self._tops(row, ids[: place + 1], LENS_SHOWN),
                    "probability": share,
                    "rank": rank,
                    "entropy": _entropy(row),
                }
                for row, share, rank in rows
            ],
        }

    def parts(self, asked: PartsRequest, left: Left = waits) -> dict[str, Any]:
        """What each part of the model adds to the logit of a token, or to what sets it apart from another."""
        _, values, place = self._seen(asked, left)
        if why_no_sum(self.shown_model.model) is not None:
            raise Refused("nosum", "this model's logits are no sum of parts: it has a norm or a layer behind each sum")
        token = self._token(asked.token, values[LOGITS][place])
        against = None if asked.against is None else self._token(asked.against, values[LOGITS][place])
        found = parts_of(self.shown_model.model, values, token, against=against, position=place)
        return {
            "place": place,
            "token": self._spell([token])[0],
            "against": None if against is None else self._spell([against])[0],
            "logit": found.logit,
            "total": found.total,
            "embedding": found.embedding,
            "position": found.position,
            "constant": found.constant,
            "heads": pack(found.heads),
            "attention_biases": found.attention_biases.tolist(),
            "feed_forwards": found.feed_forwards.tolist(),
        }

    def _seen(self, asked: NextRequest, left: Left) -> tuple[tuple[int, ...], Values, int]:
        """The text's ids, everything that the answers about it need, and the place that is looked at."""
        model = self.shown_model
        if model.config.shape != "decoder" or model.config.head.kind != "language-model":
            raise Refused("nodecoder", "this page is for decoder-only language models, and this model is none")
        ids = model.read(asked.text, blank=True)
        check_length(len(ids), MAX_TOKENS)
        if model.generator is not None and len(ids) > model.generator.room:
            told = "the text fills all {limit} positions that this model learned; shorten it"
            raise Refused("positions", told, limit=model.generator.room)
        place = len(ids) - 1 if asked.place is None else asked.place
        if place >= len(ids):
            raise Refused("place", "there is no token {place}; the text has {count}", place=place, count=len(ids))
        return ids, self._traces.values(Look(ids), self._names, left=left), place

    @property
    def _names(self) -> list[str]:
        model = self.shown_model.model
        return [*lens_names(model), *(part_names(model) if why_no_sum(model) is None else [])]

    def _token(self, wanted: int | None, logits: Tensor) -> int:
        """A token that exists; None is the likeliest."""
        if wanted is None:
            return int(top(logits[None], 1)[1])
        if wanted >= len(logits):
            told = "token {token} is outside the vocabulary of {size} tokens"
            raise Refused("vocabulary", told, token=wanted, size=len(logits))
        return wanted

    def _surprises(self, ids: Sequence[int], logits: Tensor) -> list[dict[str, Any]]:
        """Every token with its −log p and its rank; the first was predicted by nothing."""
        tokens: list[dict[str, Any]] = [dict(token) for token in spell(self.shown_model.source_tokenizer, ids)]
        tokens[0] |= {"surprise": None, "rank": None}
        for start in range(1, len(ids), BLOCK):
            these = torch.tensor(ids[start : start + BLOCK], device=logits.device)[:, None]
            before = logits[start - 1 : start - 1 + len(these)].float()
            own = before.gather(1, these)
            nats = (before.logsumexp(-1, keepdim=True) - own)[:, 0].tolist()
            places = (1 + (before > own).sum(-1)).tolist()
            for token, surprise, rank in zip(tokens[start : start + BLOCK], nats, places, strict=True):
                token |= {"surprise": surprise, "rank": rank}
        return tokens

    def _tops(self, logits: Tensor, before: Sequence[int], count: int) -> list[dict[str, Any]]:
        """The likeliest tokens of one distribution. adds: the text that such a token puts behind the text before."""
        shares, ids = top(logits.float().softmax(-1)[None], count)
        numbers: list[int] = ids[0].tolist()
        told = zip(self._spell(numbers), shares[0].tolist(), numbers, strict=True)
        return [{**token, "probability": share, "adds": self._adds(before, number)} for token, share, number in told]

    def _adds(self, before: Sequence[int], number: int) -> str | None:
        """None for what cannot be typed: a special token, or a part of a character."""
        tokenizer = self.shown_model.source_tokenizer
        if tokenizer is None:
            return f" {number}"
        if number >= tokenizer.vocab_size:
            return None
        start, whole = tokenizer.decode(before), tokenizer.decode([*before, number])
        added = whole[len(start) :]
        return added if whole.startswith(start) and added and "\ufffd" not in added else None

    def _spell(self, ids: Sequence[int]) -> list[Token]:
        return spell_each(self.shown_model.source_tokenizer, ids)


def _entropy(logits: Tensor) -> float:
    """In nats."""
    logs = logits.float().log_softmax(-1)
    return float(-(logs.exp() * logs).sum())

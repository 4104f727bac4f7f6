"""What a model can show by itself, where no other program can be asked: promises that every Transformer keeps.

The future never changes the past, padding changes nothing, cached steps equal the full pass, every value is a number,
and a language model finds prose likely. None of it proves the import right; each of it finds one that is wrong.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clearformer.folder.bundle import Bundle
from clearformer.interop.pair_certificate import pictures_of
from clearformer.model.config import ModelConfig
from clearformer.text.tokenizer import Tokenizer

TOLERANCE = 1e-4  # of the largest value, or of 1: another order of summing stays far below it
# A guess that knows only how frequent each token is has a perplexity of about a fiftieth of the vocabulary. A model
# that reads stays far below that in a language that it learned (SmolLM2, 49,152 tokens: 3 to 91), and one whose weights
# were mixed up does not (its queries moved by one layer: 2,664; its vocabulary by one row: 14,789).
SHARE = 50
SMALLEST = 1000  # tokens of a vocabulary that is large enough for that: characters tell less apart
_MOST_UNKNOWN = 0.2  # of a text's tokens, or it is in a script that the model never saw
_LENGTHS, _FIRST = (12, 7, 3), 3  # tokens of the rows, and how many of them come in the first cached step

PROSE = (
    "It had snowed all night. In the morning the children ran out of the house, and the dog ran after them. They built "
    "a snowman in front of the door, and when he was as big as their father, they gave him a hat and a red scarf.",
    "Es hatte die ganze Nacht geschneit. Am Morgen liefen die Kinder aus dem Haus, und der Hund lief ihnen nach. Sie "
    "bauten einen Schneemann vor der Tür und gaben ihm einen Hut und einen roten Schal.",
    "下了一整夜的雪。早上，孩子们从家里跑出来，小狗跟在他们后面。他们在门前堆了一个雪人，给他戴上帽子，围上红色的围巾。",
    "def mean(values):\n    total = 0\n    for one in values:\n        total += one\n    return total / len(values)\n",
)


@dataclass(frozen=True, kw_only=True)
class SelfCheck:
    """The largest difference that each check found; None where it does not apply. perplexity: of the first text of
    `PROSE` that is as likely as prose has to be, or of the likeliest.

    fault: what is wrong with the model, if something is.
    """

    future: float | None = None
    padding: float | None = None
    cached_steps: float | None = None
    perplexity: float | None = None
    fault: str = ""

    def as_json(self) -> dict[str, Any]:
        """For config.json: what was checked."""
        named = ("future", "padding", "cached_steps", "perplexity")
        return {"finite": True} | {name: value for name in named if (value := getattr(self, name)) is not None}


NOT_A_NUMBER = "it answers with what is not a number"


@torch.no_grad()
def check_itself(bundle: Bundle, *, prose: bool = True) -> SelfCheck:
    """Hold a model against its promises. prose: whether a language model is expected to find sentences likely."""
    config, model = bundle.config, bundle.model.eval()
    if config.pair is not None:
        answer = model(pictures_of(config, 1), torch.zeros(1, config.of_texts.max_len, dtype=torch.long))
        return SelfCheck(fault="" if _finite(answer) else NOT_A_NUMBER)
    if config.shape != "encoder-decoder" and config.front.kind != "tokens":
        return SelfCheck(fault="" if _finite(model(_no_text(config))) else NOT_A_NUMBER)
    asked = _Asked(config, model)
    rows = _rows(config)
    answers = [asked.answer(row) for row in rows]
    if not all(map(_finite, answers)):
        return SelfCheck(fault=NOT_A_NUMBER)
    found = SelfCheck(
        future=_future(asked, rows[0], answers[0]),
        padding=_padding(asked, rows, answers),
        cached_steps=_cached_steps(asked, rows[0], answers[0]),
    )
    most = TOLERANCE * max(1.0, max(float(answer.abs().max()) for answer in answers))
    for name, wrong in _WRONG.items():
        if not (getattr(found, name) or 0.0) <= most:
            return replace(found, fault=f"{wrong} (by {getattr(found, name):.1e})")
    return _with_perplexity(found, bundle, prose=prose)


_WRONG = {
    "future": "a later token changes what it says of an earlier one",
    "padding": "padding changes what it says of a text",
    "cached_steps": "it says something else token by token than of the whole text",
}


class _Asked:
    """A model behind one call. What a writer reads is the same for every text that it writes."""

    def __init__(self, config: ModelConfig, model: nn.Module) -> None:
        self.model: Any = model
        self.reads_tokens = config.front.kind == "tokens"
        self.steps = config.shape != "encoder" and config.head.kind == "language-model"
        self.source: Tensor | None = None
        if config.shape == "encoder-decoder":
            self.source = _rows(config)[0] if self.reads_tokens else _no_text(config)

    def answer(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """What it says of rows; of a writer, of what it writes, with junk behind its source where there is padding."""
        answer: Tensor
        if self.source is None:
            answer = self.model(tokens) if keep is None else self.model(tokens, keep=keep)
            return answer
        source = self.source.expand(len(tokens), *self.source.shape[1:])
        if keep is None or not self.reads_tokens:
            answer = self.model(source, tokens, target_keep=keep)
            return answer
        padded, real = F.pad(source, (0, 2), value=1), torch.arange(source.size(1) + 2) < source.size(1)
        answer = self.model(padded, tokens, source_keep=real.expand(len(tokens), -1), target_keep=keep)
        return answer

    def in_steps(self, tokens: Tensor) -> Tensor:
        """The same token by token, after a first piece."""
        cache = self.model.start_cache()
        memory = None if self.source is None else self.model.encode(self.source)
        pieces = [tokens[:, :_FIRST], *(tokens[:, at : at + 1] for at in range(_FIRST, tokens.size(1)))]
        if memory is None:
            return torch.cat([self.model(piece, cache=cache) for piece in pieces], dim=1)
        return torch.cat([self.model.decode(piece, memory, cache=cache) for piece in pieces], dim=1)


def _no_text(config: ModelConfig) -> Tensor:
    """A picture or a recording."""
    front = config.front
    drawn = torch.Generator().manual_seed(2017)
    shapes = {
        "patches": (front.channels, front.picture, front.picture),
        "sound": (16, front.mels),
        "samples": (config.samples.reach + 8 * config.samples.hop,),
    }
    return torch.randn(1, *shapes[front.kind], generator=drawn)


def _rows(config: ModelConfig) -> list[Tensor]:
    """Rows of ids of different lengths, each 1 T."""
    drawn = torch.Generator().manual_seed(2017)
    size = min(n for n in (config.vocab_size, config.target_vocab_size) if n)
    return [torch.randint(size, (1, min(length, config.max_len)), generator=drawn) for length in _LENGTHS]


def _finite(answer: Tensor) -> bool:
    return bool(answer.isfinite().all())


def _future(model: _Asked, row: Tensor, answer: Tensor) -> float | None:
    """How far another last token moves what is said of those before it."""
    if not model.steps or row.size(1) < 2:
        return None
    changed = row.clone()
    changed[:, -1] = (row[:, -1] + 1) % (int(row.max()) + 1)
    return _apart(model.answer(changed)[:, :-1], answer[:, :-1])


def _padding(model: _Asked, rows: list[Tensor], alone: list[Tensor]) -> float | None:
    """How far the rows, in one batch with junk to the left or right of the shorter ones, are from each alone."""
    width, found = max(row.size(1) for row in rows), 0.0
    for left in (False, True):
        room = [(width - row.size(1), 0) if left else (0, width - row.size(1)) for row in rows]
        batch = torch.cat([F.pad(row, sides, value=1) for row, sides in zip(rows, room, strict=True)])
        keep = torch.cat([F.pad(torch.ones_like(row), sides) for row, sides in zip(rows, room, strict=True)]).bool()
        together = model.answer(batch, keep)
        for number, answer in enumerate(alone):
            mine = together[number][keep[number]] if answer.dim() == 3 else together[number]
            found = max(found, _apart(mine, answer[0]))
    return found


def _cached_steps(model: _Asked, row: Tensor, answer: Tensor) -> float | None:
    """How far the answers token by token, with a cache, are from those to the whole row."""
    return _apart(model.in_steps(row), answer) if model.steps and row.size(1) > _FIRST else None


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def _with_perplexity(found: SelfCheck, bundle: Bundle, *, prose: bool) -> SelfCheck:
    """A language model finds at least one of a few short texts far likelier than a blind guess does."""
    config, tokenizer = bundle.config, bundle.tokenizer
    if config.shape != "decoder" or config.head.kind != "language-model" or tokenizer is None:
        return found
    most, least = config.vocab_size / SHARE, math.inf
    for text in PROSE:
        if (perplexity := _perplexity(bundle.model, tokenizer, text, config.max_len)) is not None:
            least = min(least, perplexity)
        if least < most:
            break
    if math.isinf(least):
        return found
    found = replace(found, perplexity=least)
    if least < most or config.vocab_size < SMALLEST or not prose:
        return found
    return replace(
        found,
        fault=f"plain sentences have a perplexity of {least:,.0f} or more for it, where a blind guess among its "
        f"{config.vocab_size:,} tokens has {config.vocab_size:,} and a language model less than {most:,.0f}; if it is "
        "a model of something else than prose, or untrained, say --not-prose",
    )


def _perplexity(model: nn.Module, tokenizer: Tokenizer, text: str, longest: int) -> float | None:
    """Of one text; None where the vocabulary does not know most of it."""
    ids, known = list(tokenizer.encode(text).ids), tokenizer.special_ids
    if "bos" in known and ids[:1] != [known["bos"]]:
        ids.insert(0, known["bos"])
    ids = ids[:longest]
    if len(ids) < 2 or ids.count(known.get("unk", -1)) > _MOST_UNKNOWN * len(ids):
        return None
    tokens = torch.tensor([ids])
    nats = float(F.cross_entropy(model(tokens)[0, :-1].float(), tokens[0, 1:]))
    return math.exp(min(nats, 700.0))

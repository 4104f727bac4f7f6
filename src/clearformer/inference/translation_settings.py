"""What a translation is and how it is searched for, whichever engine does it.

Both engines read these settings and give these results; nothing here needs a tensor, so that a command that only
translates starts at once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

# What a model folder remembers of its recipe's search, and what a value of it looks like.
REMEMBERED: dict[str, type | tuple[type, ...]] = {"beam": int, "penalty": str, "alpha": (int, float), "stop": str}
WIDEST = 64  # the beam that a folder may ask for by itself


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How a translation is searched for.

    The defaults score and stop as fairseq does, because every engine can: the mean log-probability of a token, and an
    end as soon as `beam` translations have finished. penalty = "gnmt" with alpha = 0.6 is the 2017 paper's score;
    stop = "proved" searches on until nothing unfinished can win. Those two need the torch engine.
    """

    beam: int = 4
    nbest: int = 1
    penalty: Literal["average", "gnmt"] = "average"  # log-probability / length**alpha, or / ((5 + length) / 6)**alpha
    alpha: float = 1.0
    stop: Literal["full", "proved"] = "full"
    batch: int = 128  # sentences at a time …
    batch_tokens: int = 4096  # … or fewer, where they are long: so many source tokens, padding included
    max_source: int = 1024  # longer inputs are refused rather than cut
    max_ratio: float = 2.0  # longest output: this many times the source …
    max_extra: int = 20  # … plus so many tokens
    no_repeat_ngram: int = 0

    def __post_init__(self) -> None:
        for name, least in (("beam", 1), ("nbest", 1), ("batch", 1), ("batch_tokens", 1), ("max_source", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"decoding.{name} must be at least {least}, not {getattr(self, name)}")
        for name, known in (("penalty", ("average", "gnmt")), ("stop", ("full", "proved"))):
            if getattr(self, name) not in known:
                raise ValueError(f"decoding.{name} is {getattr(self, name)!r}; choose {' or '.join(known)}")
        if not math.isfinite(self.alpha):
            raise ValueError(f"decoding.alpha must be a number, not {self.alpha}")
        if self.nbest > self.beam:
            raise ValueError(f"decoding.nbest is {self.nbest}, but a beam of {self.beam} finds no more than that many")
        if self.longest(1) < 1:
            raise ValueError(
                f"decoding.max_ratio {self.max_ratio} and max_extra {self.max_extra} leave no room for a word"
            )

    def longest(self, source_length: int) -> int:
        """The most tokens that a translation may have: a function of its own source alone."""
        return int(source_length * self.max_ratio) + self.max_extra

    def check_length(self, number: int, tokens: int) -> None:
        """Refuse a source that is too long, by its number among the texts."""
        if tokens >= self.max_source:
            raise ValueError(
                f"text {number} has {tokens} tokens, more than the {self.max_source - 1} allowed; split it"
            )


def usual_search(provenance: Mapping[str, Any]) -> DecodingConfig:
    """How a model folder's own recipe searched, or our defaults where the folder does not say.

    A folder may come from anybody: settings of other names are passed over, and impossible or costly ones refused.
    """
    said = provenance.get("decoding", {})
    if not isinstance(said, Mapping):
        raise ValueError(f"the model's provenance says decoding = {said!r}, which are no settings")
    kept = {name: said[name] for name in REMEMBERED if name in said}
    for name, value in kept.items():
        if not isinstance(value, REMEMBERED[name]) or isinstance(value, bool):
            raise ValueError(f"the model's provenance says decoding.{name} = {value!r}, which is no such setting")
    found = DecodingConfig(**kept)
    if found.beam > WIDEST:
        raise ValueError(
            f"the model's provenance asks for a beam of {found.beam}; {WIDEST} is the most a folder may ask for"
        )
    return found


def share_out(lengths: Sequence[int], config: DecodingConfig, *, workers: int) -> list[list[int]]:
    """Row numbers in batches of like length, longest first, so that the last one to finish is short; rows of length
    zero are left out.

    There are as many batches for each worker, if no long sentences come between, so that none sits idle in the end.
    """
    order = sorted((row for row, length in enumerate(lengths) if length), key=lambda row: (-lengths[row], row))
    each = math.ceil(len(order) / (workers * config.batch))
    size = math.ceil(len(order) / max(1, workers * each))
    batches = []
    while order:
        room = max(1, config.batch_tokens // lengths[order[0]])
        batches.append(order[: min(size, room)])
        order = order[len(batches[-1]) :]
    return batches


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One translation. score: log-probability under the length penalty; tokens: its pieces."""

    text: str
    score: float
    log_prob: float
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    ids: tuple[int, ...] = field(repr=False)


def nothing() -> Translation:
    """What a blank text becomes, without asking any model."""
    return Translation(text="", score=0.0, log_prob=0.0, tokens=(), token_log_probs=(), ids=())

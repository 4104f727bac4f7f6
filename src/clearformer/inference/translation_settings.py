"""What a translation is and how it is searched for, whichever engine does it.

Both engines read these settings and give these results; nothing here needs a tensor, so that a command that only
translates starts at once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from clearformer.foundation.forms import check_bounds
from clearformer.text.unusable import UnusableTextError

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

    beam: int = field(
        default=4, metadata={"help": "hypotheses kept at each step; 1 is greedy", "least": 1, "most": 1000}
    )
    nbest: int = field(
        default=1, metadata={"help": "translations shown of each text, best first", "least": 1, "most": 1000}
    )
    penalty: Literal["average", "gnmt"] = field(
        default="average",
        metadata={"help": "divide scores by n^alpha, or by ((5 + n) / 6)^alpha as the 2017 paper does"},
    )
    alpha: float = field(
        default=1.0,
        metadata={
            "help": "exponent of the length penalty; more favours longer translations",
            "least": -10,  # beyond, a long translation's penalty is no longer a number
            "most": 10,
        },
    )
    stop: Literal["full", "proved"] = field(
        default="full",
        metadata={"help": "stop when `beam` translations have ended, or when it is proved that nothing better follows"},
    )
    batch: int = field(
        default=128,
        metadata={"help": "sentences translated at a time, fewer where they are long", "least": 1, "most": 1_000_000},
    )
    batch_tokens: int = field(
        default=4096,
        metadata={
            "help": "most source tokens translated at a time, padding included",
            "least": 1,
            "most": 1_000_000_000,
        },
    )
    max_source: int = field(
        default=1024,
        metadata={"help": "sources of this many tokens or more are refused, not cut", "least": 2, "most": 1_000_000},
    )
    max_ratio: float = field(
        default=2.0, metadata={"help": "longest translation: this many times its source …", "least": 0, "most": 1000}
    )
    max_extra: int = field(default=20, metadata={"help": "… plus this many tokens", "least": 0, "most": 1_000_000})
    no_repeat_ngram: int = field(
        default=0,
        metadata={"help": "no run of this many tokens is written twice; 0 allows it", "least": 0, "most": 1000},
    )
    keep_names: bool = field(
        default=True,
        metadata={"help": "keep names, numbers and codes that the model hardly knows, if its folder says how"},
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.nbest > self.beam:
            raise ValueError(f"nbest is {self.nbest}, but a beam of {self.beam} finds no more than that many")
        if self.longest(1) < 1:
            raise ValueError(f"max_ratio {self.max_ratio} and max_extra {self.max_extra} leave no room for a word")

    def longest(self, source_length: int) -> int:
        """The most tokens that a translation may have: a function of its own source alone."""
        return int(source_length * self.max_ratio) + self.max_extra

    def check_length(self, number: int, tokens: int) -> None:
        """Refuse a source that is too long, by its number among the texts."""
        if tokens >= self.max_source:
            raise UnusableTextError(
                number, f"has {tokens} tokens, more than the {self.max_source - 1} allowed; split it"
            )


def usual_search(provenance: Mapping[str, Any]) -> DecodingConfig:
    """How a model folder's own recipe searched, or our defaults where the folder does not say."""
    return DecodingConfig(**remembered(provenance, REMEMBERED))


def remembered(provenance: Mapping[str, Any], kinds: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """The settings of its recipe's search that a model folder says. kinds: what a value of each looks like.

    A folder may come from anybody: settings of other names are passed over, and impossible or costly ones refused.
    """
    said = provenance.get("decoding", {})
    if not isinstance(said, Mapping):
        raise ValueError(f"the model's provenance says decoding = {said!r}, which are no settings")
    kept = {name: said[name] for name in kinds if name in said}
    for name, value in kept.items():
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise ValueError(f"the model's provenance says decoding.{name} = {value!r}, which is no such setting")
    if kept.get("beam", 0) > WIDEST:
        raise ValueError(
            f"the model's provenance asks for a beam of {kept['beam']}; {WIDEST} is the most a folder may ask for"
        )
    return kept


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
    """One translation. score: log-probability under the length penalty; tokens: its pieces.

    remark: why a text was left as it is, such as that it is in another language than the model reads.
    read_as: the text that the model read instead, with known names for rare ones; score and tokens belong to that.
    lost: names, numbers and codes of the text that are not in the translation.
    """

    text: str
    score: float
    log_prob: float
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    ids: tuple[int, ...] = field(repr=False)
    remark: str | None = None
    read_as: str | None = None
    lost: tuple[str, ...] = ()


def nothing() -> Translation:
    """What a blank text becomes, without asking any model."""
    return untouched("")


def untouched(text: str) -> Translation:
    """A text that is left as it is."""
    return Translation(text=text, score=0.0, log_prob=0.0, tokens=(), token_log_probs=(), ids=())

"""What happens to an example before the network: tokenizers, markers, labels, picture and sound facts.

It is written down with the weights and read by every engine, so that an example is prepared in use exactly as it was in
training. Nothing here needs a tensor: a command that only reads text starts at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from clearformer.foundation import settings
from clearformer.foundation.storage import DamagedError
from clearformer.text.tokenizer import Tokenizer

# Which of two texts a token is of; what its word looks like (capitals, digits, signs); or which text, and whether the
# other one has it, too.
TokenTypes = Literal["texts", "shapes", "overlap"]
TOKENIZERS = ("tokenizer", "target_tokenizer")  # names in config.json; each has a file of its name beside it


@dataclass(frozen=True, kw_only=True)
class Markers:
    """Which ids stand around the texts of an encoder–decoder."""

    before_source: tuple[int, ...] = ()
    after_source: tuple[int, ...] = ()
    start: int  # the decoder's first input
    forced: tuple[int, ...] = ()  # what every output begins with


@dataclass(frozen=True, kw_only=True)
class PictureFacts:
    """How a picture becomes numbers: a square of `size` pixels, (value / 255 - mean) / deviation for each channel."""

    size: int
    channels: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.size < 1 or self.channels not in (1, 3):
            raise ValueError(
                f"a picture has at least one pixel and 1 or 3 channels, not {self.size} and {self.channels}"
            )
        if len(self.mean) != self.channels or len(self.deviation) != self.channels:
            raise ValueError(f"picture.mean and picture.deviation need a number for each of {self.channels} channels")
        if not all(value > 0 for value in self.deviation):
            raise ValueError(f"picture.deviation must be above zero, not {self.deviation}")


@dataclass(frozen=True, kw_only=True)
class SoundFacts:
    """How a recording becomes frames: one spectrum each `hop` samples, in `mels` pitch bands."""

    sample_rate: int = 16_000
    mels: int = 80
    window: int = 400
    hop: int = 160
    seconds: float = 30.0  # what the network reads at a time; shorter recordings are filled up with silence

    def __post_init__(self) -> None:
        for one in fields(self):
            if not getattr(self, one.name) > 0:
                raise ValueError(f"sound.{one.name} must be above zero, not {getattr(self, one.name)}")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How the numbers of a head become a result: one of the labels, several of them, or a number."""

    kind: Literal["one", "several", "number"] = "one"
    temperature: float = 1.0  # logits are divided by it, so that probabilities are true on the development set
    threshold: float = 0.5  # several: a label that is at least so probable is given
    mean: float = 0.0  # number: of the training examples
    deviation: float = 1.0  # number: what one step of the network's output stands for

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and self.deviation > 0):  # not a number is neither
            raise ValueError(f"temperature and deviation are above 0, not {self.temperature} and {self.deviation}")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold is a probability, not {self.threshold}")


@dataclass(frozen=True, kw_only=True)
class Preprocessing:
    """Everything that decides how an example is read and how an output is spelled."""

    tokenizer: Tokenizer | None = None
    target_tokenizer: Tokenizer | None = None  # None: one vocabulary for both sides
    markers: Markers | None = None  # None: a source ends with <eos>, a target begins with <bos>
    labels: tuple[str, ...] = ()  # the names of the classes, for heads that have some
    types: TokenTypes = "texts"  # what token types tell, of models that have some
    picture: PictureFacts | None = None
    sound: SoundFacts | None = None
    outcome: Outcome = field(default_factory=Outcome)
    chat_template: str | None = None  # how messages become one text, as a template

    @cached_property
    def sides(self) -> tuple[Tokenizer, Tokenizer]:
        """The vocabularies of what is read and of what is written."""
        if self.tokenizer is None:
            raise ValueError("this model folder has no tokenizer, so it cannot read text")
        return self.tokenizer, self.target_tokenizer or self.tokenizer

    @cached_property
    def framing(self) -> Markers:
        """The markers as they are used: the folder's own, or those of models trained here."""
        return self.markers or usual_markers(*self.sides)

    def plain(self) -> dict[str, Any]:
        """As config.json has it; only what this model has is named."""
        facts: dict[str, Any] = {}
        for name in TOKENIZERS:
            if (tokenizer := getattr(self, name)) is not None:
                facts[name] = tokenizer.facts()
        for name in ("markers", "picture", "sound"):
            if (value := getattr(self, name)) is not None:
                facts[name] = settings.to_plain(value)
        if self.outcome != Outcome():
            facts["outcome"] = settings.to_plain(self.outcome)
        facts |= {"types": self.types} if self.types != "texts" else {}
        facts |= {"chat_template": self.chat_template} if self.chat_template is not None else {}
        return facts | ({"labels": list(self.labels)} if self.labels else {})

    def save_files(self, folder: Path) -> None:
        """Write the vocabularies beside config.json."""
        for name in TOKENIZERS:
            if (tokenizer := getattr(self, name)) is not None:
                tokenizer.save(folder / f"{name}.json")


def read_preprocessing(folder: Path, plain: Mapping[str, Any]) -> Preprocessing:
    """The inverse of `plain` and `save_files`. plain: the section of config.json."""
    where = str(folder / "config.json")
    kinds = {"markers": Markers, "picture": PictureFacts, "sound": SoundFacts, "outcome": Outcome}
    if unknown := sorted(plain.keys() - kinds.keys() - {*TOKENIZERS, "labels", "types", "chat_template"}):
        raise DamagedError(f"{where} has preprocessing that this version does not know: {', '.join(unknown)}")
    labels = plain.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise DamagedError(f"{where} has labels that are no list of words")
    read: dict[str, Any] = {name: settings.parse(kinds[name], plain[name], where) for name in kinds if name in plain}
    read |= {name: _tokenizer(folder, name, plain[name]) for name in TOKENIZERS if plain.get(name) is not None}
    types = plain.get("types", "texts")
    if types not in get_args(TokenTypes):
        raise DamagedError(f"{where} has token types {types!r}, where {', '.join(get_args(TokenTypes))} are known")
    template = plain.get("chat_template")
    if template is not None and not isinstance(template, str):
        raise DamagedError(f"{where} has a chat_template that is no text")
    return Preprocessing(labels=tuple(labels), types=types, chat_template=template, **read)


def _tokenizer(folder: Path, name: str, facts: Any) -> Tokenizer:
    if not isinstance(facts, Mapping):
        raise DamagedError(f"{folder / 'config.json'} has a {name} that is no table of facts")
    try:
        return Tokenizer.load(folder / f"{name}.json", facts)
    except FileNotFoundError:
        raise DamagedError(f"{folder / name}.json is missing, but config.json names it; get the folder anew") from None


def usual_markers(source: Tokenizer, target: Tokenizer) -> Markers:
    """How models that are trained here are asked: a source ends with <eos>, a target begins with <bos>."""
    return Markers(after_source=(source.eos_id,), start=target.bos_id)

"""What happens to an example before the network: tokenizers, markers, labels, picture and sound facts.

It is written down with the weights and read by every engine, so that an example is prepared in use exactly as it was in
training. Nothing here needs a tensor: a command that only reads text starts at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from clearformer.foundation import settings
from clearformer.foundation.storage import DamagedError
from clearformer.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from clearformer.folder.patch_codes import PatchCodes

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
    fit: Literal["middle", "stretch", "shortest"] = "middle"  # what becomes of a picture that is no square
    resample: Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"] = "bilinear"
    resized: int | None = None  # the side of the square of which the middle is taken, where that is not all of it

    def __post_init__(self) -> None:
        if self.size < 1 or self.channels not in (1, 3):
            raise ValueError(
                f"a picture has at least one pixel and 1 or 3 channels, not {self.size} and {self.channels}"
            )
        if len(self.mean) != self.channels or len(self.deviation) != self.channels:
            raise ValueError(f"picture.mean and picture.deviation need a number for each of {self.channels} channels")
        if not all(value > 0 for value in self.deviation):
            raise ValueError(f"picture.deviation must be above zero, not {self.deviation}")
        if self.resized is not None and self.resized < self.size:
            raise ValueError(f"picture.resized must be at least picture.size, {self.size}, not {self.resized}")


@dataclass(frozen=True, kw_only=True)
class SoundFacts:
    """How a recording becomes frames: one spectrum each `hop` samples, in `mels` pitch bands.

    Of a network that reads the samples themselves, `window` and `hop` say which of them a state is made of: so many,
    and so many further on the next one.
    """

    reads: Literal["spectra", "samples"] = "spectra"
    normalise: bool = False  # samples: each recording, or piece of one, is brought to mean 0 and deviation 1
    sample_rate: int = 16_000
    mels: int = 80  # samples: of the spectrum that is shown, not read
    window: int = 400
    hop: int = 160
    seconds: float = 30.0  # what the network reads at a time
    fill: bool = True  # shorter recordings are filled up with silence; else they are read as long as they are
    margin: float = 0.0  # seconds of silence before and after each recording, where it is not filled up
    never: tuple[int, ...] = ()  # tokens that are not written: signs and marks of noises
    never_first: tuple[int, ...] = ()  # further ones that no text begins with
    heads: tuple[tuple[int, int], ...] = ()  # layer and head of cross-attention that follow the sound word by word
    tongues: tuple[str, ...] = ()  # of a model that is told which one is spoken: their codes (en, zh)

    def __post_init__(self) -> None:
        for name in ("sample_rate", "mels", "window", "hop", "seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"sound.{name} must be above zero, not {getattr(self, name)}")
        if not 0 <= self.margin < 10:
            raise ValueError(f"sound.margin is some tenths of a second, not {self.margin}")

    @property
    def step(self) -> int:
        """Samples from one state of the network to the next."""
        return self.hop if self.reads == "samples" else 2 * self.hop


@dataclass(frozen=True, kw_only=True)
class MaskFacts:
    """How the values of every pixel become a mask. Sizes in pixels."""

    kind: Literal["instances", "classes"]
    numbers: tuple[int, ...] = ()  # classes: the number in a mask that stands for each label
    void: int | None = None  # classes: the number in a mask that stands for no class
    stretch: bool = False  # each picture's brightness is spread over the whole range first
    overlap: float = 0.5  # of a tile's side, at least, that neighbours share
    unit: float = 16.0  # instances: what an offset of one stands for
    reach: int = 2  # instances: how far apart votes for one centre lie
    votes: int = 8  # instances: as many a centre has at least
    smallest: int = 12  # instances: with fewer pixels they are left out

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < 1:
            raise ValueError(f"masks.overlap must be at least 0 and below 1, not {self.overlap}")
        for name in ("unit", "reach", "votes", "smallest"):
            if not getattr(self, name) > 0:
                raise ValueError(f"masks.{name} must be above zero, not {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How the numbers of a head become a result: one of the labels, several of them, or a number."""

    kind: Literal["one", "several", "number"] = "one"
    temperature: float = 1.0  # logits are divided by it, so that probabilities are true on the development set
    threshold: float = 0.5  # several: a label that is at least so probable is given
    thresholds: tuple[float, ...] = ()  # the same for each label, where they differ
    duplicates: float = 1.0  # boxes: of two of a class that share more than this, the surer one is given
    mean: float = 0.0  # number: of the training examples
    deviation: float = 1.0  # number: what one step of the network's output stands for
    squashed: bool = False  # number: brought between 0 and 1 by the logistic function (cross-encoders)

    def __post_init__(self) -> None:
        if self.squashed and (self.kind != "number" or (self.mean, self.deviation) != (0.0, 1.0)):
            raise ValueError("squashed is for plain numbers; leave it out")
        if not (self.temperature > 0 and self.deviation > 0):  # not a number is neither
            raise ValueError(f"temperature and deviation are above 0, not {self.temperature} and {self.deviation}")
        for share in (self.threshold, *self.thresholds, self.duplicates):
            if not 0 <= share <= 1:
                raise ValueError(f"a threshold is a probability, not {share}")


@dataclass(frozen=True, kw_only=True)
class VectorFacts:
    """How the states of an encoder become one vector of a text, and what is put before the text."""

    pool: Literal["mean", "first", "last"] = "mean"  # of a text's tokens
    longest: int | None = None  # tokens that are read at a time, where that is less than the network could
    prompts: dict[str, str] = field(default_factory=dict)  # by what a text is for: query, document, …
    usual_prompt: str | None = None  # the one that is used where nobody names one

    def __post_init__(self) -> None:
        if self.longest is not None and self.longest < 4:
            raise ValueError(f"vectors.longest must leave room for a text, not {self.longest} tokens")
        if self.usual_prompt is not None and self.usual_prompt not in self.prompts:
            raise ValueError(f"vectors.usual_prompt is {self.usual_prompt!r}, which is none of vectors.prompts")


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
    masks: MaskFacts | None = None
    vectors: VectorFacts | None = None  # of encoders that were trained to embed; None: the mean of the states
    codes: "PatchCodes | None" = None  # pictures as rows of codes, where the network reads those
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
        for name in ("markers", "picture", "sound", "masks", "vectors"):
            if (value := getattr(self, name)) is not None:
                facts[name] = settings.to_plain(value)
        facts |= {"codes": self.codes.facts()} if self.codes is not None else {}
        if self.outcome != Outcome():
            facts["outcome"] = settings.to_plain(self.outcome)
        facts |= {"types": self.types} if self.types != "texts" else {}
        facts |= {"chat_template": self.chat_template} if self.chat_template is not None else {}
        return facts | ({"labels": list(self.labels)} if self.labels else {})

    def save_files(self, folder: Path) -> None:
        """Write the vocabularies, and a book of patches, beside config.json."""
        for name in TOKENIZERS:
            if (tokenizer := getattr(self, name)) is not None:
                tokenizer.save(folder / f"{name}.json")
        if self.codes is not None:
            self.codes.save(folder)


def read_preprocessing(folder: Path, plain: Mapping[str, Any]) -> Preprocessing:
    """The inverse of `plain` and `save_files`. plain: the section of config.json."""
    where = str(folder / "config.json")
    kinds = {
        "markers": Markers,
        "picture": PictureFacts,
        "sound": SoundFacts,
        "masks": MaskFacts,
        "vectors": VectorFacts,
        "outcome": Outcome,
    }
    if unknown := sorted(plain.keys() - kinds.keys() - {*TOKENIZERS, "labels", "types", "chat_template", "codes"}):
        raise DamagedError(f"{where} has preprocessing that this version does not know: {', '.join(unknown)}")
    labels = plain.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise DamagedError(f"{where} has labels that are no list of words")
    read: dict[str, Any] = {name: settings.parse(kinds[name], plain[name], where) for name in kinds if name in plain}
    read |= {name: _tokenizer(folder, name, plain[name]) for name in TOKENIZERS if plain.get(name) is not None}
    read |= {} if plain.get("codes") is None else {"codes": _codes(folder, plain["codes"])}
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


def _codes(folder: Path, facts: Any) -> "PatchCodes":
    from clearformer.folder.patch_codes import PatchCodes  # here: a folder without codes costs no numpy

    if not isinstance(facts, Mapping):
        raise DamagedError(f"{folder / 'config.json'} has codes that are no table of facts")
    return PatchCodes.load(folder, facts)


def usual_markers(source: Tokenizer, target: Tokenizer) -> Markers:
    """How models that are trained here are asked: a source ends with <eos>, a target begins with <bos>."""
    return Markers(after_source=(source.eos_id,), start=target.bos_id)

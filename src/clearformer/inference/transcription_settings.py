"""How speech is written down; plain data, without a tensor."""

from dataclasses import dataclass, field

from clearformer.foundation.forms import check_bounds


@dataclass(frozen=True, kw_only=True)
class TranscriptionConfig:
    """How speech is written down: the likeliest token each time, window by window."""

    max_new: int = field(
        default=224, metadata={"help": "most tokens for one window of the recording, usually 30 s", "least": 1}
    )
    times: bool = field(
        default=True,
        metadata={"help": "let the model say when each segment begins and ends, where it can; else by window"},
    )
    language: str | None = field(
        default=None,
        metadata={"help": "what is spoken, as a code (en, zh), where a model knows several; else it is asked which"},
    )
    translate: bool = field(
        default=False, metadata={"help": "write English, whatever is spoken, where a model knows several languages"}
    )
    words: bool = field(default=False, metadata={"help": "also the time of each word, where the model tells it"})
    beam: int = field(
        default=1,
        metadata={"help": "texts kept during the search, by models trained here; 1: the likeliest step", "least": 1},
    )
    skip_silence: bool = field(default=True, metadata={"help": "pass over long stretches of silence"})
    previous: bool = field(
        default=False, metadata={"help": "show the model what it wrote before; a mistake may then be carried on"}
    )
    fallback: bool = field(
        default=True, metadata={"help": "write a window again, at a higher temperature, if its text is poor"}
    )
    least_log_prob: float = field(
        default=-1.0, metadata={"help": "mean log-probability of a token below which a text is poor", "most": 0}
    )
    most_compression: float = field(
        default=2.4, metadata={"help": "how many times a text may shrink when packed before it is a loop", "least": 1}
    )
    seed: int = field(default=1, metadata={"help": "of what is drawn at higher temperatures", "least": 0})
    batch: int = field(default=16, metadata={"help": "pieces of recordings that are read at once", "least": 1})

    def __post_init__(self) -> None:
        check_bounds(self)

"""How a model answers in a conversation. Nothing here needs a tensor."""

from dataclasses import dataclass, field, fields

from clearformer.inference.generation_settings import GenerationConfig

OPTIONS = (
    "max_new",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "repetition_penalty",
    "seed",
    "lookup",
)  # those that a conversation knows


@dataclass(frozen=True, kw_only=True)
class ChatConfig(GenerationConfig):
    """As a text is continued, with more room: an answer ends by itself."""

    max_new: int = field(default=512, metadata={"help": "most tokens of an answer", "least": 1})

    def __post_init__(self) -> None:
        super().__post_init__()
        for one in fields(self):
            if one.name not in OPTIONS and getattr(self, one.name) != one.default:
                raise ValueError(f"{one.name} is not known in a conversation; leave it out")

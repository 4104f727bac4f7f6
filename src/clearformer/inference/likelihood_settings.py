"""How the likelihood of a text is measured. Nothing here needs a tensor, so that a command's help starts at once."""

from dataclasses import dataclass, field

from clearformer.foundation.forms import check_bounds


@dataclass(frozen=True, kw_only=True)
class LikelihoodConfig:
    """How a text is read, and what a model may remember of what it has read.

    A cache and dynamic evaluation use the part of the text that was scored already, and nothing else.
    """

    context: int | None = field(
        default=None, metadata={"help": "tokens that a prediction may see; without it as in training", "least": 1}
    )
    stride: int | None = field(
        default=None,
        metadata={"help": "tokens scored before the window moves; without it half of that", "least": 1},
    )
    memory: int | None = field(
        default=None,
        metadata={
            "help": "tokens before the context whose states are remembered (Transformer-XL); without it as in training",
            "least": 0,
            "most": 1_000_000,
        },
    )
    cache: int = field(
        default=0,
        metadata={
            "help": "continuous cache: so many past states point at the tokens that followed them; 0 for none",
            "least": 0,
            "most": 1_000_000,
        },
    )
    cache_theta: float = field(
        default=20.0, metadata={"help": "of the cache: how much a state must be like a past one to count", "least": 0}
    )
    cache_share: float = field(
        default=0.15, metadata={"help": "of the cache: its share of the probability", "least": 0, "most": 0.999}
    )
    dynamic: float = field(
        default=0.0,
        metadata={
            "help": "dynamic evaluation: rate of the gradient step on each stretch once it is scored; 0 for none",
            "least": 0,
        },
    )
    dynamic_decay: float = field(
        default=0.01,
        metadata={
            "help": "of dynamic evaluation: how far each step goes back to the first weights",
            "least": 0,
            "most": 1,
        },
    )

    def __post_init__(self) -> None:
        check_bounds(self)

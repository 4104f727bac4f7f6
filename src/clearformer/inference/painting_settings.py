"""How pictures are painted; plain data, without a tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearformer.foundation.forms import check_bounds
from clearformer.inference.translation_settings import remembered


@dataclass(frozen=True, kw_only=True)
class PaintingConfig:
    """How pictures are painted. What is drawn depends on the seed, the class and the picture's number alone."""

    count: int = field(default=8, metadata={"help": "pictures of each class", "least": 1, "most": 10_000})
    seed: int = field(default=1, metadata={"help": "another number paints other pictures", "least": 0})
    steps: int | None = field(
        default=None,
        metadata={"help": "passes, of two looks each, from noise to picture, or in which hidden codes are filled; more "
                  "are finer (20; 12 for hidden codes)", "least": 1, "most": 1000},
    )  # fmt: skip
    guidance: float = field(
        default=1.5,
        metadata={"help": "how much the class counts: 0 not at all, 1 as learned; more is clearer, and less varied",
                  "least": 0.0, "most": 20.0},
    )  # fmt: skip
    temperature: float = field(
        default=1.0,
        metadata={"help": "0 paints what is likeliest, 1 as learned; less than 1 is cleaner, and less varied",
                  "least": 0.0, "most": 5.0},
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_bounds(self)


def usual_painting(provenance: Mapping[str, Any]) -> PaintingConfig:
    """How a model folder's own recipe paints, or our defaults where the folder does not say."""
    number = (int, float)
    return PaintingConfig(**remembered(provenance, {"steps": (int,), "guidance": number, "temperature": number}))

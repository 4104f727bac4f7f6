"""How objects are looked for in pictures; plain data, without a tensor."""

from dataclasses import dataclass, field

from clearformer.inference.reading_settings import ReadingConfig


@dataclass(frozen=True, kw_only=True)
class DetectionConfig(ReadingConfig):
    """Which boxes are given."""

    threshold: float | None = field(
        default=None,
        metadata={"help": "give boxes of at least this score (the model's own choice)", "least": 0.0, "most": 1.0},
    )
    most: int = field(default=100, metadata={"help": "the most boxes of a picture", "least": 1, "most": 10_000})
    duplicates: float | None = field(
        default=None,
        metadata={
            "help": "of two boxes of a class that share more than this part of their area, keep the surer one; "
            "1 keeps both (the model's own choice)",
            "least": 0.0,
            "most": 1.0,
        },
    )

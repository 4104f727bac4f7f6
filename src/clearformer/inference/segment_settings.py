"""How masks are read off a network: what somebody may choose in use."""

from dataclasses import dataclass, field

from clearformer.foundation.forms import check_bounds


@dataclass(frozen=True, kw_only=True)
class SegmentConfig:
    """Options of `segment`."""

    threshold: float = field(
        default=0.5,
        metadata={"help": "things: a pixel is part of one if that is more probable than this", "least": 0, "most": 1},
    )
    smallest: int = field(
        default=0,
        metadata={"help": "things of fewer pixels are left out (0: as the model's folder says)", "least": 0},
    )
    batch: int = field(
        default=8, metadata={"help": "tiles of a picture that the network reads at a time", "least": 1, "most": 256}
    )

    def __post_init__(self) -> None:
        check_bounds(self)

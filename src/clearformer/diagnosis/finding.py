"""What a diagnosis consists of."""

from dataclasses import dataclass, field

Number = float | int | str


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """One thing that is wrong. name: stable, for programs; evidence: the numbers that it rests on."""

    name: str
    says: str
    remedy: str
    evidence: dict[str, Number] = field(default_factory=dict)

"""Which models can remember the states of what they read, and how many their folder says they were trained with."""

from clearformer.folder.bundle import Bundle

# Schemes that give a token a vector for its place: a remembered state would stand at a place that is taken again.
PLACES = ("learned", "sinusoidal", "split-sinusoidal", "tensor2tensor")


def refuse_places(kind: str) -> None:
    """Refuse a memory with positions that are not distances. kind: as the model's configuration says it."""
    if kind in PLACES:
        raise ValueError(
            f"a memory needs positions that are distances, such as relative or rotary, and this model's are {kind}; "
            "take a memory of 0"
        )


def trained_memory(bundle: Bundle) -> int:
    """How many tokens before its context a model learned to remember; 0 where it did not."""
    told = bundle.provenance.get("memory")
    remembers = isinstance(told, int) and told > 0 and bundle.config.position.kind not in PLACES
    return told if remembers and isinstance(told, int) else 0

"""A model is asked for what its head cannot do: say what it can do, and with which verb."""

from clearformer.model.config import ModelConfig

# What a model with this head does, in words, and the verb that asks it to. None: no verb does yet.
_USES: dict[str, tuple[str, str | None]] = {
    "class": ("classifies texts", "classify"),
    "tags": ("tags words", "tag"),
    "span": ("answers questions", "answer"),
    "states": ("embeds texts", "embed"),
    "vector": ("makes a vector of its input", None),
    "boxes": ("finds objects in pictures", "detect"),
    "masks": ("segments pictures", "segment"),
    "pixels": ("paints pictures", None),
}
_WRITERS: dict[str, tuple[str, str | None]] = {
    "encoder": ("fills in masked words", "fill"),
    "decoder": ("continues texts", "generate"),
    "autoencoder": ("gives its input back", None),
}
_TRANSLATES = ("translates", "translate")
_CONTINUES = _WRITERS["decoder"]
# What a folder's task makes of a network that is also good for something else, by what the network alone would do.
_TRAINED: dict[tuple[tuple[str, str | None], str | None], tuple[str, str | None]] = {
    (_TRANSLATES, "summarization"): ("summarises texts", "summarize"),
    (_TRANSLATES, "denoising"): ("repairs damaged texts", "fill"),
    (_CONTINUES, "conversation"): ("converses", "chat"),
}
_SEES = ("classifies pictures", "classify")
_FINDS = _USES["boxes"]
_PAINTS = ("paints pictures", "paint")
_GIVES_BACK = ("gives pictures back from a short code", "reconstruct")
_MATCHES = ("matches pictures with texts", "classify")
_HEARS = ("transcribes recordings", "transcribe")
_ASKED = {
    **_USES,
    **{str(task): use for (_, task), use in _TRAINED.items()},
    "language-model": _CONTINUES,
    "masked-language-model": _WRITERS["encoder"],
    "translation": _TRANSLATES,
    "picture-classification": _SEES,
    "picture-matching": _MATCHES,
    "segmentation": _USES["masks"],
    "detection": _FINDS,
    "transcription": _HEARS,
    "autoencoding": _GIVES_BACK,
    "painting": _PAINTS,
}
_SHAPES = {
    "encoder-decoder": "an encoder–decoder",
    "encoder": "an encoder",
    "decoder": "a decoder",
    "lstm": "an LSTM",
    "convolution": "a convolutional network",
    "autoencoder": "an autoencoder",
    "conditioned": "a stack that is told a class",
    "pair": "a pair of networks",
}


def wrong_use(config: ModelConfig, wanted: str, task: str | None = None) -> str:
    """A sentence for a model that is not the `wanted` one: a kind of head over texts, or a task. task: its folder's."""
    does, verb = use_of(config, task)
    asked = _ASKED[wanted][0]
    advice = f"use `clearformer {verb}`" if verb else "no verb uses it yet, and `clearformer inspect` shows its parts"
    return f"this model is {_SHAPES[config.shape]} that {does}, not one that {asked}; {advice}"


def translates(config: ModelConfig) -> bool:
    """Whether a model reads one text and writes another."""
    return use_of(config) == _TRANSLATES


def use_of(config: ModelConfig, task: str | None = None) -> tuple[str, str | None]:
    """What a model does, and the verb for it, where there is one. task: what its folder says that it is for."""
    use = _use_of_network(config)
    return _TRAINED.get((use, task), use)


def _use_of_network(config: ModelConfig) -> tuple[str, str | None]:
    if config.shape in ("conditioned", "pair"):
        return _PAINTS if config.shape == "conditioned" else _MATCHES
    if config.front.kind == "patches" and config.shape == "autoencoder":
        return _GIVES_BACK
    if config.front.kind == "patches":
        if config.head.kind == "boxes" and config.shape == "encoder":
            return _FINDS
        return {"class": _SEES, "masks": _USES["masks"]}.get(config.head.kind, ("reads pictures", None))
    if config.front.kind in ("sound", "samples"):
        return _HEARS if config.head.kind == "language-model" else ("reads recordings", None)
    if config.head.kind != "language-model":
        return _USES[config.head.kind]
    return _WRITERS.get(config.shape, _TRANSLATES)

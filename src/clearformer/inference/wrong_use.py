"""A model is asked for what its head cannot do: say what it can do, and with which verb."""

from clearformer.model.config import ModelConfig

# What a model with this head does, in words, and the verb that asks it to. None: no verb does yet.
_USES: dict[str, tuple[str, str | None]] = {
    "class": ("classifies texts", "classify"),
    "tags": ("tags words", "tag"),
    "span": ("answers questions", "answer"),
    "states": ("embeds texts", "embed"),
    "boxes": ("finds objects in pictures", None),
    "masks": ("segments pictures", None),
    "pixels": ("paints pictures", None),
}
_WRITERS: dict[str, tuple[str, str | None]] = {
    "encoder": ("fills in masked words", "fill"),
    "decoder": ("continues texts", "generate"),
    "autoencoder": ("gives its input back", None),
}
_TRANSLATES = ("translates", "translate")
_SEES = ("classifies pictures", "classify")
_HEARS = ("transcribes recordings", None)
_ASKED = {
    **_USES,
    "language-model": _WRITERS["decoder"],
    "masked-language-model": _WRITERS["encoder"],
    "translation": _TRANSLATES,
    "picture-classification": _SEES,
    "transcription": _HEARS,
}
_SHAPES = {
    "encoder-decoder": "an encoder–decoder",
    "encoder": "an encoder",
    "decoder": "a decoder",
    "lstm": "an LSTM",
    "convolution": "a convolutional network",
    "autoencoder": "an autoencoder",
}


def wrong_use(config: ModelConfig, wanted: str) -> str:
    """A sentence for a model that is not the `wanted` one: a kind of head over texts, or a task."""
    does, verb = use_of(config)
    asked = _ASKED[wanted][0]
    advice = f"use `clearformer {verb}`" if verb else "no verb uses it yet, and `clearformer inspect` shows its parts"
    return f"this model is {_SHAPES[config.shape]} that {does}, not one that {asked}; {advice}"


def translates(config: ModelConfig) -> bool:
    """Whether a model reads one text and writes another."""
    return use_of(config) == _TRANSLATES


def use_of(config: ModelConfig) -> tuple[str, str | None]:
    """What a model does, and the verb for it, where there is one."""
    if config.front.kind == "patches":
        return _SEES if config.head.kind == "class" else ("reads pictures", None)
    if config.front.kind == "sound":
        return _HEARS if config.head.kind == "language-model" else ("reads recordings", None)
    if config.head.kind != "language-model":
        return _USES[config.head.kind]
    return _WRITERS.get(config.shape, _TRANSLATES)

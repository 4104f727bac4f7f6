"""What a page may ask: every field has a type and bounds, checked before anything runs."""

import warnings
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from clearformer.foundation.forms import FormField
from clearformer.studio.explained_words import why_fields
from clearformer.studio.writing_settings import WritingSettings, fields_of


def _unicode(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text has half a surrogate pair, which is not Unicode text; send UTF-8") from None
    return text


Text = Annotated[str, AfterValidator(_unicode)]
ShortText = Annotated[Text, Field(max_length=10_000)]  # a setting, such as a JSON schema
MOST_TEXTS = 100  # of a setting that is a list
Id = Annotated[int, Field(ge=0, lt=2**31)]
Place = Annotated[int, Field(ge=0, lt=2**20)]


class _Request(BaseModel):
    """Unknown fields are mistakes; numbers are numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Input(_Request):
    """What the model is given. target: ids; None lets the model write its own."""

    text: Text
    target: Annotated[list[Id], Field(max_length=4096)] | None = None


class TextRequest(_Request):
    """A text alone."""

    text: Text


class _Settings(_Request):
    """How to write. Only what a person has chosen is sent; the rest is as in the model folder's recipe."""

    def chosen(self) -> dict[str, Any]:
        """What was sent, by name."""
        return self.model_dump(exclude_unset=True)


def _schema(told: FormField) -> Any:
    """The type of a form field in a request, with its bounds."""
    kinds: dict[str, Any] = {"integer": int, "number": float, "boolean": bool}
    kind = Literal[*told["choices"]] if told["choices"] else kinds.get(told["kind"], ShortText)
    bounded: Any = Annotated[kind, Field(ge=told["least"], le=told["most"])] if kind is not ShortText else kind
    if told["many"]:
        bounded = Annotated[list[bounded], Field(max_length=MOST_TEXTS)]
    return bounded | None if told["optional"] else bounded


if TYPE_CHECKING:
    SearchSettings = _Settings
    WhySettings = _Settings
else:  # made of the same declaration that the form on the pages is built from
    _FIELDS = {told["name"]: (_schema(told), told["default"]) for told in fields_of(WritingSettings())}
    with warnings.catch_warnings():  # "schema" is also an old method of pydantic's, which nobody calls here
        warnings.filterwarnings("ignore", 'Field name "schema"', UserWarning)
        SearchSettings = create_model("SearchSettings", __base__=_Settings, **_FIELDS)
    _WHY = {told["name"]: (_schema(told), told["default"]) for told in why_fields()}
    WhySettings = create_model("WhySettings", __base__=_Settings, **_WHY)


class TranslateRequest(_Request):
    """ids: of an alternative that is to be shown in full."""

    text: Text
    settings: SearchSettings = SearchSettings()
    ids: Annotated[list[Id], Field(max_length=4096)] | None = None


class TreeRequest(_Request):
    """prefix: tokens that the search is made to begin with."""

    text: Text
    settings: SearchSettings = SearchSettings()
    prefix: Annotated[list[Id], Field(max_length=512)] = []


class WhyRequest(_Request):
    """question: for a model that answers one about the text."""

    text: Text
    question: Text = ""
    settings: WhySettings = WhySettings()


class NextRequest(_Request):
    """place: of the token whose successor is asked for; None is the last."""

    text: Text
    place: Place | None = None


class LensRequest(NextRequest):
    """token: whose probability is followed through the layers; None is the likeliest."""

    token: Id | None = None


class PartsRequest(LensRequest):
    """against: a token whose logit is taken away."""

    against: Id | None = None


class ValuesRequest(_Request):
    """names: of recorded values, such as "encoder.layers.0.ffn.hidden"."""

    input: Input
    names: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=32)]


class HeadRequest(_Request):
    """head: None is the mean of all heads."""

    input: Input
    layer: Annotated[str, Field(max_length=200)]
    head: Place | None = None


class CellRequest(_Request):
    """Which cell, and which feature of the layer's output to follow."""

    input: Input
    layer: Annotated[str, Field(max_length=200)]
    head: Place
    query: Place
    key: Place
    feature: Place = 0


class CheckpointRequest(_Request):
    """One sentence through the model of a run as it was at a checkpoint."""

    run: Place
    step: Annotated[int, Field(ge=0, lt=2**40)]
    text: Text
    target: Annotated[list[Id], Field(max_length=4096)] | None = None

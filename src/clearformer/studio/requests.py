"""What a page may ask: every field has a type and bounds, checked before anything runs."""

import warnings
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from clearformer.foundation.forms import FormField
from clearformer.inference.painter import GROUP
from clearformer.inference.painting_settings import PaintingConfig
from clearformer.studio.explained_words import why_fields
from clearformer.studio.painted_steps import MOST_STEPS
from clearformer.studio.summary import summary_fields
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
    SummarySettings = _Settings
    WhySettings = _Settings
else:  # made of the same declaration that the form on the pages is built from
    _FIELDS = {told["name"]: (_schema(told), told["default"]) for told in fields_of(WritingSettings())}
    with warnings.catch_warnings():  # "schema" is also an old method of pydantic's, which nobody calls here
        warnings.filterwarnings("ignore", 'Field name "schema"', UserWarning)
        SearchSettings = create_model("SearchSettings", __base__=_Settings, **_FIELDS)
    _SUMMARY = {told["name"]: (_schema(told), told["default"]) for told in summary_fields()}
    SummarySettings = create_model("SummarySettings", __base__=_Settings, **_SUMMARY)
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


class SummaryRequest(_Request):
    """A text, and what a person has chosen of its summary."""

    text: Text
    settings: SummarySettings = SummarySettings()


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


class TemperatureRequest(HeadRequest):
    """temperature: what the head's scores are divided by."""

    temperature: Annotated[float, Field(ge=0.05, le=20)] = 1.0


class CellRequest(_Request):
    """Which cell, and which feature of the layer's output to follow."""

    input: Input
    layer: Annotated[str, Field(max_length=200)]
    head: Place
    query: Place
    key: Place
    feature: Place = 0


FileName = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]  # the fingerprint of a file that was sent before


class TokenRequest(_Request):
    """picture: as `/api/picture` called it; place: of the token; feature: of the token, whose sum is shown."""

    picture: FileName
    place: Place
    feature: Place = 0


class PictureAttentionRequest(_Request):
    """layer: counted from 0; query: the token that looks."""

    picture: FileName
    layer: Place
    query: Place


class BoxesRequest(_Request):
    """duplicates: the part of their area that two boxes of a class may share. None is the model's own choice."""

    picture: FileName
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    duplicates: Annotated[float, Field(ge=0, le=1)] | None = None


class PieceRequest(_Request):
    """sound: as `/api/sound` called it; piece: counted from 0."""

    sound: FileName
    piece: Place


class SoundAttentionRequest(PieceRequest):
    """layer: of those that look at the recording; head: None is the mean of all; token: of the piece's text."""

    layer: Place
    head: Place | None = None
    token: Place


class PaintRequest(_Request):
    """What is painted. What is not sent is as in the model folder's recipe."""

    label: ShortText
    count: Annotated[int, Field(ge=1, le=GROUP)] = 4
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] | None = None
    guidance: Annotated[float, Field(ge=0, le=20)]
    temperature: Annotated[float, Field(ge=0, le=5)]

    def config(self) -> PaintingConfig:
        """The same as options of the painter."""
        return PaintingConfig(**self.model_dump(exclude={"label"}))


CodeNumber = Annotated[float, Field(ge=-1e6, le=1e6)]


class CodesRequest(_Request):
    """Codes that are to be drawn, one picture each."""

    codes: Annotated[list[Annotated[list[CodeNumber], Field(max_length=4096)]], Field(min_length=1, max_length=16)]


class MaskRequest(_Request):
    """masks: as `/api/masks` called the picture."""

    masks: FileName
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    smallest: Annotated[int, Field(ge=0, le=10**6)] = 0


class MaskPartRequest(_Request):
    """number: of a channel, or of a tile."""

    masks: FileName
    number: Place


class CheckpointRequest(_Request):
    """One sentence through the model of a run as it was at a checkpoint."""

    run: Place
    step: Annotated[int, Field(ge=0, lt=2**40)]
    text: Text
    target: Annotated[list[Id], Field(max_length=4096)] | None = None

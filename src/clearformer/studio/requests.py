"""What a page may ask, checked at the door: every field has a type and bounds."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from clearformer.studio.writing import Choices


def _unicode(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text has half a surrogate pair, which is not Unicode text; send UTF-8") from None
    return text


Text = Annotated[str, AfterValidator(_unicode)]
Id = Annotated[int, Field(ge=0, lt=2**31)]
Place = Annotated[int, Field(ge=0, lt=2**20)]


class _Request(BaseModel):
    """Unknown fields are mistakes; numbers are numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Input(_Request):
    """What the model is given. target: ids; None lets the model write its own."""

    text: Text
    target: Annotated[list[Id], Field(max_length=4096)] | None = None


class SearchSettings(_Request):
    """How to write."""

    method: Literal["beam", "greedy", "sampling"] = "beam"
    beam: Annotated[int, Field(ge=1, le=16)] = 4
    penalty: Literal["average", "gnmt"] = "average"
    alpha: Annotated[float, Field(ge=-2, le=5)] = 1.0
    stop: Literal["full", "proved"] = "full"
    temperature: Annotated[float, Field(ge=0.01, le=10)] = 1.0
    top_k: Annotated[int, Field(ge=0, le=1000)] = 0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    max_new: Annotated[int, Field(ge=1, le=200)] = 40

    def choices(self) -> Choices:
        return Choices(**self.model_dump())


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


class ValuesRequest(_Request):
    """names: of recorded values, such as "encoder.layers.0.ffn.hidden"."""

    input: Input
    names: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=32)]


class HeadRequest(_Request):
    """head: None is the mean of all heads."""

    input: Input
    site: Annotated[str, Field(max_length=200)]
    head: Place | None = None


class CellRequest(_Request):
    """Which cell, and which feature of the layer's output to follow."""

    input: Input
    site: Annotated[str, Field(max_length=200)]
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

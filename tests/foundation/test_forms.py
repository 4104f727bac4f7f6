"""One declaration, many ways of asking."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from clearformer.foundation.forms import check_bounds, describe_fields
from clearformer.inference.translation_settings import DecodingConfig


@dataclass(frozen=True, kw_only=True)
class Order:
    """One option of every kind."""

    name: str
    size: int = field(default=4, metadata={"help": "how large", "least": 1, "most": 9})
    share: float = field(default=0.5, metadata={"least": 0})
    hot: bool = False
    cup: Literal["small", "large"] = "small"
    sugar: int | None = None
    words: tuple[str, ...] = ()
    weights: list[float] = field(default_factory=list, metadata={"most": 1.0})
    out: Path = Path("here")
    secret: int = field(default=3, init=False)

    def __post_init__(self) -> None:
        check_bounds(self, "order")


def by_name(options: type) -> dict[str, Any]:
    return {told["name"]: told for told in describe_fields(options)}


def test_every_field_is_described_in_the_order_of_its_declaration():
    told = describe_fields(Order)
    assert [one["name"] for one in told] == [
        "name", "size", "share", "hot", "cup", "sugar", "words", "weights", "out"
    ]  # fmt: skip
    assert [one["kind"] for one in told] == [
        "text", "integer", "number", "boolean", "choice", "integer", "text", "number", "path"
    ]  # fmt: skip


def test_what_a_field_says_of_itself():
    told = by_name(Order)
    assert told["size"] == {
        "name": "size", "kind": "integer", "many": False, "required": False, "optional": False, "default": 4,
        "choices": None, "least": 1, "most": 9, "help": "how large",
    }  # fmt: skip
    assert told["name"]["required"]
    assert told["name"]["default"] is None
    assert told["cup"]["choices"] == ["small", "large"]
    assert told["sugar"]["optional"]
    assert not told["size"]["optional"]
    assert [name for name, one in told.items() if one["many"]] == ["words", "weights"]
    assert told["weights"]["default"] == []


def test_some_of_the_fields_in_an_order_of_one_s_own():
    assert [one["name"] for one in describe_fields(Order, only=["hot", "size"])] == ["hot", "size"]
    with pytest.raises(ValueError, match=r"Order has no field 'cold'; known are name, size"):
        describe_fields(Order, only=["cold"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 0}, "order.size must be at least 1, not 0"),
        ({"size": 10}, "order.size must be at most 9, not 10"),
        ({"share": math.nan}, "order.share must be a number, not nan"),
        ({"share": math.inf}, "order.share must be a number, not inf"),
        ({"cup": "bucket"}, "order.cup is 'bucket'; choose small or large"),
        ({"weights": [0.5, 2.0]}, "order.weights must be at most 1.0, not 2.0"),
    ],
)
def test_a_value_outside_its_bounds_is_refused(wrong, message):
    with pytest.raises(ValueError, match="^" + message.replace(".", r"\.") + "$"):
        Order(name="tea", **wrong)


def test_bounds_belong_to_what_is_allowed():
    assert Order(name="tea", size=9, share=0.0, sugar=None, weights=[1.0]).size == 9


def test_a_field_that_no_form_can_ask_for_is_a_mistake_of_the_programmer():
    @dataclass
    class Strange:
        table: dict[str, int] = field(default_factory=dict)

    with pytest.raises(TypeError, match=r"Strange\.table is of type dict\[str, int\], which no form can ask for"):
        describe_fields(Strange)


def test_a_misspelt_bound_is_a_mistake_of_the_programmer():
    @dataclass
    class Strange:
        size: int = field(default=1, metadata={"lest": 1})

    with pytest.raises(TypeError, match=r"Strange\.size has metadata 'lest'; known are help, least, most"):
        describe_fields(Strange)


def test_how_a_translation_is_searched_for_is_fully_described():
    """Each option has a sentence, and a default that its own bounds allow; all of it is plain data."""
    for told in describe_fields(DecodingConfig):
        assert told["help"], told["name"]
        assert not told["required"]
        assert json.loads(json.dumps(told)) == told
    check_bounds(DecodingConfig())

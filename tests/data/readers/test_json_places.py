"""Where the objects of a JSON file begin: equal to a parser that walks the text letter by letter."""

import json

from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.readers.json_places import JsonPlaces

VALUES = st.recursive(
    st.text(max_size=5) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["qas", "q", '"qas":[{']), inner),
    max_leaves=12,
)


def begins(text: str, key: str) -> list[int]:
    """The plain way: the library's decoder at every place, with what it was called."""
    found: list[int] = []

    def walk(at: int, name: str | None, parent: str | None) -> int:
        while text[at] in " \n,:":
            at += 1
        if text[at] not in "{[":
            return json.JSONDecoder(strict=False).raw_decode(text, at)[1]
        closing = "}" if text[at] == "{" else "]"
        if text[at] == "{" and parent == key:
            found.append(at)
        listed = name if text[at] == "[" else None
        at += 1
        while True:
            while text[at] in " \n,:":
                at += 1
            if text[at] == closing:
                return at + 1
            inner = None
            if closing == "}":
                inner, at = json.JSONDecoder().raw_decode(text, at)
            at = walk(at, inner, listed)

    walk(0, None, None)
    return found


@given(VALUES, st.sampled_from([None, 1]))
def test_every_object_of_the_lists_is_found_where_it_begins(value, indent):
    text = json.dumps({"qas": [value, {}], "x": value}, indent=indent)
    places = JsonPlaces(text, "qas")
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1 for place in places]
    assert starts == begins(text, "qas")


def test_a_file_in_one_line_tells_columns():
    text = '{"qas": [{"a": 1}, {"b": "\\n"}]}'
    assert [JsonPlaces(text, "qas").said(number) for number in range(2)] == [":1:10", ":1:20"]
    assert JsonPlaces(text.replace(", ", ",\n"), "qas").said(1) == ":2"

"""Filters and tests beside Jinja's own."""

import pytest

from clearformer.text.templates.budget import TemplateError
from clearformer.text.templates.evaluator import evaluate
from clearformer.text.templates.filters import FILTERS, TESTS
from clearformer.text.templates.parser import parse
from text.templates.constructions import reference

VALUES = {
    "text": " two Dogs-in (snow) ", "empty": "", "digits": "12", "half": "2.5", "list": ["b", "a"], "none": None,
    "table": {"k": [1, "ü"]}, "number": 3, "whole": 4.0, "yes": True,
    "rows": [{"r": "x"}, {"r": ""}, {"r": "z", "q": 1}],
}  # fmt: skip
WITH = {
    "replace": "('o', 'oo')", "join": "(', ')", "map": "('string')", "selectattr": "('r')",
    "rejectattr": "('q', 'defined')",
    "default": "('d', true)", "divisibleby": "(2)", "eq": "(3)", "equalto": "('12')", "ne": "(none)",
}  # fmt: skip


LAZY = ("map", "selectattr", "rejectattr", "reverse", "items")


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_gives_what_jinja_s_gives(name):
    _compare(
        "{{ value | " + name + WITH.get(name, "") + " }}",
        name in LAZY,
    )


@pytest.mark.parametrize("name", TESTS)
def test_a_test_says_what_jinja_s_says(name):
    _compare("{{ value is " + name + WITH.get(name, "") + " }}")


def _compare(source, lazy=False):
    """Jinja's lazy filters are made a list of, as every template does."""
    source = source.replace(" }}", " | list }}") if lazy else source
    theirs, statements, agreed = reference().from_string(source), parse(source), 0
    for value in VALUES.values():
        try:
            ours = evaluate(statements, {"value": value})
        except TemplateError:
            continue  # refused, never different
        assert ours == theirs.render(value=value)
        agreed += 1
    assert agreed


@pytest.mark.parametrize(
    "source",
    [
        "{{ {'b': 'ü', 'a': 1} | tojson(indent=2) }}",
        "{{ {'b': 'ü', 'a': 1} | tojson(sort_keys=true, ensure_ascii=true) }}",
        "{{ [{'a': 1}, {}] | map(attribute='a', default=5) | list }}",
        "{{ [{'a': 1}, {}] | selectattr('a', 'defined') | list | length }}",
        "{{ [{'a': 1}, {'a': 2}] | join('/', attribute='a') }}",
        "{{ ' x '|trim('x ')|default('y', true) }}{{ 'a'|int(7) }}{{ '1.9'|int }}{{ 'a'|float }}",
    ],
)
def test_arguments_mean_what_they_mean_in_jinja(source):
    assert evaluate(parse(source), {}) == reference().from_string(source).render()

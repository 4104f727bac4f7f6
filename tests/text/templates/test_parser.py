"""Which operator holds tighter, and what is refused before anything is evaluated."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.text.templates.budget import TemplateError
from clearformer.text.templates.evaluator import evaluate
from clearformer.text.templates.parser import parse
from clearformer.text.templates.syntax import Constant, Operation, Variable, Written
from text.templates.constructions import reference

REFERENCE = reference()
small = st.sampled_from(["1", "2", "0", "7", "-3", "true", "none", "'ab'", "''", "x", "[1, 2]", "missing"])
ways = [
    "{} + {}", "{} - {}", "{} * {}", "{} // {}", "{} % {}", "{} ~ {}", "{} == {}", "{} != {}", "{} < {}", "{} >= {}",
    "{} in {}", "{} not in {}", "{} and {}", "{} or {}", "{} if {}", "({}, {})", "{} is eq {}", "{}|default({}, true)",
]  # fmt: skip
expressions = st.recursive(
    small,
    lambda inner: st.one_of(
        st.builds(lambda way, a, b: way.format(a, b), st.sampled_from(ways), inner, inner),
        st.builds(
            lambda way, a: way.format(a), st.sampled_from(["not {}", "({})", "-{}", "{}|string", "{}[0]"]), inner
        ),
        st.builds("{} if {} else {}".format, inner, inner, inner),
        st.builds("{} is {}".format, inner, st.sampled_from(["defined", "none", "not string", "number", "sequence"])),
    ),
    max_leaves=5,
)


@given(expression=expressions)
@settings(max_examples=120, deadline=None)
def test_an_expression_has_the_value_that_jinja_gives_it(expression):
    """Equal, or refused: what Jinja finds no value for has none here either, and only a refusal may differ."""
    source = "{{ " + expression + " }}"
    try:
        ours = evaluate(parse(source), {"x": 5})
    except TemplateError:
        return
    assert ours == REFERENCE.from_string(source).render(x=5)


def test_a_sum_holds_tighter_than_a_comparison_and_looser_than_a_product():
    [shown] = parse("{{ a + b * 2 }}")
    product = Operation("*", Variable("b"), Constant(2))
    assert shown == Written(1, Operation("+", Variable("a"), product))


@pytest.mark.parametrize(
    "source",
    [
        "{% raw %}{% endraw %}", "{% if %}{% endif %}", "{% for in x %}{% endfor %}", "{{ a b }}", "{{ a..b }}",
        "{{ f(1)(2) }}", "{{ a[1, 2] }}", "{{ a[] }}", "{{ a[1:2:3:4] }}", "{{ dict(a=1) }}", "{{ range(a=1, 2) }}",
        "{% set a %}", "{% set a, b = 1, 2 %}", "{% endif %}", "{{ {1} }}", "{{ [1 2] }}", "{{ a is }}", "{{ a | }}",
        "{% for a in b recursive %}{% endfor %}", "{% if a %}{% else %}{% else %}{% endif %}",
    ],
)  # fmt: skip
def test_what_is_not_of_the_supported_part_is_refused_at_once(source):
    with pytest.raises(TemplateError, match="line 1"):
        parse(source)

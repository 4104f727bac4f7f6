"""Names and scopes: what a loop sets is gone after it, what a namespace holds is not."""

import pytest

from clearformer.text.templates.budget import TemplateError
from clearformer.text.templates.evaluator import evaluate
from clearformer.text.templates.parser import parse
from text.templates.constructions import reference


@pytest.mark.parametrize(
    "source",
    [
        "{% set a = 1 %}{% for i in [1, 2] %}{{ a }}{% set a = 5 %}{{ a }}{% endfor %}{{ a }}{{ i }}",
        "{% set n = namespace(a=1) %}{% for i in [1, 2] %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}{{ n.b }}",
        "{% if 1 %}{% set a = 2 %}{% endif %}{{ a }}",
        "{% for i in [1, 2] %}{% for j in 'ab' %}{{ loop.index0 }}{{ j }}{% endfor %}{{ loop.last }}{% endfor %}",
        "{% for i in [3, 4, 5] if i != 4 %}{{ loop.index }}{{ loop.previtem }}{{ loop.revindex0 }}{% endfor %}",
        "{% for i in missing %}{% else %}none{% endfor %}{{ missing }}{{ missing is undefined }}{{ missing == gone }}",
        "{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
        "{% for i in [1, 2] %}{% continue %}{% else %}no turn reached its end{% endfor %}",
        "{% set a %}<{% for i in [1] %}{{ i }}{% endfor %}>{% endset %}{{ a ~ a }}",
        "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}",
        "{{ {'items': 5}['items'] }}{{ [1, 2][-1] }}{{ [1][5] is defined }}{{ 'abc'[::-1] }}{{ (1, 2) + (3,) }}",
        "{{ true + 1 }}{{ 7 / 2 }}{{ 1 < 2 < 3 }}{{ 'a' * 3 }}{{ 'b' > 'a' }}{{ 3 > 2 > 2 }}",
    ],
)
def test_a_template_writes_what_jinja_writes(source):
    assert evaluate(parse(source), {}) == reference().from_string(source).render()


def test_what_marks_an_answer_changes_no_text():
    assert evaluate(parse("a{% generation %}b{% endgeneration %}c"), {}) == "abc"


def test_messages_are_not_changed_by_a_template():
    given = {"messages": [{"role": "user"}]}
    with pytest.raises(TemplateError, match="no namespace"):
        evaluate(parse("{% set messages.role = 1 %}"), given)
    evaluate(parse("{% set messages = [] %}{{ messages }}"), given)
    assert given == {"messages": [{"role": "user"}]}


def test_an_error_says_the_line():
    with pytest.raises(TemplateError, match="line 3: it says: no"):
        evaluate(parse("a\nb\n{{ raise_exception('no') }}"), {})

"""Where white space goes, and where a tag ends: as in Jinja, on random mixtures of tags, blanks and line ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.text.templates.budget import TemplateError
from clearformer.text.templates.evaluator import evaluate
from clearformer.text.templates.lexer import read_tokens
from clearformer.text.templates.parser import parse
from text.templates.constructions import reference

OPENS, CLOSES = ("{%", "{%-", "{%+"), ("%}", "-%}", "+%}")
block = st.builds("{} if 1 {}x{} endif {}".format, *map(st.sampled_from, (OPENS, CLOSES, OPENS, CLOSES)))
shown = st.builds("{}'}}}}'{}".format, st.sampled_from(["{{", "{{-"]), st.sampled_from(["}}", "-}}"]))
remark = st.builds("{} %}} {}".format, st.sampled_from(["{#", "{#-", "{#+"]), st.sampled_from(["#}", "-#}"]))
blank = st.text(" \t\n\r.", max_size=4)
REFERENCE = reference()


@given(parts=st.lists(st.one_of(block, shown, remark, blank), max_size=8))
@settings(max_examples=80, deadline=None)
def test_white_space_is_dropped_where_jinja_drops_it(parts):
    source = "".join(parts)
    assert evaluate(parse(source), {}) == REFERENCE.from_string(source).render()


def test_a_token_knows_its_line_and_a_string_what_it_means():
    tokens = read_tokens("a\n{{ 'x\\n' ~\n 1.5 }}")
    assert [(token.kind, token.text, token.line) for token in tokens] == [
        ("text", "a\n", 1),
        ("open", "{{", 2),
        ("string", "x\n", 2),
        ("sign", "~", 2),
        ("number", "1.5", 3),
        ("close", "{{", 3),
        ("end", "the end of the template", 3),
    ]


def test_two_braces_may_close_two_dictionaries():
    assert evaluate(parse("{{ {'a': {'b': 1}}['a']['b'] }}"), {}) == "1"


@pytest.mark.parametrize("source", ["{{ 'a", "{{ a", "{# a", "{{ ? }}", r"{{ '\N{DASH}' }}", r"{{ '\U99999999' }}"])
def test_what_is_no_token_is_refused(source):
    with pytest.raises(TemplateError, match="line 1"):
        read_tokens(source)

"""Chat templates: the same text as the Jinja library writes, and nothing but text, whatever a template tries."""

import random

import pytest

from clearformer.text.chat_template import LONGEST, ChatTemplate
from clearformer.text.special import SpecialTokens
from text.templates.constructions import CONSTRUCTIONS, reference

SPECIAL = SpecialTokens(bos="<s>", eos="</s>", unk="<unk>")
GIVEN = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "tools": None, "documents": None}


def talk(generator, turns):
    """A conversation of random words, with and without a system message."""
    words = ["snow", " two dogs ", "雪が降る", "a\nb", "{{ 1 }}", "<think>x</think>y", "", "'\"\\", "🙂"]
    said = lambda: " ".join(generator.choices(words, k=generator.randint(0, 4)))  # noqa: E731
    found = [{"role": "system", "content": said()}] if generator.random() < 0.5 else []
    for _ in range(turns):
        found += [{"role": "user", "content": said()}, {"role": "assistant", "content": said()}]
    return found[: len(found) - generator.randint(0, 1)] or [{"role": "user", "content": said()}]


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_a_conversation_becomes_the_text_that_jinja_writes(name):
    """Templates of the constructions that well-known models use, over random conversations."""
    generator = random.Random(name)
    template, theirs = ChatTemplate(CONSTRUCTIONS[name], SPECIAL), reference().from_string(CONSTRUCTIONS[name])
    agreed = 0
    for turns in [0, 1, 2, 5] * 8:
        messages, answer = talk(generator, turns), generator.random() < 0.5
        try:
            expected = theirs.render(messages=messages, add_generation_prompt=answer, **GIVEN)
        except Exception:  # what the library refuses is refused here, too
            with pytest.raises(ValueError, match="chat template"):
                template.render(messages, answer=answer)
            continue
        assert template.render(messages, answer=answer) == expected
        agreed += 1
    assert agreed > 8


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''['__class__'] }}",
        "{{ messages.__class__ }}",
        "{{ messages[0].__init__ }}",
        "{{ messages|map(attribute='__class__')|list }}",
        "{{ messages|selectattr('__class__')|list }}",
        "{{ namespace().__dict__ }}",
        "{{ loop.__class__ }}{% for m in messages %}{{ loop.__class__ }}{% endfor %}",
        "{{ range.__call__ }}",
        "{{ messages[0]['content'].format }}",
        "{{ '{0.__class__}'.format('') }}",
        "{{ '%s' % '' }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ lipsum() }}",
        "{{ self._TemplateReference__context }}",
        "{{ messages[0].pop('role') }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% set messages[0].role = 'x' %}",
        "{{ namespace }}",
        "{{ raise_exception }}",
    ],
)
def test_nothing_but_data_is_reached(source):
    with pytest.raises(ValueError, match="the model's chat template") as refusal:
        ChatTemplate(source, SPECIAL).render([{"role": "user", "content": "x"}], answer=True)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "steps"),
        ("{% for a in range(10**9) %}{% endfor %}", r"\*\*"),
        ("{% for a in range(100000000) %}{% endfor %}", "100,000 items"),
        ("{{ 'a' * 999999999999 }}", "characters"),
        ("{% set n = namespace(x='aa') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}", "characters"),
        ("{% set n = namespace(x='aa') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}", "characters"),
        ("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}", "steps|deep"),
        ("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}", "steps|char"),
        ("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}", "deep"),
        ("{% set n = namespace(x=9) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}", "number"),
        ("{% for i in range(99999) %}{{ 'a' * 999 }}{% endfor %}", "characters|steps"),
        ("{{ ('a' * 1000000).replace('', 'b' * 1000000) }}", "characters"),
        ("{{ (('a ' * 50000).split())|join('b' * 1000) }}", "characters"),
        ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "deep"),
        ("{{ " + "-" * 500 + "1 }}", "deep"),
        ("{% if 1 %}" * 500 + "{% endif %}" * 500, "deep"),
        ("{{ " + "1 + " * 5000 + "1 }}", "deep"),
        ("{{ " + "not " * 5000 + "1 }}", "deep"),
        ("{{ 1 / 0 }}", "zero"),
        ("{{ 5 % 0 }}", "zero"),
        ("{{ 99999999999999999999 }}", "too long"),
    ],
)
def test_what_would_never_end_is_refused(source, why):
    with pytest.raises(ValueError, match=why):
        ChatTemplate(source, SPECIAL).render([{"role": "user", "content": "x"}], answer=True)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("a\nb\n{% macro f() %}{% endmacro %}", "line 3: the tag 'macro'"),
        ("{{ messages | shuffle }}", "the filter 'shuffle'"),
        ("{{ 1 is prime }}", "the test 'prime'"),
        ("{{ ''.encode('x') }}", "the method 'encode'"),
        ("{{ open('x') }}", "the function 'open'"),
        ("{% for m in messages %}{{ loop.cycle }}{% endfor %}", "loop.cycle"),
        ("{% break %}", "'break'"),
        ("{% for m in messages %}", "endfor is missing"),
        ("{% if 1 %}{% endfor %}", "endfor"),
        ("{{ 'a }}", "inside a tag"),
        ("{# never", "comment"),
        ("{{ x = 1 }}", "'='"),
        ("{{ undefined_thing.role }}", "'role' is asked of something that is not defined"),
        ("{{ 'a' + 1 }}", "'\\+' does not join a text and a number"),
        ("{{ raise_exception('Only user and assistant roles are supported!') }}", "it says: Only user"),
    ],
)
def test_what_is_not_understood_is_named_in_one_sentence(source, named):
    with pytest.raises(ValueError, match=named):
        ChatTemplate(source, SPECIAL).render([{"role": "user", "content": "x"}], answer=True)


def test_a_template_that_is_a_book_is_refused():
    with pytest.raises(ValueError, match=f"more than {LONGEST:,}"):
        ChatTemplate("a" * (LONGEST + 1), SPECIAL)


def test_messages_are_plain_data_or_refused():
    template = ChatTemplate("{{ messages[0].content }}", SPECIAL)
    with pytest.raises(ValueError, match="a object is no text"):
        template.render([{"role": "user", "content": object()}], answer=True)

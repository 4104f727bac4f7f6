"""Methods and functions: Python's own answers, out of closed tables."""

import pytest

from clearformer.text.templates.budget import Budget, TemplateError
from clearformer.text.templates.methods import call_function, call_method, known_function, replaced
from clearformer.text.templates.values import UNDEFINED, Namespace


@pytest.mark.parametrize(
    ("of", "name", "arguments"),
    [
        (" ab ", "strip", ()), ("xabx", "lstrip", ("x",)), ("a,b", "split", (",",)), ("a b c", "rsplit", (None, 1)),
        ("ab", "startswith", (("a", "b"),)), ("aba", "replace", ("a", "c")), ("aaa", "replace", ("a", "b", 2)),
        ("-", "join", (["a", "b"],)), ("ab", "find", ("b",)), ("ab", "removeprefix", ("a",)),
        ("a\nb", "splitlines", ()),
        ({"a": 1}, "get", ("a",)), ({"a": 1}, "get", ("b", 2)),
    ],
)  # fmt: skip
def test_a_method_answers_as_python_does(of, name, arguments):
    assert call_method(of, name, arguments, {}, Budget()) == getattr(of, name)(*arguments)


def test_what_a_replacement_makes_is_measured_before():
    for text, old, new, count in (
        ("aaaa", "aa", "b", -1),
        ("abc", "", "-", -1),
        ("aaa", "a", "bb", 2),
        ("a", "b", "c", -1),
    ):
        assert replaced(text, old, new, count, budget=Budget()) == text.replace(old, new, count)
    with pytest.raises(TemplateError, match="characters"):
        replaced("a" * 10_000, "a", "b" * 10_000, budget=Budget())


def test_methods_of_other_values_are_refused_by_name():
    for of, name in (([1], "items"), (5, "strip"), ("a", "get"), (Namespace(), "items")):
        with pytest.raises(TemplateError, match=name):
            call_method(of, name, (), {}, Budget())


def test_functions_take_what_they_know():
    assert call_function("range", (1, 7, 2), {}, Budget()) == [1, 3, 5]
    assert call_function("namespace", (), {"a": 1}, Budget()) == Namespace({"a": 1})
    assert call_function("strftime_now", ("%Y",), {}, Budget()).isdigit()
    with pytest.raises(TemplateError, match="range cannot be called"):
        call_function("range", ("a",), {}, Budget())
    assert known_function("range") != UNDEFINED
    assert known_function("open") is UNDEFINED

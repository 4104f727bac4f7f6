"""A dot and a bracket find data, or nothing; never something of Python."""

import pytest

from clearformer.text.templates.budget import Budget, TemplateError
from clearformer.text.templates.values import UNDEFINED, LoopPlace, Namespace, look_up, plain, shown


@pytest.mark.parametrize("value", ["text", [1], (1,), {"a": 1}, 5, None, Namespace({"a": 1}), LoopPlace([1], 0)])
def test_no_name_of_python_is_reached_from_any_value(value):
    for name in {*dir(value), *dir(type(value))}:
        for by_name in (True, False):
            try:
                found = look_up(value, name, by_name=by_name)
            except TemplateError:
                continue
            assert found is UNDEFINED or type(found) in (int, bool)


def test_a_key_may_be_called_like_a_method():
    assert look_up({"items": 5}, "items", by_name=False) == 5
    with pytest.raises(TemplateError, match="items"):  # Jinja would take the method
        look_up({"items": 5}, "items", by_name=True)


def test_only_plain_data_gets_in():
    class Message(dict):
        pass

    assert plain({"a": [1, (2.5, None)]}) == {"a": [1, [2.5, None]]}
    assert type(plain(Message(a="b"))) is dict
    for wrong in (object(), {1: 2}, b"bytes", {1, 2}):
        with pytest.raises(TemplateError):
            plain(wrong)


def test_what_only_a_template_has_is_not_shown():
    assert shown(UNDEFINED, Budget()) == ""
    assert shown([UNDEFINED, "a", 1.0], Budget()) == "[Undefined, 'a', 1.0]"
    for value in (Namespace(), LoopPlace([], 0)):
        with pytest.raises(TemplateError, match="cannot be shown"):
            shown(value, Budget())

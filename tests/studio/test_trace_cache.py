"""Recorded values, kept while there is room."""

import pytest
import torch

from clearformer.model.trace import trace
from clearformer.serving.admission import Turns
from clearformer.studio.trace_cache import TraceCache


def test_values_are_those_of_a_traced_pass(handlers):
    look = handlers.shown_model.look("two dogs", ())
    with trace(handlers.shown_model.model) as expected:
        handlers.shown_model.run(look)
    found = handlers.traces.values(look, ["*"])
    assert found.keys() == set(expected)
    assert all(torch.equal(found[name], expected[name][0]) for name in found)


def test_a_second_question_is_answered_from_memory(all_handlers):
    seen = TraceCache(all_handlers["transformer"].shown_model, Turns())
    look = all_handlers["transformer"].shown_model.look("two dogs", ())
    assert seen.values(look, ["encoder.output"]) is seen.values(look, ["encoder.output"])


def test_old_values_make_room(all_handlers):
    shown_model = all_handlers["transformer"].shown_model
    seen = TraceCache(shown_model, Turns(), room=1)
    looks = [shown_model.look(text, ()) for text in ("two dogs", "a man")]
    first = seen.values(looks[0], ["encoder.output"])
    seen.values(looks[1], ["encoder.output"])
    assert seen.values(looks[0], ["encoder.output"]) is not first


def test_an_unknown_name_is_said(all_handlers):
    handlers = all_handlers["bert"]
    with pytest.raises(ValueError, match=r"no value named 'decoder\.output'"):
        handlers.traces.value(handlers.shown_model.look("two dogs", ()), "decoder.output")

"""Recorded values, kept while there is room."""

import pytest
import torch

from clearformer.model.trace import trace
from clearformer.serving.admission import Turns
from clearformer.studio.trace_cache import TraceCache


def test_values_are_those_of_a_traced_pass(desk):
    look = desk.subject.look("two dogs", ())
    with trace(desk.subject.model) as expected:
        desk.subject.run(look)
    found = desk.seen.values(look, ["*"])
    assert found.keys() == set(expected)
    assert all(torch.equal(found[name], expected[name][0]) for name in found)


def test_a_second_question_is_answered_from_memory(desks):
    seen = TraceCache(desks["transformer"].subject, Turns())
    look = desks["transformer"].subject.look("two dogs", ())
    assert seen.values(look, ["encoder.output"]) is seen.values(look, ["encoder.output"])


def test_old_values_make_room(desks):
    subject = desks["transformer"].subject
    seen = TraceCache(subject, Turns(), room=1)
    looks = [subject.look(text, ()) for text in ("two dogs", "a man")]
    first = seen.values(looks[0], ["encoder.output"])
    seen.values(looks[1], ["encoder.output"])
    assert seen.values(looks[0], ["encoder.output"]) is not first


def test_an_unknown_name_is_said(desks):
    desk = desks["bert"]
    with pytest.raises(ValueError, match=r"no value named 'decoder\.output'"):
        desk.seen.value(desk.subject.look("two dogs", ()), "decoder.output")

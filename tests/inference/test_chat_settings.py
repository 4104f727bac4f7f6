"""The options of a conversation are those of continuing a text, with more room for an answer."""

from dataclasses import fields

import pytest

from clearformer.inference.chat_settings import OPTIONS, ChatConfig
from clearformer.inference.generation_settings import GenerationConfig


def test_an_answer_has_room_and_the_bounds_hold():
    assert ChatConfig().max_new > GenerationConfig().max_new
    with pytest.raises(ValueError, match="max_new"):
        ChatConfig(max_new=0)
    with pytest.raises(ValueError, match="temperature above 0"):
        ChatConfig(top_k=5)


def test_every_option_is_a_field():
    assert set(OPTIONS) <= {field.name for field in fields(ChatConfig)}


def test_what_a_conversation_would_pass_over_is_refused(monkeypatch):
    monkeypatch.setattr("clearformer.inference.chat_settings.OPTIONS", ("max_new", "temperature"))
    ChatConfig(max_new=5, temperature=1.0)
    with pytest.raises(ValueError, match="seed is not known in a conversation"):
        ChatConfig(seed=5)

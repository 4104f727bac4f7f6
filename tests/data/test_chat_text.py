"""Which tokens are the answers: worked out by hand, and the same for every way of writing turns."""

import numpy as np
import pytest

from clearformer.data.chat_text import ChatText, template_of
from clearformer.data.readers.turns import Message
from support.toy_chat import TEMPLATE, chat_tokenizer

TALK = [
    Message(role="system", content="s"),
    Message(role="user", content="ab"),
    Message(role="assistant", content="cd"),
    Message(role="user", content="e"),
    Message(role="assistant", content="雪"),
]


@pytest.fixture(scope="module")
def text():
    return ChatText(chat_tokenizer(), TEMPLATE)


def pieces(text, ids):
    return [text.tokenizer.piece(int(number)) for number in ids]


def test_an_answer_and_its_end_are_learned_and_nothing_else(text):
    ids, learned = text.learned(TALK[1:4])
    newline = text.tokenizer.piece(text.tokenizer.encode("\n").ids[0])
    expected = [("<|im_start|>", 0), *((letter, 0) for letter in "user"), (newline, 0), ("a", 0), ("b", 0)]
    expected += [("<|im_end|>", 0), (newline, 0), ("<|im_start|>", 0), *((letter, 0) for letter in "assistant")]
    expected += [(newline, 0), ("c", 1), ("d", 1), ("<|im_end|>", 1), (newline, 0)]
    expected += [("<|im_start|>", 0), *((letter, 0) for letter in "user"), (newline, 0), ("e", 0)]
    expected += [("<|im_end|>", 0), (newline, 0)]
    assert list(zip(pieces(text, ids), learned.astype(int).tolist(), strict=True)) == expected


def test_every_answer_is_learned_after_the_prompt_that_asks_for_it(text):
    """The tokens before an answer are those that the model is given when it is asked."""
    ids, learned = text.learned(TALK)
    begins = np.flatnonzero(learned & ~np.r_[False, learned[:-1]])
    assert len(begins) == 2
    for begin, place in zip(begins, (2, 4), strict=True):
        assert ids[:begin].tolist() == text.encode(TALK[:place])
    assert text.tokenizer.decode(ids[learned]) == "cd雪"


def test_an_answer_that_was_stopped_is_no_example(text):
    stopped = [*TALK[:2], Message(role="assistant", content="cd", stopped=True), *TALK[3:]]
    ids, learned = text.learned(stopped)
    assert text.tokenizer.decode(ids[learned]) == "雪"


def test_without_an_end_in_the_template_the_whole_tail_is_learned():
    plain = ChatText(chat_tokenizer(), "{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}")
    ids, learned = plain.learned(TALK[1:3])
    assert plain.tokenizer.decode(ids[learned]) == "a:cd;"


def test_a_template_that_rewrites_what_was_said_is_refused():
    short = "{% for m in messages %}{{ m.content if loop.last else '' }}<|im_end|>{% endfor %}"
    with pytest.raises(ValueError, match="writes an answer in another way than it asks for one"):
        ChatText(chat_tokenizer(), short).learned(TALK)


def test_old_folders_have_their_template_among_their_facts():
    assert template_of("a", {"chat_template": "b"}) == "a"
    assert template_of(None, {"chat_template": "b"}) == "b"
    assert template_of(None, {}) is None
    assert template_of(None, {"chat_template": 5}) is None

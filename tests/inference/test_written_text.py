"""What may be shown of a text that is still written: whole characters, nothing of a stop text, and in the end all."""

import pytest

from clearformer.decoding.stream import TokenChoice
from clearformer.inference.written_text import WrittenText

END = 0
BYTES = "a dog 😀 雪 \ufffd end".encode()


def decode(ids):
    """Tokens are bytes."""
    return bytes(ids).decode("utf-8", "replace")


def written(data, stops=(), prompt=b"two"):
    text = WrittenText(decode, list(prompt), end=END, stops=stops)
    pieces = []
    for token in data:
        pieces.append(text.add(TokenChoice(0, token, -1.0)))
        if text.ended:
            break
    pieces.append(text.close())
    return pieces, text


@pytest.mark.parametrize("count", range(len(BYTES) + 1))
def test_an_emoji_split_over_tokens_is_shown_whole_or_not_at_all(count):
    """Wherever the limit falls: the pieces are the whole characters so far."""
    pieces, text = written(BYTES[:count])
    assert "".join(pieces) == BYTES[:count].decode("utf-8", "ignore").rstrip("\ufffd")
    assert text.ended == "length"


def test_what_the_model_itself_ends_is_shown_as_it_is():
    pieces, text = written([*b"snow ", 0xF0, 0x9F, END])
    assert "".join(pieces) == "snow \ufffd"
    assert text.result(4).ended == "end"
    assert len(text.result(4).tokens) == 8


def test_a_stop_text_across_tokens_is_never_shown():
    pieces, text = written(b"yes\n###no", stops=["\n##", "zzz"])
    assert "".join(pieces) == "yes"
    assert text.ended == "stop"
    assert text.result(0).text == "yes"
    assert len(text.choices) == 6


def test_what_only_looked_like_a_stop_text_comes_later():
    pieces, _ = written(b"a\n#b", stops=["\n##"])
    assert pieces == ["a", "", "", "\n#b", ""]
    pieces, _ = written(b"a\n", stops=["\n##"])
    assert pieces == ["a", "", "\n"]


def test_a_stop_text_in_the_prompt_does_not_count():
    pieces, text = written(b"STOP", stops=["oS"])
    assert "".join(pieces) == "STOP"
    assert text.ended == "length"

"""A no in two forms."""

from clearformer.serving.refusal import Refused


def test_sentence_and_values_say_the_same():
    no = Refused("tokens", "{count} tokens, more than {limit}", count=9, limit=5)
    assert str(no) == "9 tokens, more than 5"
    assert (no.code, no.values) == ("tokens", {"count": 9, "limit": 5})
    assert isinstance(no, ValueError)

"""The bytes of tokens: joined, they are what the tokenizer's own decoder makes of the tokens."""

import pytest

from clearformer.text.assemble import byte_level_tokenizer, word_tokenizer
from clearformer.text.special import SpecialTokens
from clearformer.text.token_bytes import token_bytes
from clearformer.text.train_tokenizer import train

TEXTS = ["Two dogs play in the snow.", "雪地里有两只狗。", "  a  b", "naïve café 😀", "x\n\ty", "<eos> is text"]


def byte_level():
    from tokenizers import pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate([*letters, "do", "Ġdo", "<|end|>"])}
    return byte_level_tokenizer(vocabulary, [("d", "o"), ("Ġ", "do")], SpecialTokens(eos="<|end|>"))


@pytest.fixture(scope="module", params=["bpe", "unigram", "character", "byte", "byte-level"])
def tokenizer(request):
    if request.param == "byte-level":
        return byte_level()
    return train(request.param, TEXTS * 5, 400)


@pytest.mark.parametrize("text", TEXTS)
def test_joined_they_are_the_text(tokenizer, text):
    spelling = token_bytes(tokenizer)
    data = b"".join(spelling.bytes[token] for token in tokenizer.encode(text, add_special=False).ids)
    assert (data.decode().removeprefix(" ") if spelling.strips else data.decode()) == text


def test_special_tokens_have_none(tokenizer):
    spelling = token_bytes(tokenizer)
    assert len(spelling.bytes) == tokenizer.vocab_size
    assert all(spelling.bytes[number] is None for number in tokenizer.special_ids.values())


def test_behind_other_tokens_each_adds_its_bytes(tokenizer):
    """Every token that is a whole text by itself, against the library's decoder."""
    spelling = token_bytes(tokenizer)
    [first, *_] = tokenizer.encode("a", add_special=False).ids
    before = tokenizer.decode([first])
    for number, data in enumerate(spelling.bytes):
        try:
            said = None if data is None else data.decode()
        except UnicodeDecodeError:
            continue
        if said is not None:
            assert tokenizer.decode([first, number]) == before + said, number


def test_a_vocabulary_that_does_not_say_where_spaces_are_is_refused():
    with pytest.raises(ValueError, match="a word vocabulary does not say how its pieces join"):
        token_bytes(word_tokenizer(["<pad>", "<bos>", "<eos>", "<unk>", "two", "dogs"]))

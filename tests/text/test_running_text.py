"""Running text as ids: every line end is a token, text comes back, and words are counted as published."""

import pytest

from clearformer.text.running_text import forgets_lines, running_ids, running_text
from clearformer.text.train_tokenizer import train

TEXT = "the old dog\n  sleeps here\n\nthe cat \x0c\u2028 sees snow ❄\nno end"


def learned(kind, **choices):
    sizes = {"word": 100, "wordpiece": 200}
    return train(kind, TEXT.split("\n") * 3, sizes.get(kind, 600), min_frequency=1, **choices)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character", "byte"])
def test_text_comes_back_with_all_its_lines(kind):
    tokenizer = learned(kind, prefix_space=False)
    assert not forgets_lines(tokenizer)
    assert tokenizer.decode(running_ids(tokenizer, TEXT)) == TEXT


@pytest.mark.parametrize("kind", ["bpe", "character", "byte", "word", "wordpiece"])
@pytest.mark.parametrize("text", ["", "\n", "the", "the old dog\n", "the old dog\n\nthe cat\nsees snow"])
def test_ids_are_the_lines_that_they_were_made_of(kind, text):
    tokenizer = learned(kind, prefix_space=False)
    assert running_text(tokenizer, running_ids(tokenizer, text)) == text


@pytest.mark.parametrize("kind", ["bpe", "word"])
@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "\n\na"])
def test_a_text_is_its_lines_one_after_the_other(kind, text):
    tokenizer = learned(kind, prefix_space=False)
    lines = text.splitlines(keepends=True)
    assert running_ids(tokenizer, text) == [number for line in lines for number in running_ids(tokenizer, line)]


@pytest.mark.parametrize(("kind", "end"), [("word", "eos"), ("wordpiece", "sep")])
def test_a_vocabulary_that_forgets_spacing_has_a_token_for_each_line_end(kind, end):
    tokenizer = learned(kind)
    assert forgets_lines(tokenizer)
    ids = running_ids(tokenizer, TEXT)
    assert ids.count(tokenizer.special_id(end)) == TEXT.count("\n")
    assert ids[-1] != tokenizer.special_id(end)  # the last line has no end


def test_words_are_counted_as_wikitext_counts_them():
    """One token a word and one a line, also an empty one."""
    tokenizer = train("word", ["a b c d <unk>"], 100, min_frequency=1)
    ids = running_ids(tokenizer, " \n = a b = \n \n c <unk> d @-@ a \n")
    assert len(ids) == 0 + 4 + 0 + 5 + 4
    assert ids.count(tokenizer.unk_id) == 4  # <unk> as the text spells it, and the words that it never had: = = @-@

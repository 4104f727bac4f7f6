"""Roles of pieces: the folder's own spelling counts first, then the family's; a piece that is not there has no role."""

from clearformer.interop.special_pieces import SPELT, special_pieces
from clearformer.interop.to_hugging_face import WORDS
from interop.folders import wordpiece


def test_the_family_spells_what_the_folder_does_not():
    found = special_pieces(wordpiece(), "bert", {})
    assert (found.cls, found.sep, found.pad, found.mask) == ("[CLS]", "[SEP]", "[PAD]", "[MASK]")
    assert found.bos is None


def test_the_folder_s_word_counts_first():
    found = special_pieces(wordpiece(), "bert", {"mask_token": {"content": "two"}, "pad_token": "dogs"})
    assert (found.mask, found.pad) == ("two", "dogs")


def test_a_piece_that_the_vocabulary_lacks_has_no_role():
    assert special_pieces(wordpiece(), "gpt2", {}).eos is None
    assert special_pieces(wordpiece(), "bert", {"pad_token": "<nowhere>"}).pad is None


def test_families_are_ours():
    assert SPELT.keys() <= WORDS.keys()

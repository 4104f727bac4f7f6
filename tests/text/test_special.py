"""Special tokens: roles and spellings."""

from clearformer.text.special import BERT, ROLES, SENTENCE, SpecialTokens


def test_every_role_is_a_field_in_the_same_order():
    assert tuple(SpecialTokens.__dataclass_fields__) == ROLES


def test_a_missing_role_is_none():
    assert SENTENCE.spelling("cls") is None
    assert BERT.spelling("bos") is None
    assert BERT.spelling("mask") == "[MASK]"


def test_one_piece_may_have_two_roles():
    assert SpecialTokens(bos="<end>", eos="<end>").spellings() == ["<end>"]


def test_trained_layouts_keep_their_order():
    assert SENTENCE.spellings() == ["<pad>", "<bos>", "<eos>", "<unk>"]
    assert BERT.spellings() == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

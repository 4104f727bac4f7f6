"""Each choice forgets one thing, says which, and forgets it once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.normalise import check_choices, lowercase, nfc, nfkc, normalise, steps

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_nfc_has_one_way_to_write_a_letter():
    assert nfc("e\u0301") == nfc("é") == "é"
    assert nfc("ﬁ") == "ﬁ"


def test_nfkc_also_forgets_typography():
    assert nfkc("ﬁ Ａ ²") == "fi A 2"


def test_lowercase_forgets_case():
    assert lowercase("ÄPFEL und Öl") == "äpfel und öl"


@pytest.mark.parametrize("function", [nfc, nfkc])
@given(text=TEXT)
def test_normalising_twice_is_normalising_once(function, text):
    assert function(function(text)) == function(text)


@given(text=TEXT)
def test_no_choice_changes_nothing(text):
    assert normalise(text, ()) == text


def test_choices_apply_in_their_order():
    assert normalise("Ⅳ", ("nfkc", "lowercase")) == "iv"
    assert normalise("E\u0301", ("lowercase", "nfc")) == "é"


def test_every_name_is_also_a_part_of_a_saved_tokenizer():
    assert [type(step).__name__ for step in steps(("nfc", "nfkc", "lowercase"))] == ["NFC", "NFKC", "Lowercase"]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown normalisation 'NFD'; choose from nfc, nfkc, lowercase"):
        check_choices(["nfc", "NFD"])

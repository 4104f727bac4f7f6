"""The number is there for programs, the sentence for people."""

from clearformer.text.unusable import UnusableTextError


def test_the_sentence_names_the_text_and_the_parts_stay_apart():
    error = UnusableTextError(3, "is empty")
    assert str(error) == "text 3 is empty"
    assert (error.number, error.reason) == (3, "is empty")
    assert isinstance(error, ValueError)

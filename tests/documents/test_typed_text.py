"""A typed text with several sentences, or with something that must stay, is handled as a document would be."""

from clearformer.documents.sentence_steps import Manner, Said
from clearformer.documents.stand_ins import stand_ins
from clearformer.documents.typed_text import needs_care, translate_typed

MANNER = Manner("en", "de", stand_ins("en", "de"))


def test_one_plain_sentence_goes_to_the_model_as_it_is():
    assert not needs_care("Dr. Smith paid 3.50 for 2 dogs.", "en")
    assert not needs_care("机器学习是人工智能的一个分支。", "zh")
    assert not needs_care("Two lines.\nNot one.", "en")  # the model refuses or reads them, as before


def test_several_sentences_and_what_must_stay_are_noticed():
    for text in (
        "Good morning! How are you?",
        "Open %s now",
        "See https://example.org/a",
        "Run `ls` here",
        "THE HOUSE IS ON FIRE",
    ):
        assert needs_care(text, "en")
    assert needs_care("你好。再见。", "zh")


def test_sentences_are_asked_for_one_by_one_and_joined_as_they_were():
    asked = []

    def shout(texts):
        asked.extend(texts)
        return [Said(text.upper(), 0.9 if "One" in text else 0.4) for text in texts]

    assert translate_typed("One dog.  Two dogs!", shout, MANNER) == Said("ONE DOG.  TWO DOGS!", 0.4)
    assert asked == ["One dog.", "Two dogs!"]


def test_what_a_model_would_spoil_stays():
    def spoil(texts):
        return [Said("alles anders") for _ in texts]

    found = translate_typed("Install %s from https://example.org/a_b now", spoil, MANNER).text
    assert "%s" in found
    assert "https://example.org/a_b" in found

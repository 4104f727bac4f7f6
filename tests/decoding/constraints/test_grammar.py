"""Choices as a form."""

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.grammar import choices


def test_a_choice_is_one_of_the_texts_and_nothing_else():
    texts = ("yes", "yes, of course", "no", "雪")
    automaton = Automaton(ByteNetwork.of(choices(texts)))
    for said in (*texts, "ye", "yes,", "noo", "", "雪雪"):
        assert automaton.accepts(automaton.step(automaton.start, said.encode())) == (said in texts)


@pytest.mark.parametrize(("texts", "reason"), [((), "choices are empty"), (("a", ""), "one of the choices is empty")])
def test_nothing_to_choose_is_refused(texts, reason):
    with pytest.raises(ValueError, match=reason):
        choices(texts)

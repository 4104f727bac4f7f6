"""How much a model remembers is said by its folder, and only where positions are distances."""

from dataclasses import replace

import pytest

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.trained_memory import PLACES, refuse_places, trained_memory
from clearformer.model.frontends import adds_places
from model.specimens import KINDS, configured, specimen


def folder(kind, **provenance):
    config = configured("transformer-xl", kind)
    model = specimen("transformer-xl", kind)
    return Bundle(
        task="language-model", config=config, model=model, preprocessing=Preprocessing(), provenance=provenance
    )


@pytest.mark.parametrize("kind", KINDS)
def test_positions_that_are_places_remember_nothing(kind):
    """The names are those of the schemes that add a vector for each place."""
    made = folder(kind, memory=32)
    assert (kind in PLACES) == adds_places(made.model.decoder.front)
    assert trained_memory(made) == (0 if kind in PLACES else 32)
    if kind in PLACES:
        with pytest.raises(ValueError, match=f"this model's are {kind}; take a memory of 0"):
            refuse_places(kind)
    else:
        refuse_places(kind)


@pytest.mark.parametrize("said", [{}, {"memory": 0}, {"memory": -3}, {"memory": "32"}, {"memory": None}])
def test_a_folder_that_says_nothing_usable_remembers_nothing(said):
    assert trained_memory(replace(folder("relative"), provenance=said)) == 0

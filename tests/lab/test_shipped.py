"""The translator that ships."""

import torch

from clearformer.lab.shipped import read_shipped


def test_a_sentence_as_the_model_reads_it():
    read = read_shipped("Two dogs play.")
    assert read.tokens.shape == (1, len(read.pieces))
    assert read.pieces[-1] == "</s>"
    assert "".join(read.pieces[:-1]).replace("·", "") == "Twodogsplay."
    assert not read.network.training
    with torch.no_grad():
        assert read.network.encode(read.tokens).states.shape[1] == len(read.pieces)

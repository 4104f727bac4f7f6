"""Attention held against links that people made."""

import os
from pathlib import Path

import pytest
import torch

from clearformer.lab.experiments.word_alignment import _word_links

here = Path(os.environ.get("CLEARFORMER_DATA", "/nowhere")) / "alignment"


def test_pieces_become_words():
    weights = torch.tensor(
        [[0.4, 0.3, 0.3], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2]]
    )  # three target pieces, three source ones
    assert _word_links(weights, [0, 1, 1], [0, 1, 1]) == {(1, 0), (1, 1)}


@pytest.mark.skipif(not here.is_dir(), reason="needs gold alignments in CLEARFORMER_DATA")
def test_an_aligner_is_better_than_heads(found):
    values, findings = found("word-alignment")
    assert 0 < values["aligner"] < 1
    assert values["chinese"]["awesome-align"] < 0.25
    assert values["chinese"]["aligner"] < values["chinese"]["diagonal"]
    assert findings.claims

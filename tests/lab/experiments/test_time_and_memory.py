"""Time and memory of one layer."""

import pytest
import torch

from clearformer.lab.experiments.time_and_memory import LENGTHS, _crossing, _kept, _power


def test_attention_keeps_n_squared_and_the_others_n(found):
    values, findings = found("time-and-memory")
    assert _power(LENGTHS, values["attention_bytes"]) > 1.8
    assert _power(LENGTHS, values["recurrent_bytes"]) < 1.2
    assert _power(LENGTHS, values["convolution_bytes"]) < 1.2
    assert findings.conditions[1].state == "met"


def test_where_two_lines_cross():
    assert _crossing([0.5, 0.5, 0.5, 2.0, 4.0, 8.0]) == pytest.approx((256 * 512) ** 0.5)
    assert _crossing([0.5] * 6) == LENGTHS[-1]
    assert _crossing([2.0] * 6) == LENGTHS[0]


def test_a_storage_counts_once():
    x = torch.ones(100, requires_grad=True)
    assert _kept(lambda: x * x) == 400 + 400  # what is kept is x itself, twice; and the result

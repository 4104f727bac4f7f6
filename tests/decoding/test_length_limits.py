import pytest
import torch

from clearformer.decoding.length_limits import LengthLimits
from clearformer.decoding.rules import FREE, Rules

RULES = Rules(eos=0, min_len=2)


def test_one_number_or_one_each():
    assert LengthLimits.of(3, RULES, 5, None).max_len.tolist() == [5, 5, 5]
    assert LengthLimits.of(3, RULES, [5, 2, 9], None).max_len.tolist() == [5, 2, 9]


def test_forced_tokens_end_with_each_prefix():
    limits = LengthLimits.of(3, RULES, 5, [(7, 8), (), (9,)])
    everyone = torch.arange(3)
    assert [limits.forced(everyone, step).tolist() for step in range(2)] == [[7, FREE, 9], [8, FREE, FREE]]
    assert limits.forced(everyone, 2) is None
    assert limits.forced(torch.tensor([2, 0]), 0).tolist() == [9, 7]


def test_no_sentences():
    assert LengthLimits.of(0, RULES, 5, None).forced(torch.arange(0), 0) is None


@pytest.mark.parametrize(
    ("max_len", "prefixes", "message"),
    [
        ([5], None, r"^max_len has 1 entries for 2 sentences; give one per sentence$"),
        (5, [()], r"^prefixes has 1 entries for 2 sentences; give one per sentence$"),
        (0, None, r"^max_len of sentence 0 is 0; it must be at least 1$"),
        ([5, 1], None, r"^max_len of sentence 1 is 1, less than min_len 2$"),
        (2, [(), (3, 3, 3)], r"^the prefix of sentence 1 has 3 tokens, more than its max_len 2$"),
        (5, [(), (3, 0)], r"^the prefix of sentence 1 holds the end token 0 or a negative id: \(3, 0\)$"),
        (5, [(-1,), ()], r"^the prefix of sentence 0 holds the end token 0 or a negative id: \(-1,\)$"),
    ],
)
def test_hostile_arguments(max_len, prefixes, message):
    with pytest.raises(ValueError, match=message):
        LengthLimits.of(2, RULES, max_len, prefixes)


def test_prefix_outside_the_vocabulary():
    with pytest.raises(ValueError, match=r"^prefix token 9 is outside the vocabulary of 9 tokens$"):
        LengthLimits.of(1, RULES, 5, [(8, 9)]).check_vocabulary(9)

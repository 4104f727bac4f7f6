"""Held-out examples: a share of each class, and no text in two parts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.class_split import hold_out_by_class

examples = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), min_size=2, max_size=120)


@given(examples, st.floats(0.05, 0.5))
def test_equal_texts_are_never_in_two_parts(rows, share):
    keys, labels = [key for key, _ in rows], [label for _, label in rows]
    held = hold_out_by_class(keys, labels, share=share)
    inside = {key for key, out in zip(keys, held, strict=True) if out}
    outside = {key for key, out in zip(keys, held, strict=True) if not out}
    assert not inside & outside
    assert outside


def test_every_class_keeps_its_share():
    labels = ["common"] * 900 + ["rare"] * 100
    held = hold_out_by_class(range(1000), labels, share=0.1)
    assert Counter(label for label, out in zip(labels, held, strict=True) if out) == {"common": 90, "rare": 10}
    assert held == hold_out_by_class(range(1000), labels, share=0.1)
    assert held != hold_out_by_class(range(1000), labels, share=0.1, seed=2)


def test_a_class_of_one_stays_in_training():
    assert hold_out_by_class("ab", ["x", "y"], share=0.5) == [False, False]

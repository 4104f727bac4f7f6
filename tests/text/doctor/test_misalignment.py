"""Where two files part."""

import random

import pytest

from clearformer.text.doctor.misalignment import first_suspicious_line


def _lengths(count: int, seed: int) -> tuple[list[int], list[int]]:
    """Lengths like a corpus has them: a translation is 1.1 times as long as its source, give or take a sixth."""
    chance = random.Random(seed)
    source = [chance.randint(10, 120) for _ in range(count)]
    return source, [round(length * 1.1 * chance.uniform(0.85, 1.15)) for length in source]


@pytest.mark.parametrize("missing", [1, 57, 500, 998])
@pytest.mark.parametrize("side", ["source", "target"])
def test_one_missing_line_is_found_to_within_a_few_lines(missing, side):
    for seed in range(5):
        source, target = _lengths(1000, seed)
        del (source if side == "source" else target)[missing - 1]
        assert abs(first_suspicious_line(source, target) - missing) <= 4


def test_several_missing_lines_in_a_row():
    source, target = _lengths(1000, 3)
    del target[299:310]
    assert abs(first_suspicious_line(source, target) - 300) <= 4


def test_a_file_that_stops_early_parts_after_its_end():
    source, target = _lengths(1000, 4)
    assert abs(first_suspicious_line(source, target[:900]) - 901) <= 4


def test_tiny_and_empty_files_have_an_answer():
    assert first_suspicious_line([], [5]) == 1
    assert first_suspicious_line([5, 5], []) == 1
    assert first_suspicious_line([0, 0, 0], [0]) in (1, 2)

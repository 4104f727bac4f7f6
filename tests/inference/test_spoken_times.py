"""When tokens were said: the best path through attention, against all paths of tiny cases."""

import itertools

import numpy as np
import pytest

from clearformer.inference.spoken_times import attention_map, first_frames


def every_path(count, length):
    """All ways from the first token and frame to the last, one step in either or both at a time."""

    def walk(row, column):
        if (row, column) == (count - 1, length - 1):
            yield [(row, column)]
            return
        for down, right in ((1, 1), (1, 0), (0, 1)):
            if row + down < count and column + right < length:
                for rest in walk(row + down, column + right):
                    yield [(row, column), *rest]

    yield from walk(0, 0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("count", "length"), [(1, 5), (2, 4), (3, 5), (4, 4)])
def test_it_is_the_best_of_all_paths(count, length, seed):
    gathered = np.random.default_rng(seed).standard_normal((count, length))
    best = max(every_path(count, length), key=lambda path: sum(gathered[place] for place in path))
    wanted = [min(column for row, column in best if row == number) for number in range(count)]
    assert first_frames(gathered) == wanted


def test_clear_attention_gives_the_beginnings():
    gathered = np.full((3, 30), -1.0)
    for row, (start, end) in enumerate([(0, 8), (8, 21), (21, 30)]):
        gathered[row, start:end] = 1.0
    assert first_frames(gathered) == [0, 8, 21]


def test_heads_are_compared_across_tokens():
    """A frame that every token looks at says nothing; one that a single token looks at says where it is."""
    weights = np.full((2, 3, 40), 0.01, dtype=np.float32)
    weights[:, :, 0] = 0.5
    for row in range(3):
        weights[:, row, 10 * row + 5 : 10 * row + 13] = 0.2
    drawn = attention_map(weights)
    assert drawn.shape == (3, 40)
    assert np.allclose(drawn[:, 0], drawn[0, 0])
    for row in range(3):
        assert drawn[row].argmax() in range(10 * row + 5, 10 * row + 13)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_few_frames_are_no_trouble(length):
    starts = first_frames(attention_map(np.random.default_rng(1).random((2, 4, length)).astype(np.float32)))
    assert len(starts) == 4
    assert starts == sorted(starts)
    assert all(0 <= start < length for start in starts)
    assert list(itertools.accumulate(starts, max)) == starts

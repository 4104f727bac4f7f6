"""Keys that never move: whatever happens to the rows, each one goes on seeing what it wrote itself."""

import random

import pytest
import torch

from clearformer.model.fast.beam_cache import BeamCache

LAYERS, HEADS, WIDTH, SLOTS = 2, 2, 3, 4


@pytest.fixture(autouse=True)
def no_gradients():
    """As in use: caches are made and written in inference mode, and only there."""
    with torch.inference_mode():
        yield


def fresh(count, room=2):
    """A cache whose source names its groups."""
    source = torch.arange(count, dtype=torch.float32)[:, None, None, None].expand(LAYERS, 2, count, HEADS, SLOTS, WIDTH)
    bias = torch.arange(count, dtype=torch.float32)[:, None, None, None].expand(count, 1, 1, SLOTS)
    return BeamCache(
        source=source.clone(),
        source_bias=bias.clone(),
        kept=torch.full((LAYERS, 2, count, HEADS, room, WIDTH), torch.nan),
        count=count,
    )


def write(cache, numbers):
    """Let every row write its number; returns what each row then sees, in the order of writing."""
    into, keys, values, bias = cache.open()
    into.copy_(torch.tensor(numbers, dtype=torch.float32).view(1, 1, cache.count, 1, cache.width, 1).expand_as(into))
    assert torch.equal(keys, values)
    keys = keys.unflatten(1, (cache.count, HEADS))
    assert keys.shape == (LAYERS, cache.count, HEADS, cache.length, WIDTH)
    seen = []
    for row in range(cache.rows):
        group, slot = divmod(row, cache.width)
        visible = torch.ones(cache.length, dtype=torch.bool) if bias is None else bias[group, 0, slot] == 0
        found = keys[:, group][:, :, visible]
        assert bool((found == found[:1, :1, :, :1]).all())  # the same in every layer, head and feature
        seen.append(found[0, 0, :, 0].tolist())
    return seen


def owners(cache):
    """The number of the sentence that each group holds, from all three places that say it."""
    found = cache.source[0, 0, : cache.count, 0, 0, 0].tolist()
    assert cache.source_bias[: cache.count, 0, 0, 0].tolist() == found
    return found


def test_shapes():
    cache = fresh(3)
    into, keys, values, bias = cache.open()
    assert into.shape == (LAYERS, 2, 3, HEADS, 1, WIDTH)
    assert keys.shape == values.shape == (LAYERS, 3 * HEADS, 1, WIDTH)
    assert bias is None
    into, keys, _, bias = cache.select(torch.tensor([0, 0, 1, 1, 2, 2])).open()
    assert into.shape == (LAYERS, 2, 3, HEADS, 2, WIDTH)
    assert keys.shape == (LAYERS, 3 * HEADS, 3, WIDTH)
    assert bias.shape == (3, 1, 2, 3)


def test_a_beam_is_reordered_without_moving_a_key():
    cache = fresh(2)
    write(cache, [10, 20])
    cache = cache.select(torch.tensor([0, 0, 1, 1]))
    assert write(cache, [11, 12, 21, 22]) == [[10, 11], [10, 12], [20, 21], [20, 22]]
    before = cache.kept.clone()
    cache = cache.select(torch.tensor([1, 1, 3, 2]))
    assert torch.equal(cache.kept.nan_to_num(), before.nan_to_num())
    assert write(cache, [13, 14, 23, 24]) == [[10, 12, 13], [10, 12, 14], [20, 22, 23], [20, 21, 24]]


def test_the_last_lane_takes_the_place_of_one_that_left():
    cache = fresh(4)
    write(cache, [1, 2, 3, 4])
    storage = cache.source.data_ptr()
    cache = cache.select(torch.tensor([0, 3, 2]))
    assert owners(cache) == [0, 3, 2]
    assert cache.source.data_ptr() == storage
    assert write(cache, [11, 14, 13]) == [[1, 11], [4, 14], [3, 13]]


@pytest.mark.parametrize("seed", range(20))
def test_any_choice_of_rows_keeps_every_history(seed):
    """Against plain lists: rows dropped, repeated, shuffled and grouped, over many steps."""
    generator = random.Random(seed)
    count = generator.randint(1, 5)
    cache, histories, sentences, number = fresh(count), [[] for _ in range(count)], list(range(count)), 0
    for _ in range(8):
        numbers = [number := number + 1 for _ in histories]
        histories = [[*history, new] for history, new in zip(histories, numbers, strict=True)]
        assert write(cache, numbers) == histories
        assert [owner for owner in owners(cache) for _ in range(cache.width)] == sentences
        if generator.random() < 0.5:  # as a beam search chooses: equally many rows of different groups
            kept = generator.sample(range(cache.count), generator.randint(1, cache.count))
            width = generator.randint(1, 3)
            rows = [group * cache.width + generator.randrange(cache.width) for group in kept for _ in range(width)]
        else:
            rows = [generator.randrange(len(histories)) for _ in range(generator.randint(1, 6))]
        cache = cache.select(torch.tensor(rows))
        histories, sentences = [histories[row] for row in rows], [sentences[row] for row in rows]

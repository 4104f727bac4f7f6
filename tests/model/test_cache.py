"""Caches: what is kept is exactly what the full pass would compute, for every family, position scheme and padding."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.model.attention import Attention
from clearformer.model.attention_context import Memory
from clearformer.model.cache import DecoderCache, FixedCache, GrowingCache
from clearformer.model.config import AttentionConfig
from model.specimens import KINDS, MELS, SPEAKERS, VOCAB, WRITERS, close, padded, sentences, specimen

BATCHES = {
    "no padding": lambda: (padded(sentences(9, 9, 9), "right")[0], None),
    "left padding": lambda: padded(sentences(7, 4, 2), "left", extra=2),
    "right padding": lambda: padded(sentences(7, 4, 2), "right", extra=2),
    "padding anywhere": lambda: padded(sentences(7, 4, 2), "anywhere", extra=2),
}
WAYS = {"one by one": [1] * 9, "prompt, then one by one": [4, 1, 1, 1, 1, 1], "chunks": [2, 3, 1, 3]}


class Writer:
    """Encoder–decoders and decoders through one call: tokens, keep and a cache in, logits out."""

    def __init__(self, family, kind=None, **choices):
        self.model = specimen(family, kind, **choices)
        self.memory = None
        if family == "whisper":
            frames = torch.randn(3, 10, MELS)
            self.memory = self.model.encode(frames, keep=torch.arange(10) < torch.tensor([[10], [7], [4]]))
        elif family not in SPEAKERS:
            source, keep = padded(sentences(6, 4, 2), "right")
            self.memory = self.model.encode(source, keep=keep)

    def __call__(self, tokens, keep=None, cache=None):
        if self.memory is None:
            return self.model(tokens, keep=keep, cache=cache)
        return self.model.decode(tokens, self.memory, keep=keep, cache=cache)

    def in_steps(self, sizes, tokens, keep=None, cache=None):
        """The same logits, from `sizes[0]` tokens first, then the next `sizes[1]`, …"""
        cache = self.model.start_cache(room=2) if cache is None else cache
        parts = zip(tokens.split(sizes, 1), [None] * len(sizes) if keep is None else keep.split(sizes, 1), strict=True)
        return torch.cat([self(part, real, cache) for part, real in parts], dim=1)


def real(logits, keep):
    return logits if keep is None else logits[keep]


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [*WRITERS, "whisper", *SPEAKERS])
def test_cached_steps_equal_the_full_pass(family, kind):
    """In steps of any size, and also where a step brings nothing but padding for some of the rows."""
    writer = Writer(family, kind)
    for padding, batch in BATCHES.items():
        tokens, keep = batch()
        expected = real(writer(tokens, keep), keep)
        for way, sizes in WAYS.items():
            close(real(writer.in_steps(sizes, tokens, keep), keep), expected, f"{padding}, {way}")


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    holes=st.lists(st.integers(0, 2**20 - 1), min_size=3, max_size=3),
    kind=st.sampled_from(["learned", "rotary", "relative"]),
)
def test_any_padding_in_any_steps(sizes, holes, kind):
    """Hypothesis looks for a pattern of holes and a way to cut it up that the full pass does not agree with."""
    writer, length = Writer("gpt2", kind), sum(sizes)
    tokens = torch.randint(VOCAB, (3, length))
    keep = torch.tensor([[bool(bits >> slot & 1) for slot in range(length)] for bits in holes])
    with torch.no_grad():
        close(writer.in_steps(sizes, tokens, keep)[keep], writer(tokens, keep)[keep])


@torch.no_grad()
@pytest.mark.parametrize("family", ["transformer", "whisper", "gpt2"])
def test_published_positions_are_cached_too(family):
    """Whisper counts its frames with waves and its tokens with a table: two schemes in one model."""
    writer, tokens = Writer(family), padded(sentences(9, 9, 9), "right")[0]
    close(writer.in_steps([4, 1, 4], tokens), writer(tokens))


@torch.no_grad()
@pytest.mark.parametrize("padding", BATCHES)
def test_a_window_looks_back_over_tokens_not_over_slots(padding):
    """Junk between a prompt and what follows it must not use up the window."""
    writer = Writer("gpt2", "rotary", attention=AttentionConfig(window=2))
    tokens, keep = BATCHES[padding]()
    close(real(writer.in_steps([4, 1, 1, 1, 1, 1], tokens, keep), keep), real(writer(tokens, keep), keep))
    if keep is not None:
        alone = [writer(row[kept][None])[0] for row, kept in zip(tokens, keep, strict=True)]
        close(real(writer(tokens, keep), keep), torch.cat(alone))


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["transformer", "gpt2"])
def test_rows_can_be_chosen_anew(family, kind):
    """Beams are reordered, finished rows dropped, a survivor tiled: all go on as if they had always stood there."""
    writer = Writer(family, kind)
    tokens, keep = padded(sentences(5, 3, 2), "left")
    cache = writer.model.start_cache(room=2)
    writer(tokens, keep, cache)
    for rows in ([2, 0, 1], [1, 2], [1], [0, 0, 0, 0]):
        chosen = torch.tensor(rows)
        tokens, keep, cache = tokens[chosen], keep[chosen], cache.select(chosen)
        writer.memory = None if writer.memory is None else writer.memory.select(chosen)
        new = torch.randint(VOCAB, (len(rows), 1))
        tokens, keep = torch.cat((tokens, new), dim=1), torch.cat((keep, torch.ones_like(new, dtype=torch.bool)), dim=1)
        close(writer(new, cache=cache), writer(tokens, keep)[:, -1:], f"rows {rows}")


@torch.no_grad()
def test_a_chosen_cache_leaves_the_first_one_alone():
    writer, tokens = Writer("gpt2"), padded(sentences(4, 4), "right")[0]
    cache = writer.model.start_cache()
    writer(tokens, cache=cache)
    other = cache.select(torch.tensor([1, 0]))
    writer(torch.randint(VOCAB, (2, 3)), cache=other)
    new = torch.randint(VOCAB, (2, 1))
    close(writer(new, cache=cache), writer(torch.cat((tokens, new), dim=1))[:, -1:])


@torch.no_grad()
@pytest.mark.parametrize("family", [*WRITERS, "whisper"])
def test_the_source_is_projected_once(family):
    """Cross-attention projects the memory in the first step only; self-attention projects one token a step."""
    writer, lengths = Writer(family), {"self_attn": [], "cross_attn": []}

    def watch(module, inputs, output, name):
        lengths[name].append(output.size(1))

    for layer in writer.model.decoder.layers:
        for name, seen in lengths.items():
            attention: Attention = getattr(layer, name)
            attention.k_proj.register_forward_hook(lambda *call, name=name: watch(*call, name))
            assert seen == []
    writer.in_steps([1] * 5, torch.randint(VOCAB, (3, 5)))
    layers = len(writer.model.decoder.layers)
    assert lengths["self_attn"] == [1] * 5 * layers
    assert lengths["cross_attn"] == [writer.memory.states.size(1)] * layers


@torch.no_grad()
def test_the_encoder_is_read_through_the_cache_alone():
    """After the first step the memory's states are no longer looked at, so nobody can project them twice by mistake."""
    writer, tokens = Writer("transformer"), torch.randint(VOCAB, (3, 4))
    expected = writer(tokens)
    cache = writer.model.start_cache()
    writer(tokens[:, :1], cache=cache)
    memory = writer.memory
    writer.memory = Memory(torch.full_like(memory.states, torch.nan), memory.keep)
    close(writer.in_steps([1, 1, 1], tokens[:, 1:], cache=cache), expected[:, 1:])


def test_room_is_allocated_ahead_and_nothing_is_lost_when_it_runs_out():
    cache, everything = GrowingCache(room=2), torch.randn(2, 3, 11, 4)
    buffers = set()
    for new in everything.split([1, 1, 1, 1, 4, 3], dim=2):
        keys, values = cache.extend(lambda new=new: (new, 2 * new))
        buffers.add(keys.untyped_storage().size())
    torch.testing.assert_close(keys, everything, rtol=0, atol=0)
    torch.testing.assert_close(values, 2 * everything, rtol=0, atol=0)
    assert [size // (2 * 3 * 4 * 4) for size in sorted(buffers)] == [2, 4, 8, 16]  # doubled, not grown by every step


def test_keys_and_values_may_differ_in_width():
    cache = GrowingCache(room=1)
    for _ in range(3):
        keys, values = cache.extend(lambda: (torch.ones(1, 2, 1, 4), torch.ones(1, 2, 1, 6)))
    assert keys.shape == (1, 2, 3, 4)
    assert values.shape == (1, 2, 3, 6)


def test_a_fixed_cache_asks_once():
    cache, asked = FixedCache(), []

    def project():
        asked.append(1)
        return torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]])

    cache.extend(project)
    keys, values = cache.select(torch.tensor([1, 1, 0])).extend(project)
    assert asked == [1]
    assert keys.flatten().tolist() == [2, 2, 1]
    assert values.flatten().tolist() == [4, 4, 3]


def test_an_empty_cache_can_be_chosen_from():
    """Tiling before the first step is allowed: there is nothing to tile yet."""
    cache = DecoderCache(2).select(torch.tensor([0, 0]))
    assert len(cache.self_attn) == len(cache.cross_attn) == 2
    assert cache.positions is None
    assert cache.next_position() == 0


def test_pasts_of_different_length_end_at_the_same_slot():
    """What a row does not have is zeros, never whatever memory holds: a weight of 0 times nan is nan."""
    caches = []
    for value, length in ((1.0, 3), (2.0, 1)):
        cache = GrowingCache(room=2)
        cache.extend(lambda value=value, length=length: (torch.full((1, 1, length, 2), value),) * 2)
        caches.append(cache)
    joined = caches[0].join(caches[1], (1, 1), 3)
    keys, values = joined.extend(lambda: (torch.full((2, 1, 1, 2), 9.0),) * 2)
    assert keys[:, 0, :, 0].tolist() == [[1, 1, 1, 9], [0, 0, 2, 9]]
    assert torch.equal(keys, values)


def test_slots_that_nobody_looks_at_any_more_are_left_out():
    """A row with a long past leaves, another joins: the cache is as long as the longest past that is still there."""
    long, short = DecoderCache(0), DecoderCache(0)
    long.place(torch.arange(6)[None], None)
    short.place(torch.arange(2)[None], None)
    joined = long.join(short, (1, 1))
    assert joined.keep.int().tolist() == [[1] * 6, [0, 0, 0, 0, 1, 1]]
    assert joined.next_position().flatten().tolist() == [6, 2]
    left = joined.select(torch.tensor([1]))
    again = left.join(DecoderCache(0), (1, 2))
    assert again.positions.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert again.keep.tolist() == [[True, True], [False, False], [False, False]]
    assert again.next_position().flatten().tolist() == [2, 0, 0]


def test_two_empty_caches_make_an_empty_one():
    joined = DecoderCache(2).join(DecoderCache(2), (1, 3))
    assert joined.positions is None
    assert joined.next_position() == 0
    assert len(joined.self_attn) == len(joined.cross_attn) == 2


def test_projected_sources_of_different_length_are_padded_on_the_right():
    one, other = FixedCache((torch.ones(1, 1, 2, 1),) * 2), FixedCache((torch.ones(2, 1, 3, 1),) * 2)
    keys, values = one.join(other).extend(lambda: pytest.fail("both are projected already"))
    assert keys.flatten(1).tolist() == values.flatten(1).tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]


def test_a_cache_that_is_cut_goes_on_from_there():
    """Keys, positions and masks end together; what was behind the cut leaves no trace."""
    cache, keys = DecoderCache(1), torch.arange(6.0).reshape(1, 1, 6, 1)
    cache.place(torch.arange(6)[None], torch.tensor([[False, True, True, True, True, True]]))
    cache.self_attn[0].extend(lambda: (keys, keys))
    cache.cut(4)
    assert cache.next_position().tolist() == [[4]]
    positions, keep = cache.place(cache.next_position(), None)
    assert positions.tolist() == [[0, 1, 2, 3, 4]]
    assert keep.tolist() == [[False, True, True, True, True]]
    new = torch.full((1, 1, 1, 1), 9.0)
    assert cache.self_attn[0].extend(lambda: (new, new))[0].flatten().tolist() == [0, 1, 2, 3, 9]
    cache.cut(0)
    assert cache.next_position() == 0
    assert cache.positions is None


@torch.no_grad()
@pytest.mark.parametrize("kind", ["relative", "rotary", "alibi"])
def test_what_a_cache_forgets_has_no_influence_and_the_rest_goes_on(kind):
    """Every row as if its forgotten tokens had been masked: some rows first, then all, then more than there is."""
    model, text = specimen("transformer-xl", kind, layers=1), torch.randint(VOCAB, (3, 9))
    cache, plain = model.start_cache(room=4), model.start_cache()
    model(text[:, :6], cache=cache)
    cache.hide(torch.tensor([True, False, True]), 2)
    assert cache.span() == 6
    keep = torch.tensor([[False] * 4 + [True] * 2, [True] * 6, [False] * 4 + [True] * 2])
    said = model(text[:, 6:8], cache=cache)
    for row in range(3):
        seen = text[row, :8][torch.cat((keep[row], torch.tensor([True, True])))]
        close(said[row], model(seen[None])[0, -2:])
    cache.hide(torch.tensor([True, True, True]), 3)
    assert cache.span() == 3
    close(model(text[:, 8:], cache=cache)[:, 0], model(text[:, 5:])[:, -1])
    cache.forget(100)
    plain.forget(3)  # there is nothing yet
    close(model(text, cache=cache), model(text, cache=plain))

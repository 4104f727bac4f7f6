"""Whole models: the future never changes the past, padding changes nothing, packed rows equal separate rows."""

import pytest
import torch

from clearformer.model.config import AttentionConfig, HeadConfig
from clearformer.model.trace import trace
from model.specimens import DIM, KINDS, MELS, READERS, SPEAKERS, VOCAB, WRITERS, close, padded, sentences, specimen

SIDES = [("right", 0), ("right", 3), ("left", 0), ("left", 3), ("anywhere", 3)]


def test_shapes():
    tokens = torch.randint(VOCAB, (2, 5))
    writer, reader, speaker = specimen("transformer"), specimen("bert"), specimen("gpt2")
    assert writer.encode(tokens).states.shape == (2, 5, DIM)
    assert writer(tokens, tokens[:, :3]).shape == (2, 3, VOCAB)
    assert reader(tokens).shape == (2, 5, DIM)
    assert speaker(tokens).shape == (2, 5, VOCAB)


# ---- the future -----------------------------------------------------------------------------------------------------


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [*WRITERS, *SPEAKERS])
def test_the_future_never_changes_the_past(family, kind):
    model, tokens, source = specimen(family, kind), torch.randint(VOCAB, (2, 8)), torch.randint(VOCAB, (2, 5))

    def run(tokens):
        return model(tokens) if family in SPEAKERS else model(source, tokens)

    changed = tokens.clone()
    changed[:, 5:] = (tokens[:, 5:] + 1) % VOCAB
    before, after = run(tokens), run(changed)
    close(after[:, :5], before[:, :5])
    assert (after[:, 5:] - before[:, 5:]).abs().max() > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("family", [*WRITERS, *READERS])
def test_an_encoder_looks_both_ways(family):
    model, tokens = specimen(family), torch.randint(VOCAB, (1, 6))
    changed = tokens.clone()
    changed[:, -1] = (tokens[:, -1] + 1) % VOCAB
    moved = (model.encode(changed).states - model.encode(tokens).states).abs().amax(dim=-1)
    assert (moved > 1e-4).all()


@torch.no_grad()
def test_a_window_forgets_what_lies_behind_it():
    """One layer sees `window` tokens back; two layers, one after the other, see twice as far, and no further."""
    model = specimen("gpt2", "rotary", attention=AttentionConfig(window=2))
    tokens = torch.randint(VOCAB, (1, 9))
    changed = tokens.clone()
    changed[:, 0] = (tokens[:, 0] + 1) % VOCAB
    with trace(model, only=["decoder.layers.*.output"]) as seen:
        model(tokens)
        model(changed)
    for layer, reach in enumerate([2, 4]):
        before, after = seen.history(f"decoder.layers.{layer}.output")
        moved = (after - before).abs().amax(dim=(0, 2)) > 1e-6
        assert moved.tolist() == [slot <= reach for slot in range(9)]


# ---- padding --------------------------------------------------------------------------------------------------------


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [*WRITERS, *READERS, *SPEAKERS])
def test_padding_changes_nothing(family, kind):
    """Each sentence alone, and the same sentences in one batch with junk for padding: left, right or in between."""
    model, sources, rows = specimen(family, kind), sentences(4, 6, 1), sentences(6, 3, 1)
    for side, extra in SIDES:
        tokens, keep = padded(rows, side, extra)
        if family in WRITERS:
            source, source_keep = padded(sources, side, extra)
            logits = model(source, tokens, source_keep=source_keep, target_keep=keep)
            alone = [model(source[None], row[None])[0] for source, row in zip(sources, rows, strict=True)]
        else:
            logits, alone = model(tokens, keep=keep), [model(row[None])[0] for row in rows]
        close(logits[keep], torch.cat(alone), f"{extra} to the {side}")


TASKS = {
    "class of the first token": HeadConfig(kind="class", labels=3, pooler=True),
    "class of the average": HeadConfig(kind="class", labels=3, pool="mean"),
    "tags": HeadConfig(kind="tags", labels=3),
    "answer span": HeadConfig(kind="span"),
    "masked words": HeadConfig(transform=True, bias=True),
}


@torch.no_grad()
@pytest.mark.parametrize("family", READERS)
@pytest.mark.parametrize("task", TASKS)
def test_padding_changes_no_task(family, task):
    """The first token is the first real one, wherever padding put it, and padding is not averaged in."""
    model, rows = specimen(family, head=TASKS[task]), sentences(6, 3, 1)
    for side, extra in SIDES:
        tokens, keep = padded(rows, side, extra)
        answers, alone = model(tokens, keep=keep), torch.cat([model(row[None]).flatten(0, -2) for row in rows])
        close(answers[keep] if answers.dim() == 3 else answers, alone, f"{extra} to the {side}")


@torch.no_grad()
@pytest.mark.parametrize("pool", ["first", "mean"])
def test_padding_changes_no_class_of_a_decoder(pool):
    model, rows = specimen("gpt2", head=HeadConfig(kind="class", labels=3, pool=pool)), sentences(6, 3, 1)
    for side, extra in SIDES:
        tokens, keep = padded(rows, side, extra)
        close(model(tokens, keep=keep), torch.cat([model(row[None]) for row in rows]))


@torch.no_grad()
def test_hidden_patches_change_nothing():
    """A picture has no padding, but patches can be hidden (masked autoencoders): their pixels must not matter."""
    model = specimen("vit")
    pictures, junk = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8, 8)
    keep = torch.tensor([[True, True, False, True, True]] * 2)  # the class token, then four patches
    spoiled = pictures.clone()
    spoiled[:, :, :4, 4:] = junk[:, :, :4, 4:]
    close(model(spoiled, keep=keep), model(pictures, keep=keep))
    assert (model(spoiled) - model(pictures)).abs().max() > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
def test_padding_of_sound_changes_nothing(kind):
    """The convolutions reach over the edge of a recording, so padding must be silenced before each of them. To the left
    only an even number of frames: the second convolution takes every second one."""
    model, tokens = specimen("whisper", kind), torch.randint(VOCAB, (1, 4))
    sounds = [torch.randn(length, MELS) for length in (9, 6, 1)]
    alone = torch.cat([model(sound[None], tokens) for sound in sounds])
    for side, extra in (("right", 0), ("right", 5), ("left", 3)):
        frames, keep = torch.randn(3, 9 + extra, MELS), torch.zeros(3, 9 + extra, dtype=torch.bool)
        for row, sound in enumerate(sounds):
            begin = (9 + extra - len(sound)) // 2 * 2 if side == "left" else 0
            frames[row, begin : begin + len(sound)], keep[row, begin : begin + len(sound)] = sound, True
        close(model(frames, tokens.expand(3, -1), source_keep=keep), alone, f"{extra} to the {side}")


@torch.no_grad()
def test_a_row_of_nothing_but_padding_harms_nobody():
    model = specimen("transformer")
    source, keep = padded(sentences(5, 3), "right")
    keep[1] = False
    logits = model(source, source, source_keep=keep, target_keep=keep)
    assert logits.isfinite().all()
    close(logits[:1], model(source[:1], source[:1]))


# ---- packing --------------------------------------------------------------------------------------------------------


def packed(rows):
    """Rows end to end in one row, with the number of the row each token came from."""
    return torch.cat(rows)[None], torch.cat([torch.full((row.size(0),), i) for i, row in enumerate(rows)])[None]


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", [*WRITERS, *READERS, *SPEAKERS])
def test_packed_rows_equal_separate_rows(family, kind):
    """Positions start anew with each sentence, so that one row of three sentences is three rows."""
    model, rows = specimen(family, kind), sentences(4, 1, 5)
    tokens, segments = packed(rows)
    if family in WRITERS:
        sources = sentences(3, 6, 2)
        source, source_segments = packed(sources)
        logits = model.decode(tokens, model.encode(source, segments=source_segments), segments=segments)
        alone = [model(source[None], row[None])[0] for source, row in zip(sources, rows, strict=True)]
    else:
        logits, alone = model(tokens, segments=segments), [model(row[None])[0] for row in rows]
    close(logits[0], torch.cat(alone))


@torch.no_grad()
def test_packed_rows_may_be_padded_too():
    model, rows = specimen("bert"), sentences(4, 2)
    tokens, segments = packed(rows)
    junk = torch.randint(VOCAB, (1, 3))
    tokens, segments = torch.cat((tokens, junk), dim=1), torch.cat((segments, torch.full_like(junk, 2)), dim=1)
    keep = segments < 2
    close(model(tokens, keep=keep, segments=segments)[0, :6], torch.cat([model(row[None])[0] for row in rows]))


@torch.no_grad()
def test_given_positions_win():
    """Whoever numbers the tokens is believed: the second half of a text can be read where it stands."""
    model, tokens = specimen("bert"), torch.randint(VOCAB, (1, 4))
    there = torch.arange(5, 9)[None]
    assert (model(tokens, positions=there) - model(tokens)).abs().max() > 1e-3
    torch.testing.assert_close(model.encode(tokens, positions=there).states, model(tokens, positions=there))
    writer = specimen("transformer")
    assert (writer.encode(tokens, positions=there).states - writer.encode(tokens).states).abs().max() > 1e-3


# ---- encoder and decoder --------------------------------------------------------------------------------------------


@torch.no_grad()
@pytest.mark.parametrize("family", [*WRITERS, "whisper"])
def test_the_encoder_reaches_every_decoder_layer(family):
    """Each decoder layer attends to the memory itself: with the layer's input held fixed its output still moves."""
    model, tokens = specimen(family), torch.randint(VOCAB, (1, 4))
    source = torch.randn(1, 8, MELS) if family == "whisper" else torch.randint(VOCAB, (1, 8))
    memory = model.encode(source)
    other = memory._replace(states=memory.states + torch.randn_like(memory.states))
    with trace(model, only=["decoder.layers.*.cross_attn.output"]) as seen:
        model.decode(tokens, memory)
        model.decode(tokens, other)
    names = [f"decoder.layers.{layer}.cross_attn.output" for layer in range(len(model.decoder.layers))]
    assert sorted(seen) == names
    for name in names:
        before, after = seen.history(name)
        assert (after - before).abs().max() > 1e-3, name


@torch.no_grad()
def test_order_is_invisible_to_an_encoder_without_positions():
    """Attention sees a set: shuffle the words and the states are shuffled, nothing else."""
    tokens, order = torch.randint(VOCAB, (1, 7)), torch.randperm(7)
    blind = specimen("bert", "none")
    close(blind(tokens[:, order]), blind(tokens)[:, order])
    for kind in KINDS[1:]:
        sighted = specimen("bert", kind)
        assert (sighted(tokens[:, order]) - sighted(tokens)[:, order]).abs().max() > 1e-3, kind


# ---- bad use --------------------------------------------------------------------------------------------------------


def test_segments_and_a_cache_do_not_go_together():
    model, tokens = specimen("gpt2"), torch.randint(VOCAB, (1, 4))
    with pytest.raises(ValueError, match="packed rows are for training: give segments, or a cache, not both"):
        model(tokens, segments=torch.zeros_like(tokens), cache=model.start_cache())


def test_source_and_target_are_packed_together_or_not_at_all():
    model, tokens = specimen("transformer"), torch.randint(VOCAB, (1, 4))
    segments = torch.zeros_like(tokens)
    with pytest.raises(ValueError, match="the target is packed but the source is not"):
        model.decode(tokens, model.encode(tokens), segments=segments)
    with pytest.raises(ValueError, match="the source is packed but the target is not"):
        model.decode(tokens, model.encode(tokens, segments=segments))


def test_a_decoder_that_lacks_its_memory_says_so():
    model = specimen("transformer")
    with pytest.raises(ValueError, match="this decoder attends to an encoder's output, but none was given"):
        model.decoder(torch.randint(VOCAB, (1, 4)))


@pytest.mark.parametrize("family", ["transformer", "bert", "gpt2"])
def test_tokens_and_masks_are_checked_at_the_door(family):
    model, tokens = specimen(family), torch.randint(VOCAB, (2, 4))

    def run(tokens, keep=None):
        if family == "transformer":
            return model(tokens, tokens, source_keep=keep)
        return model(tokens, keep=keep)

    with pytest.raises(ValueError, match=f"token {VOCAB} is outside the vocabulary of {VOCAB} .0 to {VOCAB - 1}."):
        run(tokens.clone().fill_(VOCAB))
    with pytest.raises(ValueError, match="token -1 is outside the vocabulary"):
        run(tokens.clone().fill_(-1))
    with pytest.raises(ValueError, match=r"tokens must be integers, batch × length, but have shape \(4,\)"):
        run(tokens[0])
    with pytest.raises(TypeError, match="keep must be boolean"):
        run(tokens, torch.ones(2, 4))
    with pytest.raises(TypeError, match="keep must be boolean"):
        run(tokens, torch.ones(2, 4, dtype=torch.long))
    with pytest.raises(ValueError, match=r"keep has shape \(2, 3\), but the input is \(2, 4\)"):
        run(tokens, torch.ones(2, 3, dtype=torch.bool))


@pytest.mark.parametrize("family", ["bart", "bert", "gpt2", "whisper"])
def test_a_sequence_past_the_limit_names_the_limit(family):
    model, tokens = specimen(family), torch.zeros(1, 25, dtype=torch.long)
    inputs = {"whisper": (torch.randn(1, 8, MELS), tokens), "bart": (tokens, tokens)}.get(family, (tokens,))
    with pytest.raises(ValueError, match="the input is 25 tokens long, but this model learned only 24 positions"):
        model(*inputs)


def test_padding_does_not_count_towards_the_limit():
    """25 slots with 24 tokens in them fit a table of 24."""
    model = specimen("gpt2")
    tokens, keep = padded(sentences(24), "anywhere", extra=9)
    assert model(tokens, keep=keep).shape == (1, 33, VOCAB)

"""A row's numbers are its own: company, order and padding do not change a bit of them."""

import random

import pytest
import torch

from clearformer.inference.steppers import SLOT_BLOCK, FastStepper, Seq2SeqStepper, pad_sources, stepper_for
from clearformer.model.build import build
from clearformer.model.families import transformer
from model.specimens import configured

PAD, BOS, EOS = 0, 1, 2
LENGTHS = (1, 2, 5, 15, 16, 17, 33)
STEPS = 5


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def sentences(vocabulary, count=24):
    generator = random.Random(7)

    def words(length):
        return [generator.randrange(4, vocabulary) for _ in range(length)]

    return [[*words(generator.choice(LENGTHS)), EOS] for _ in range(count)], [words(STEPS) for _ in range(count)]


def logits_of(stepper, sources, targets):
    """The logits of each row after each of its given tokens: rows × steps × vocabulary."""
    tokens, state = stepper.start(pad_sources(sources, PAD))
    rows = list(range(len(sources)))
    found = [[] for _ in rows]
    for step in range(STEPS):
        logits, state = stepper.step(tokens, state)
        for place, row in enumerate(rows):
            found[row].append(logits[place])
        tokens = torch.tensor([targets[row][step] for row in rows])
    return torch.stack([torch.stack(steps) for steps in found])


def readable(model):
    return Seq2SeqStepper(model, bos=BOS)


def swift(model):
    stepper = stepper_for(model, bos=BOS)
    assert isinstance(stepper, FastStepper)
    return stepper


def rows_that_differ(model, vocabulary, sizes=(2, 7, 24), make=readable):
    """Batch sizes with the rows whose logits are not those of the sentence alone, in shuffled order."""
    stepper = make(model)
    sources, targets = sentences(vocabulary)
    alone = [logits_of(stepper, [source], [target])[0] for source, target in zip(sources, targets, strict=True)]
    generator, different, worst = random.Random(8), [], 0.0
    for size in sizes:
        order = generator.sample(range(len(sources)), len(sources))
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            batch = logits_of(stepper, [sources[row] for row in rows], [targets[row] for row in rows])
            for row, logits in zip(rows, batch, strict=True):
                if not torch.equal(logits, alone[row]):
                    different.append((size, row))
                    worst = max(worst, (logits - alone[row]).abs().max().item())
    return different, worst


@pytest.mark.parametrize(("dim", "hidden", "vocabulary"), [(128, 256, 1003), (256, 1024, 500), (512, 2048, 301)])
@pytest.mark.parametrize("make", [readable, swift])
def test_a_transformer_gives_a_row_the_same_bits_in_any_batch(threads, dim, hidden, vocabulary, make):
    model = build(transformer(vocab_size=vocabulary, dim=dim, hidden_dim=hidden, layers=1, heads=4)).eval()
    assert rows_that_differ(model, vocabulary, make=make)[0] == []


@pytest.mark.parametrize("kind", ["rotary", "alibi", "shaw", "buckets", "learned", "none"])
def test_whatever_shows_it_the_order(threads, kind):
    model = build(configured("transformer", kind, max_len=64, dim=64, heads=2)).eval()
    assert rows_that_differ(model, 29, sizes=(3, 16))[0] == []


@pytest.mark.parametrize("family", ["marian", "bart", "t5"])
def test_and_whatever_family_it_is_of(threads, family):
    model = build(configured(family, max_len=64, dim=64, heads=2)).eval()
    assert rows_that_differ(model, 29, sizes=(3, 16))[0] == []


@pytest.mark.parametrize(
    ("family", "kind", "heads"),
    [("lstm", None, 2), ("convolution", None, 2), ("transformer", "relative", 2), ("transformer", None, 16)],
)
def test_the_others_stay_within_rounding(family, kind, heads):
    """Packed sequences, convolutions and shifted scores have shapes that depend on the company; narrow heads are small
    enough for another kernel when the company is short."""
    model = build(configured(family, kind, max_len=64, dim=64, heads=heads)).eval()
    assert rows_that_differ(model, 29, sizes=(3, 16))[1] < 1e-5


@pytest.mark.parametrize("make", [readable, swift])
def test_selecting_rows_is_decoding_them(make):
    """Rows dropped, repeated and reordered between steps go on as if they had always stood there."""
    model = build(configured("transformer", max_len=64)).eval()
    stepper = make(model)
    sources, targets = sentences(29, count=6)
    rows = [4, 1, 1, 5, 0, 2, 3, 3, 4]
    expected = logits_of(stepper, [sources[row] for row in rows], [targets[row] for row in rows])
    tokens, state = stepper.start(pad_sources(sources, PAD))
    _, state = stepper.step(tokens, state)
    state = state.select(torch.tensor(rows))
    logits, state = stepper.step(torch.tensor([targets[row][0] for row in rows]), state)
    assert torch.equal(logits, expected[:, 1])


@pytest.mark.parametrize("make", [readable, swift])
def test_a_step_is_the_full_pass_up_to_there(make):
    model = build(configured("transformer", max_len=64)).eval()
    sources, targets = sentences(29, count=5)
    padded = pad_sources(sources, PAD)
    given = torch.tensor([[BOS, *target[:-1]] for target in targets])
    with torch.no_grad():
        whole = model(padded.tokens, given, source_keep=padded.keep)
    stepped = logits_of(make(model), sources, targets)
    torch.testing.assert_close(stepped, whole, rtol=0, atol=1e-5)


def test_a_model_that_learned_since_is_captured_again():
    model = build(configured("transformer", max_len=64)).eval()
    stepper = swift(model)
    sources, targets = sentences(29, count=3)
    before = logits_of(stepper, sources, targets)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1)
    after = logits_of(stepper, sources, targets)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, logits_of(readable(model), sources, targets), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["rotary", "alibi", "shaw", "buckets", "relative"])
def test_what_cannot_be_written_out_is_read(kind):
    assert isinstance(stepper_for(build(configured("transformer", kind)), bos=BOS), Seq2SeqStepper)


def test_sources_are_padded_to_whole_blocks():
    source = pad_sources([[5, 6, EOS], [7, EOS]], PAD)
    assert source.tokens.shape == (2, SLOT_BLOCK)
    assert source.tokens[1].tolist() == [7, EOS] + [PAD] * (SLOT_BLOCK - 2)
    assert source.keep.sum(dim=1).tolist() == [3, 2]
    assert pad_sources([[5] * SLOT_BLOCK], PAD).tokens.size(1) == SLOT_BLOCK

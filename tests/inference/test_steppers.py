"""A row's numbers are its own: company, order and padding do not change a bit of them."""

import random
from collections import deque

import pytest
import torch

from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.inference.causal_network import CausalNetwork
from clearformer.inference.decoder_stepper import DecoderStepper
from clearformer.inference.steppers import SLOT_BLOCK, FastStepper, Seq2SeqStepper, pad_sources, stepper_for
from clearformer.model.build import build
from clearformer.model.families import transformer
from model.specimens import KINDS, configured

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


def fast(model):
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
@pytest.mark.parametrize("make", [readable, fast])
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


@pytest.mark.parametrize("make", [readable, fast])
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


@pytest.mark.parametrize("make", [readable, fast])
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
    stepper = fast(model)
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


class UnderWay:
    """Rows that are fed given tokens; collects the logits of each."""

    def __init__(self, stepper, sources, targets):
        self.stepper, self.left = stepper, [deque(target) for target in targets]
        given = sources if isinstance(stepper, DecoderStepper) else pad_sources(sources, PAD)
        self.tokens, self.state = stepper.start(given)
        self.logits = [[] for _ in sources]

    def run(self, steps):
        for _ in range(steps):
            logits, self.state = self.stepper.step(self.tokens, self.state)
            for own, new in zip(self.logits, logits, strict=True):
                own.append(new)
            self.tokens = torch.tensor([left.popleft() for left in self.left])
        return self

    def join(self, other):
        self.state, self.tokens = self.state.join(other.state), torch.cat((self.tokens, other.tokens))
        self.logits += other.logits
        self.left += other.left
        return self


def alone(stepper, sources, targets, steps=STEPS):
    """The logits of each row without company: rows × steps × vocabulary."""
    rows = zip(sources, targets, strict=True)
    return [torch.stack(UnderWay(stepper, [source], [target]).run(steps).logits[0]) for source, target in rows]


def largest_difference(under_way, expected):
    pairs = zip(under_way.logits, expected, strict=True)
    return [(torch.stack(found) - wanted[: len(found)]).abs().max().item() for found, wanted in pairs]


MODELS = [
    *[(family, kind) for family in ("transformer", "gpt2") for kind in KINDS],
    *[(family, None) for family in ("whisper-like", "marian", "bart", "t5", "lstm", "convolution", "llama")],
]


def joining(family, kind=None, **choices):
    """A stepper for the family: encoder–decoders by the readable path, decoders alone by theirs."""
    torch.manual_seed(3)
    if family == "whisper-like":  # one scheme for the source, another for the target
        scheme = configured("whisper").decoder_position
        model = build(configured("transformer", max_len=64, decoder_position=scheme, **choices)).eval()
    else:
        model = build(configured(family, kind, max_len=64, **choices)).eval()
    return DecoderStepper(CausalNetwork(model)) if family in ("gpt2", "llama") else readable(model)


@pytest.mark.parametrize(("family", "kind"), MODELS)
@pytest.mark.parametrize(("head_start", "late_start"), [(1, 0), (3, 0), (0, 0), (3, 1), (1, 3)])
def test_rows_that_join_change_nothing_for_anybody(family, kind, head_start, late_start):
    """Rows under way for some steps, others join that have taken fewer, as many or more: each goes on as if alone."""
    stepper = joining(family, kind)
    sources, targets = sentences(29, count=5)
    expected = alone(stepper, sources, targets)
    early = UnderWay(stepper, sources[:3], targets[:3]).run(head_start)
    late = UnderWay(stepper, sources[3:], targets[3:]).run(late_start)
    together = early.join(late).run(STEPS - max(head_start, late_start))
    assert max(largest_difference(together, expected)) < 1e-5


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "alibi", "buckets"])
def test_those_under_way_keep_every_bit_when_a_shorter_past_joins(threads, kind):
    """Their keys stay where they are. The newcomer's stand behind padding, which moves its sums by a rounding."""
    stepper = joining("transformer", kind, dim=64, heads=2)
    sources, targets = sentences(29, count=5)
    expected = alone(stepper, sources, targets)
    together = UnderWay(stepper, sources[:3], targets[:3]).run(2).join(UnderWay(stepper, sources[3:], targets[3:]))
    assert largest_difference(together.run(3), expected)[:3] == [0, 0, 0]


@pytest.mark.parametrize("family", ["transformer", "gpt2", "lstm", "convolution"])
def test_rows_join_again_and_again_while_others_leave(family):
    """The past does not grow with those who left: no slot is kept that nobody looks at."""
    stepper = joining(family)
    sources, targets = sentences(29, count=8)
    expected = alone(stepper, sources, targets)
    under_way, present = UnderWay(stepper, sources[:2], targets[:2]).run(2), [0, 1]
    for newcomer in range(2, 8):
        under_way.join(UnderWay(stepper, [sources[newcomer]], [targets[newcomer]]))
        under_way.run(1)
        present = [*present, newcomer][1:]  # the oldest leaves
        under_way.state, under_way.tokens = under_way.state.select(torch.arange(1, 3)), under_way.tokens[1:]
        under_way.logits, under_way.left = under_way.logits[1:], under_way.left[1:]
    assert max(largest_difference(under_way, [expected[row] for row in present])) < 1e-5
    if family == "transformer":
        assert under_way.state.cache.positions.size(1) <= 3


def serve(stepper, requests, *, room, lengths):
    """Greedy decoding of a queue: whenever a row ends, the next request takes its place. Returns tokens by request."""
    waiting, said = deque(enumerate(requests)), [[] for _ in requests]
    rows, tokens, state = [], None, None
    while waiting or rows:
        while waiting and len(rows) < room:
            number, request = waiting.popleft()
            first, new = stepper.start(request)
            state, tokens = (new, first) if not rows else (state.join(new), torch.cat((tokens, first)))
            rows.append(number)
        logits, state = stepper.step(tokens, state)
        tokens = logits.argmax(-1)
        for row, token in zip(rows, tokens.tolist(), strict=True):
            said[row].append(token)
        going_on = [place for place, row in enumerate(rows) if said[row][-1] != EOS and len(said[row]) < lengths[row]]
        if len(going_on) < len(rows):
            chosen = torch.tensor(going_on, dtype=torch.int64)
            rows, tokens = [rows[place] for place in going_on], tokens[chosen]
            state = state.select(chosen) if going_on else None
    return said


@pytest.mark.parametrize(
    ("family", "kind"), [("transformer", None), ("t5", None), ("gpt2", "rotary"), ("gpt2", "alibi")]
)
def test_a_queue_is_served_as_if_each_request_were_alone(family, kind):
    stepper = joining(family, kind)
    sources, _ = sentences(29, count=12)
    requests = [[source] if isinstance(stepper, DecoderStepper) else pad_sources([source], PAD) for source in sources]
    lengths = [3, 9, 5, 1, 7, 2, 9, 4, 6, 9, 2, 8]
    said = serve(stepper, requests, room=3, lengths=lengths)
    for request, tokens, length in zip(requests, said, lengths, strict=True):
        (expected,) = greedy(stepper, request, rules=Rules(eos=EOS), max_len=length)
        assert tuple(token for token in tokens if token != EOS) == expected.tokens


def test_the_fast_path_says_that_nobody_can_join():
    stepper = fast(build(configured("transformer", max_len=64)).eval())
    (_, one), (_, other) = (stepper.start(pad_sources([[5, EOS]], PAD)) for _ in range(2))
    with pytest.raises(ValueError, match="no row can join later; use Seq2SeqStepper"):
        one.join(other)

"""Two real little models behind the protocol, and the promise that decoders use every state once."""

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import sample
from decoding.steppers import EOS, TableModel

RULES = Rules(eos=EOS)
VOCAB, DIM, MAX_LEN = 11, 8, 9


@dataclass
class LstmState:
    hidden: torch.Tensor
    cell: torch.Tensor

    def select(self, rows):
        return LstmState(self.hidden[rows], self.cell[rows])


class Lstm(nn.Module):
    """A recurrent decoder whose first state is its source."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.cell = nn.LSTMCell(DIM, DIM)
        self.out = nn.Linear(DIM, VOCAB)

    def start(self, source):
        return torch.ones(len(source), dtype=torch.int64), LstmState(source, torch.zeros_like(source))

    def step(self, tokens, state):
        state = LstmState(*self.cell(self.embed(tokens), (state.hidden, state.cell)))
        return self.out(state.hidden), state


@dataclass
class CacheState:
    """Preallocated keys and values, written in place: R max D."""

    memory: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    length: int

    def select(self, rows):
        return CacheState(self.memory[rows], self.keys[rows], self.values[rows], self.length)


class CachedAttention(nn.Module):
    """One causal attention layer over a cache that never grows."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.positions = nn.Embedding(MAX_LEN + 1, DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, VOCAB)

    def start(self, source):
        empty = torch.full((len(source), MAX_LEN + 1, DIM), torch.nan)
        return torch.ones(len(source), dtype=torch.int64), CacheState(source, empty, empty.clone(), 0)

    def step(self, tokens, state):
        here = state.length
        x = self.embed(tokens) + self.positions.weight[here] + state.memory
        q, state.keys[:, here], state.values[:, here] = self.qkv(x).chunk(3, dim=-1)
        keys, values = state.keys[:, : here + 1], state.values[:, : here + 1]
        weights = (keys @ q.unsqueeze(-1) / DIM**0.5).softmax(dim=1)
        state.length += 1
        return self.out(x + (weights * values).sum(1)), state


def make(model):
    torch.manual_seed(5)
    model = model()
    for weight in model.parameters():
        weight.data.mul_(2)
    model.out.bias.data[EOS] += 1
    return model


@pytest.mark.parametrize("family", [Lstm, CachedAttention])
def test_a_model_behind_the_protocol_is_scored_as_a_whole_sequence(family):
    """Stepping with caches, forks and dropped rows gives each token the probability that a fresh run gives it."""
    model, source = make(family), torch.randn(6, DIM, generator=torch.Generator().manual_seed(2))
    results = beam_search(model, source, rules=RULES, config=BeamConfig(beam=4, nbest=4), max_len=MAX_LEN)
    assert len({len(h.tokens) for nbest in results for h in nbest}) > 1  # rows do leave at different times
    for row, nbest in enumerate(results):
        for h in nbest:
            forced = [h.tokens]
            (alone,) = greedy(model, source[row : row + 1], rules=RULES, max_len=MAX_LEN, prefixes=forced)
            assert alone.tokens[: len(h.tokens)] == h.tokens
            assert alone.token_log_probs[: len(h.tokens)] == pytest.approx(h.token_log_probs[: len(h.tokens)], abs=1e-5)


@pytest.mark.parametrize("family", [Lstm, CachedAttention])
def test_real_models_give_the_same_tokens_in_any_company(family):
    model, source = make(family), torch.randn(9, DIM, generator=torch.Generator().manual_seed(3))
    config = BeamConfig(beam=3, nbest=3)
    lengths = [3, 9, 5, 7, 1, 9, 9, 2, 4]
    order = [4, 1, 7, 0, 8, 2, 6, 5, 3]
    beam = beam_search(model, source, rules=RULES, config=config, max_len=lengths)
    line = greedy(model, source, rules=RULES, max_len=lengths)
    shuffled = beam_search(model, source[order], rules=RULES, config=config, max_len=[lengths[i] for i in order])
    for place, row in enumerate(order):
        one, length = source[row : row + 1], lengths[row]
        (alone,) = beam_search(model, one, rules=RULES, config=config, max_len=length)
        for other in (alone, shuffled[place]):
            assert [h.tokens for h in other] == [h.tokens for h in beam[row]]
            assert [h.score for h in other] == pytest.approx([h.score for h in beam[row]], rel=1e-5)
        assert greedy(model, one, rules=RULES, max_len=length)[0].tokens == line[row].tokens


@pytest.mark.parametrize("decode", ["greedy", "sample", "beam"])
def test_a_state_is_never_used_twice(decode):
    """So that caches may be written in place and their memory reused."""

    class Once:
        def __init__(self, inner):
            self.inner, self.used = inner, False

        def take(self):
            assert not self.used
            self.used = True
            return self.inner

        def select(self, rows):
            return Once(self.take().select(rows))

    class Strict(TableModel):
        def start(self, source):
            tokens, state = super().start(source)
            return tokens, Once(state)

        def step(self, tokens, state):
            logits, after = super().step(tokens, state.take())
            return logits, Once(after)

    model, options = Strict(), {"rules": RULES, "max_len": [2, 6, 5, 6]}
    if decode == "greedy":
        greedy(model, range(4), **options)
    elif decode == "sample":
        sample(model, range(4), seeds=range(4), **options)
    else:
        beam_search(model, range(4), config=BeamConfig(), **options)

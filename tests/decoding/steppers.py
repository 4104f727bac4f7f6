"""Small exact models for the decoding tests, and slow searches that are right because they are simple."""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import torch

EOS = 0
BOS = 1


@lru_cache(maxsize=200_000)
def table_logits(vocab, eos_bias, grid, source, prefix):
    """Logits that depend on the source and on every token so far, and on nothing else."""
    generator = torch.Generator().manual_seed(hash((source, prefix)) % 2**63)
    logits = torch.randn(vocab, generator=generator) * 1.5
    logits[EOS] += eos_bias
    return (logits / grid).round() * grid if grid else logits


@dataclass
class TableState:
    rows: list  # (source, tokens fed so far)

    def select(self, rows):
        return TableState([self.rows[row] for row in rows.tolist()])

    def join(self, other):
        return TableState(self.rows + other.rows)


@dataclass(frozen=True)
class TableModel:
    """A source is an integer. `grid` rounds the logits, so that many of them are exactly equal."""

    vocab: int = 5
    eos_bias: float = 0.0
    grid: float = 0.0

    def start(self, source):
        return torch.full((len(source),), BOS), TableState([(number, ()) for number in source])

    def step(self, tokens, state):
        assert tokens.shape == (len(state.rows),)
        assert tokens.dtype == torch.int64
        rows = [(source, (*fed, token)) for (source, fed), token in zip(state.rows, tokens.tolist(), strict=True)]
        logits = [table_logits(self.vocab, self.eos_bias, self.grid, source, fed) for source, fed in rows]
        return torch.stack(logits), TableState(rows)

    def log_probs(self, source, tokens):
        """The next token's log-probabilities after these tokens, as plain numbers."""
        logits = table_logits(self.vocab, self.eos_bias, self.grid, source, (BOS, *tokens))
        return logits.log_softmax(-1).tolist()


def all_hypotheses(model, source, max_len, force_eos):
    """Every sequence there is, as (tokens, token log-probabilities)."""
    words = [token for token in range(model.vocab) if token != EOS]
    for length in range(max_len + 1):
        for tokens in itertools.product(words, repeat=length):
            scored = [model.log_probs(source, tokens[:i])[token] for i, token in enumerate(tokens)]
            if force_eos or length < max_len:
                yield tokens, (*scored, model.log_probs(source, tokens)[EOS])
            else:
                yield tokens, tuple(scored)


def score(tokens, token_log_probs, penalty):
    divisor = penalty.divisor(len(token_log_probs), ended=len(token_log_probs) > len(tokens))
    return sum(token_log_probs) / divisor if divisor else -math.inf


def plain_beam_search(model, source, *, beam, nbest, max_len, penalty, done, force_eos, first_come=False):
    """One sentence, lists and loops: the description at the top of `beam.py` written down a second time.

    `done(finished, running, length, top_ended)` is asked after every step. Returns [(tokens, token_log_probs, score)].
    """
    running = [((), ())]
    finished = []
    top_ended = False
    for step in range(max_len + 1):
        offers = []
        for slot, (tokens, scored) in enumerate(running):
            for token, value in enumerate(model.log_probs(source, tokens)):
                if force_eos and step == max_len and token != EOS:
                    continue
                offers.append((-sum(scored) - value, token, slot, (*scored, value)))
        offers.sort(key=lambda offer: offer[:3])
        going_on = []
        for rank, (_, token, slot, scored) in enumerate(offers):
            cut_off = not force_eos and step + 1 == max_len
            tokens = running[slot][0] if token == EOS else (*running[slot][0], token)
            if token != EOS and not cut_off:
                going_on.append((tokens, scored))
            elif rank < beam and not (first_come and len(finished) == beam):
                finished.append((tokens, scored, score(tokens, scored, penalty)))
                top_ended |= rank == 0
        running = going_on[:beam]
        finished_best_first = sorted(finished, key=lambda found: -found[2])
        if not running or done(finished_best_first, sum(running[0][1]), step + 1, top_ended):
            break
    return finished_best_first[:nbest]

"""Beam search over a batch: the K likeliest beginnings of every sentence, grown one token at a time.

A step of one sentence: every hypothesis in the beam offers its likeliest continuations; all offers are ranked by total
log-probability (ties by lower token id, then by lower slot in the beam); those among the first K that end are
finished; the first K that do not end are the next beam. Finished hypotheses compete by penalised score. fairseq,
Hugging Face and CTranslate2 all work like this; they differ in penalty, stop rule and what happens at the maximum
length (`dialects`).

The device does the heavy part (model, log-softmax, top-k over the vocabulary). The book-keeping is a few numbers per
hypothesis, done on the CPU in float64 as tensor operations over all sentences at once.

Shape letters: N sentences still being searched, W hypotheses in each beam, K the most of them, C candidates of a
sentence, V vocabulary. The model sees N * W rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.candidates import Beam, Candidates, rank
from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.length_limits import LengthLimits
from clearformer.decoding.penalty import Gnmt, LengthPenalty, penalised
from clearformer.decoding.protocol import S, Stepper
from clearformer.decoding.ranking import choose
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import FullBeam, Proved, Standing, StopRule
from clearformer.decoding.stream import impossible, next_log_probs
from clearformer.decoding.tree import TreeRecorder
from clearformer.decoding.tree_recording import Step


@dataclass(frozen=True, kw_only=True)
class BeamConfig:
    """How to search. The defaults are those of Vaswani et al. (2017), with a stop rule that loses nothing."""

    beam: int = 4
    nbest: int = 1
    penalty: LengthPenalty = field(default_factory=Gnmt)
    stop: StopRule = field(default_factory=Proved)
    # At the maximum length: make the hypothesis end and count the end token's log-probability, or cut it off uncounted.
    # If it is cut off, a model that repeats itself forever wins, because a loop costs almost nothing per token.
    force_eos: bool = True
    first_come: bool = False  # keep the first K hypotheses that finish, not every one

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError(f"beam is {self.beam}; it must be at least 1")
        if not 1 <= self.nbest <= self.beam:
            raise ValueError(f"nbest is {self.nbest}; it must be between 1 and the beam width {self.beam}")


@torch.inference_mode()
def beam_search(
    stepper: Stepper[S],
    source: Any,
    *,
    rules: Rules,
    config: BeamConfig,
    max_len: int | Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    recorder: TreeRecorder | None = None,
) -> list[list[Hypothesis]]:
    """The n best hypotheses of every sentence, best first; fewer only where fewer exist.

    `max_len` counts tokens without the end token, for all sentences or one number each; `recorder` records the search
    tree; without one that costs nothing.
    """
    tokens, state = stepper.start(source)
    device = tokens.device
    limits = LengthLimits.of(len(tokens), rules, max_len, prefixes)
    finished = _Finished(config, limits)
    beam = Beam.start(len(tokens))
    if recorder is not None:
        recorder.begin(len(tokens))
    while len(beam.sentences):
        logits, state = stepper.step(tokens, state)
        recording = None if recorder is None else Step(recorder, beam, rules, _divisors(config, beam.step + 1))
        candidates = _offers(logits, beam, rules, limits, config, recording)
        ends = candidates.tokens == rules.eos
        if not config.force_eos:
            ends |= (limits.max_len[beam.sentences] == beam.step + 1).unsqueeze(1)
        accepted = finished.add(beam, candidates, ends, rules.eos)
        # W hypotheses have W * (V - 1) continuations that do not end, which may be fewer than K in the first steps.
        kept = ends.int().sort(dim=1, stable=True).indices[:, : min(config.beam, beam.width * (logits.size(-1) - 1))]
        grown = beam.grow(candidates, kept, ends)
        settled = finished.settled(grown)
        if recording is not None:
            recording.record_candidates(candidates, ends, accepted, kept, config.beam)
            recording.record_stops(settled, finished.rule.verdict)

        parents = candidates.slots.gather(1, kept)
        parents += torch.arange(len(parents)).unsqueeze(1) * beam.width
        beam = grown
        if bool(settled.any()):
            places = close_ranks(~settled)
            parents, beam = parents[places], grown.select(places)
        rows = parents.flatten().to(device)
        if len(rows) and not torch.equal(rows, torch.arange(len(tokens), device=device)):
            state = state.select(rows)
        tokens = beam.tokens[:, :, -1].flatten().to(device)
    return finished.nbest()


def _offers(
    logits: Tensor, beam: Beam, rules: Rules, limits: LengthLimits, config: BeamConfig, recording: Step | None
) -> Candidates:
    """The likeliest continuations that the rules and limits allow, ranked within each sentence. logits: N·W V."""
    if beam.step == 0:
        rules.check_vocabulary(logits.size(-1))
        limits.check_vocabulary(logits.size(-1))
    forced = limits.forced(beam.sentences, beam.step, end=rules.eos if config.force_eos else None)
    log_probs = next_log_probs(logits, beam.step)
    untouched = None if recording is None else log_probs.clone()
    each = None if forced is None else forced.repeat_interleave(beam.width)
    allowed = rules.forbid(log_probs, beam.tokens.flatten(0, 1), each)
    if recording is not None and untouched is not None:
        recording.record_bans(untouched, allowed, forced, config.beam)
    # The next beam takes K candidates at most, and each hypothesis has one that ends: K + 1 of its offers suffice.
    return rank(beam, *choose(allowed, config.beam + 1))


def _divisors(config: BeamConfig, length: int) -> tuple[float, float]:
    """What the length penalty divides by, for a candidate that ends with the end token and for any other."""
    return config.penalty.divisor(length, ended=True), config.penalty.divisor(length, ended=False)


def close_ranks(going_on: Tensor) -> Tensor:
    """Which sentence takes each place after some have left: the last ones fill the gaps, the others stay.

    So a model has little to copy. going_on: N, boolean; returns one place for each sentence that continues.
    """
    left = going_on.nonzero().squeeze(1)
    places = torch.arange(len(left))
    places[~going_on[: len(left)]] = left[left >= len(left)]
    return places


class _Finished:
    """The finished hypotheses of every sentence of the batch and the figures that stop rules use."""

    def __init__(self, config: BeamConfig, limits: LengthLimits) -> None:
        self._config = config
        # A beam of one is greedy decoding: its only path has ended when it ends. Without this rule a length
        # penalty would make it continue with its second choice.
        self.rule: StopRule = config.stop if config.beam > 1 else FullBeam()
        sentences = len(limits.max_len)
        self._hypotheses: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        self._scores = torch.full((sentences, config.beam), -torch.inf, dtype=torch.float64)
        self._count = torch.zeros(sentences, dtype=torch.int64)
        self._top_ended = torch.zeros(sentences, dtype=torch.bool)
        longest = (limits.max_len + int(config.force_eos)).tolist()
        self._last_divisor = torch.tensor(
            [max(config.penalty.divisor(last, ended=ended) for ended in (True, False)) for last in longest],
            dtype=torch.float64,
        )

    def add(self, beam: Beam, candidates: Candidates, ends: Tensor, eos: int) -> Tensor:
        """Add the candidates that end here; returns which ones (N C)."""
        width, where = self._config.beam, beam.sentences
        accepted = ends & (candidates.totals > -torch.inf)
        accepted[:, width:] = False
        if self._config.first_come:
            accepted &= accepted.cumsum(1) <= (width - self._count[where]).unsqueeze(1)
        if not bool(accepted.any()):
            return accepted
        at_end, cut_off = (self._config.penalty.divisor(beam.step + 1, ended=ended) for ended in (True, False))
        totals, is_eos = candidates.totals, candidates.tokens == eos
        scores = torch.where(is_eos, penalised(totals, at_end), penalised(totals, cut_off))
        new = scores.masked_fill(~accepted, -torch.inf)[:, :width]
        self._scores[where] = torch.cat([self._scores[where], new], 1).sort(1, descending=True).values[:, :width]
        self._count[where] += accepted.sum(1)
        self._top_ended[where] |= accepted[:, 0]
        places, ranks = accepted.nonzero().unbind(1)
        slots = candidates.slots[places, ranks]
        for sentence, said, log_probs, token, log_prob, total, score in zip(
            where[places].tolist(),
            beam.tokens[places, slots].tolist(),
            beam.token_log_probs[places, slots].tolist(),
            candidates.tokens[places, ranks].tolist(),
            candidates.log_probs[places, ranks].tolist(),
            totals[places, ranks].tolist(),
            scores[places, ranks].tolist(),
            strict=True,
        ):
            hypothesis = Hypothesis(
                tokens=tuple(said if token == eos else [*said, token]),
                log_prob=total,
                score=score,
                token_log_probs=(*log_probs, log_prob),
            )
            self._hypotheses[sentence].append(hypothesis)
        return accepted

    def settled(self, beam: Beam) -> Tensor:
        """Which sentences need no further step: boolean, N."""
        where, best_running = beam.sentences, beam.totals[:, 0]
        standing = Standing(
            best_running=best_running,
            finished_scores=self._scores[where],
            finished_count=self._count[where],
            top_ended=self._top_ended[where],
            scored=beam.step,
            last_divisor=self._last_divisor[where],
            nbest=self._config.nbest,
            penalty=self._config.penalty,
        )
        return self.rule.settled(standing) | (best_running == -torch.inf)

    def nbest(self) -> list[list[Hypothesis]]:
        """Best score first; ties stay in the order in which they finished."""
        for sentence, found in enumerate(self._hypotheses):
            if not found:
                raise ValueError(impossible(sentence))
            found.sort(key=lambda hypothesis: hypothesis.score, reverse=True)
        return [found[: self._config.nbest] for found in self._hypotheses]

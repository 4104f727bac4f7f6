"""Record in the trees what one step of the beam search did. Runs only on request, so it is simple, not fast.

Shape letters: N sentences, W hypotheses in each beam, C ranked candidates of a sentence, V vocabulary.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.decoding.candidates import Beam, Candidates
from clearformer.decoding.ranking import top
from clearformer.decoding.rules import FREE, Rules
from clearformer.decoding.tree import NOBODY, Fate, TreeRecorder


@dataclass(frozen=True)
class Step:
    """The step that `beam` is taking; `divisors` are those of a candidate that ends with eos and of any other."""

    recorder: TreeRecorder
    beam: Beam
    rules: Rules
    divisors: tuple[float, float]

    def record_bans(self, log_probs: Tensor, allowed: Tensor, forced: Tensor | None, width: int) -> None:
        """What a rule removed (allowed: R V, -inf there) of the continuations that the search would have ranked."""
        raw, tokens = top(log_probs, width + 1)
        banned = (allowed.gather(-1, tokens) == -torch.inf) & (raw > -torch.inf)
        alive = (self.beam.totals > -torch.inf).flatten().to(banned.device)
        for row, offer in (banned & alive.unsqueeze(1)).nonzero().tolist():
            place, slot = divmod(row, self.beam.width)
            token = int(tokens[row, offer])
            fate = self._why(token, FREE if forced is None else int(forced[place]))
            self._add(place, slot, token, float(raw[row, offer]), fate)

    def record_candidates(
        self, candidates: Candidates, ends: Tensor, accepted: Tensor, kept: Tensor, width: int
    ) -> None:
        """Every ranked candidate with its fate; those kept become the sentence's next beam (kept: N W', ranks)."""
        for place, sentence in enumerate(self.beam.sentences.tolist()):
            slot_of_rank = {rank: slot for slot, rank in enumerate(kept[place].tolist())}
            next_beam = [NOBODY] * len(slot_of_rank)
            ranked = zip(
                candidates.totals[place].tolist(),
                candidates.slots[place].tolist(),
                candidates.tokens[place].tolist(),
                candidates.log_probs[place].tolist(),
                ends[place].tolist(),
                accepted[place].tolist(),
                strict=True,
            )
            for rank, (total, slot, token, log_prob, ends_here, finishes) in enumerate(ranked):
                if total == -torch.inf:
                    continue
                if ends_here:
                    in_beam = Fate.FINISHED if finishes else Fate.FINISHED_FULL
                    fate = in_beam if rank < width else Fate.END_OUTSIDE_BEAM
                else:
                    fate = Fate.KEPT if rank in slot_of_rank else Fate.OUTSIDE_BEAM
                node = self._add(place, slot, token, log_prob, fate)
                if fate is Fate.KEPT:
                    next_beam[slot_of_rank[rank]] = node
            self.recorder.keep(sentence, next_beam)

    def record_stops(self, settled: Tensor, verdict: Fate) -> None:
        """What is left in the beam of a settled sentence (N) is not extended."""
        for sentence in self.beam.sentences[settled].tolist():
            self.recorder.stop(sentence, verdict)

    def _add(self, place: int, slot: int, token: int, log_prob: float, fate: Fate) -> int:
        sentence = int(self.beam.sentences[place])
        at_end, otherwise = self.divisors
        divisor = at_end if token == self.rules.eos else otherwise
        return self.recorder.add(sentence, slot, token, log_prob, divisor, fate)

    def _why(self, token: int, forced: int) -> Fate:
        """The first rule, in order of precedence, that forbids this token here."""
        if forced == self.rules.eos:
            return Fate.BANNED_MAX_LEN
        if forced != FREE:
            return Fate.BANNED_PREFIX
        if token in self.rules.banned:
            return Fate.BANNED_TOKEN
        return Fate.BANNED_MIN_LEN if token == self.rules.eos else Fate.BANNED_REPEAT

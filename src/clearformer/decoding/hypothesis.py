"""One decoded sequence with everything needed to score it again."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A sequence the decoder proposes.

    `tokens` leaves out the start symbol and the end-of-sequence token. `token_log_probs` holds the model's own
    log-probability of each token, of forced prefix tokens too, and, where the sequence ended by itself (or was made to
    end), of the end token as one last entry. Temperature, top-k and bans choose tokens but never enter these numbers:
    scoring the finished text with the same model gives the same values. `log_prob` is their sum; `score` is what the
    n-best list is sorted by (`log_prob` under the length penalty).
    """

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    token_log_probs: tuple[float, ...]

    @property
    def ended(self) -> bool:
        """True when the end token was produced and counted, False when the maximum length cut the sequence off."""
        return len(self.token_log_probs) > len(self.tokens)

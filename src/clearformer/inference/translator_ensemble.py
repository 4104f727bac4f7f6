"""Several translation models as one translator: together they are better than the best of them, and slower than all."""

from collections.abc import Sequence

from torch import Tensor

from clearformer.decoding.ensemble import Ensemble, mean_log_probs
from clearformer.folder.bundle import Bundle
from clearformer.inference.predictor import size
from clearformer.inference.translator import SMALL, Translator
from clearformer.text.tokenizer import describe_difference


class TranslatorEnsemble(Translator):
    """Models over the same vocabularies; the mean of their probabilities decides about each token."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(bundles[0])
        self.members = [Translator(bundle) for bundle in bundles]
        for number, member in enumerate(self.members[1:], start=2):
            _refuse_another_language(self, member, number)
        self.readable = Ensemble([member.readable for member in self.members])
        self.stepper = Ensemble([member.stepper for member in self.members])
        self.longest_target = min(member.longest_target for member in self.members)
        self._small = sum(size(member.model) for member in self.members) < SMALL

    def align(self, source: str, ids: Sequence[int]) -> Tensor:
        """The mean of the members' alignments."""
        return sum(member.align(source, ids) for member in self.members) / len(self.members)  # type: ignore[return-value]

    def _teach(self, source_ids: list[int], target_ids: list[int]) -> Tensor:
        return mean_log_probs([member._teach(source_ids, target_ids) for member in self.members])


def translator_of(bundles: Sequence[Bundle]) -> Translator:
    """One model alone, or several together."""
    return Translator(bundles[0]) if len(bundles) == 1 else TranslatorEnsemble(bundles)


def _refuse_another_language(first: Translator, other: Translator, number: int) -> None:
    """A token has to mean the same to all."""
    for side in ("source_tokenizer", "target_tokenizer"):
        if difference := describe_difference(getattr(first, side), getattr(other, side)):
            raise ValueError(f"model {number} cannot join the first, their vocabularies are not the same: {difference}")
    if first.markers != other.markers:
        raise ValueError(f"model {number} cannot join the first: they mark the beginning and end of a text differently")

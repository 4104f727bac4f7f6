"""Several models that read as one: the mean of their probabilities decides.

Models that learned the same small corpus from different beginnings make different mistakes, so their mean is wrong less
often than any of them. It costs as much as running all of them. W words, L labels, T tokens of a window.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.answer_windows import ContextWindow
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.text_readers import Classifier, Reader
from clearformer.inference.text_windows import TextOrPair
from clearformer.inference.word_tagger import Tagger
from clearformer.text.tokenizer import describe_difference

ONE_BY_ONE = "several models together cannot be looked inside; open one of them alone"


class ClassifierEnsemble(Classifier):
    """Classifiers of the same labels, whatever their vocabularies; or models of numbers, whose mean is given."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(bundles[0])
        self.members = [Classifier(bundle) for bundle in bundles]
        for number, member in enumerate(self.members[1:], start=2):
            if member.outcome.kind != self.outcome.kind:
                says = {"one": "one label per text", "several": "several labels per text", "number": "numbers"}
                mine, other = says[self.outcome.kind], says[member.outcome.kind]
                raise ValueError(f"model {number} cannot join the first, which gives {mine}: it gives {other}")
            if self.outcome.kind != "number":
                refuse_other_labels(self.labels, member.labels, number)
        thresholds = [member.outcome.threshold for member in self.members]
        self.outcome = replace(self.outcome, threshold=float(_mean([np.array(one) for one in thresholds])))

    def results(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[list[float]]:
        """The mean of what the members say; each of them with the temperature that suits it."""
        each = []
        for member in self.members:
            rows = np.array(member.results(texts, config, **changes))
            each.append(rows if self.outcome.kind == "number" or not len(rows) else rows[:, _order(self, member)])
        found: list[list[float]] = _mean(each).tolist()
        return found

    def logits(self, *_: Any, **__: Any) -> NoReturn:
        """Logits of different models cannot be added up."""
        raise ValueError(ONE_BY_ONE)

    def why(self, *_: Any, **__: Any) -> NoReturn:
        """Which words counted can be said of one model."""
        raise ValueError(ONE_BY_ONE)

    def __repr__(self) -> str:
        return _described(self, self.members)


class TaggerEnsemble(Tagger):
    """Taggers of the same tags over the same kind of words; the best legal tags by their mean are found."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(bundles[0])
        self.members = [Tagger(bundle) for bundle in bundles]
        for number, member in enumerate(self.members[1:], start=2):
            refuse_other_labels(self.labels, member.labels, number)
            if (member.split == "characters") != (self.split == "characters"):
                raise ValueError(f"model {number} cannot join the first: to one of them every character is a word")
        # Of a model from elsewhere alone, `tag` shows pieces as its tokenizer joins them. Together, words are shown.
        self.split = self.split or "spaced"

    def read_words(self, sentences: Sequence[Sequence[str]], config: ReadingConfig) -> list[NDArray[np.float64]]:
        """The logarithm of the mean of each tag's probabilities for each word: W L."""
        each = [[self._own(member, row) for row in member.read_words(sentences, config)] for member in self.members]
        return [_mean_log(rows) for rows in zip(*each, strict=True)]

    def _read(self, text: str) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """The words that all members see, and how probable each tag is for each of them."""
        read = [(member, *member._read(text)) for member in self.members]
        shared = set.intersection(*(set(words) for _, words, _ in read))
        kept = [word for word in read[0][1] if word in shared]
        each = []
        for member, words, scores in read:
            own = self._own(member, scores)
            each.append(own[[place for place, word in enumerate(words) if word in shared]])
        return kept, _mean_log(each)

    def _own(self, member: Tagger, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """A member's scores in the order of the first one's labels. W L."""
        return scores[:, _order(self, member)]

    def __repr__(self) -> str:
        return _described(self, self.members)


class AnswererEnsemble(Answerer):
    """Models over the same vocabulary, which therefore cut a text alike; the mean of their probabilities of an answer's
    first and last token decides.
    """

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        super().__init__(bundles[0])
        self.members = [Answerer(bundle) for bundle in bundles]
        for number, member in enumerate(self.members[1:], start=2):
            if difference := describe_difference(self.tokenizer, member.tokenizer):
                raise ValueError(
                    f"model {number} cannot join the first, their vocabularies are not the same: {difference}"
                )
            if member.may_decline != self.may_decline:
                raise ValueError(f"model {number} cannot join the first: one of them has learned to give no answer")
            if member.overlap != self.overlap:
                raise ValueError(
                    f"model {number} cannot join the first: one of them is told which words are in both texts"
                )
        self.longest = min(member.longest for member in self.members)  # windows that all of them read

    def window_logits(self, windows: Sequence[ContextWindow], batch: int) -> Iterator[Tensor]:
        """For each window the logarithms of the mean probabilities of its tokens: T 2."""
        for rows in zip(*(member.window_logits(windows, batch) for member in self.members), strict=True):
            ordered = torch.stack([row.log_softmax(0) for row in rows]).sort(dim=0).values  # see `_mean`
            yield ordered.logsumexp(0) - torch.tensor(float(len(rows))).log()

    def why(self, *_: Any, **__: Any) -> NoReturn:
        """Which words counted can be said of one model."""
        raise ValueError(ONE_BY_ONE)

    def __repr__(self) -> str:
        return _described(self, self.members)


def classifier_of(bundles: Sequence[Bundle]) -> Classifier:
    """One model alone, or several together."""
    return Classifier(bundles[0]) if len(bundles) == 1 else ClassifierEnsemble(bundles)


def tagger_of(bundles: Sequence[Bundle]) -> Tagger:
    """One model alone, or several together."""
    return Tagger(bundles[0]) if len(bundles) == 1 else TaggerEnsemble(bundles)


def answerer_of(bundles: Sequence[Bundle]) -> Answerer:
    """One model alone, or several together."""
    return Answerer(bundles[0]) if len(bundles) == 1 else AnswererEnsemble(bundles)


def refuse_other_labels(known: Sequence[str], other: Sequence[str], number: int) -> None:
    """Labels are the common language of an ensemble; their order does not matter. number: of the other model."""
    if missing := sorted(set(known) - set(other)):
        raise ValueError(f"model {number} cannot join the first, it lacks the label {_listed(missing)}")
    if more := sorted(set(other) - set(known)):
        raise ValueError(f"model {number} cannot join the first, which lacks its label {_listed(more)}")


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels[:4])) + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")


def _order(first: Reader, member: Reader) -> list[int]:
    """Where the first model's labels stand among a member's."""
    return [member.labels.index(label) for label in first.labels]


def _mean(each: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean, added up from small to large, so that the order of the members changes no bit of it."""
    found: NDArray[np.float64] = np.sort(np.stack(each), axis=0).sum(axis=0) / len(each)
    return found


def _mean_log(each: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The logarithm of the mean of probabilities that are given as logarithms; also in order."""
    found: NDArray[np.float64] = np.logaddexp.reduce(np.sort(np.stack(each), axis=0), axis=0) - np.log(len(each))
    return found


def _described(ensemble: Any, members: Sequence[Reader]) -> str:
    return describe(ensemble, f"the first of {len(members)} that decide together")

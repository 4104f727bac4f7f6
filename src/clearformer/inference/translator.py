"""Sentences in, translations out: a model folder in use.

Order is kept, sentences of like length share a batch, and neither the batch size nor the company changes a result.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.greedy import greedy
from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.penalty import Average, Gnmt
from clearformer.decoding.protocol import Stepper
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import FullBeam, Proved, StopRule
from clearformer.decoding.workers import side_by_side
from clearformer.folder.bundle import Bundle
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.kept_names import name_keeper
from clearformer.inference.other_languages import own_texts, put_back
from clearformer.inference.predictor import describe, size
from clearformer.inference.steppers import SearchInput, Seq2SeqStepper, SourceBatch, pad_sources, stepper_for
from clearformer.inference.translation_settings import DecodingConfig, Translation, nothing, share_out, usual_search
from clearformer.inference.wrong_use import translates, wrong_use
from clearformer.model.trace import trace, watcher

SMALL = 30_000_000  # parameters; the products of larger models are worth more than one thread each


def beam_config(config: DecodingConfig) -> BeamConfig:
    """The settings of a translation in the words of the search."""
    penalty = {"average": Average, "gnmt": Gnmt}[config.penalty](config.alpha)
    stops: dict[str, StopRule] = {"full": FullBeam(), "proved": Proved()}
    return BeamConfig(beam=config.beam, nbest=config.nbest, penalty=penalty, stop=stops[config.stop])


class Translator:
    """An encoder–decoder with its vocabularies."""

    def __init__(self, bundle: Bundle, *, wanted: str = "translation") -> None:
        """wanted: the task that it is opened for, which a refusal names; some tasks translate only inside."""
        if not translates(bundle.config):
            raise ValueError(wrong_use(bundle.config, wanted, bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self.source_tokenizer, self.target_tokenizer = bundle.preprocessing.sides
        self.markers = bundle.preprocessing.framing
        self.readable: Stepper[Any] = Seq2SeqStepper(self.model, bos=self.markers.start)
        self.stepper = stepper_for(self.model, bos=self.markers.start)
        self.usual = usual_search(bundle.provenance)
        self.keeper = name_keeper(bundle.provenance)
        self._small = size(self.model) < SMALL
        position = bundle.config.decoder_position or bundle.config.position
        self.longest_target = bundle.config.max_len - 1 if position.kind == "learned" else sys.maxsize

    def __repr__(self) -> str:
        known = self.bundle.provenance
        languages = [known.get("source_language"), known.get("target_language")]
        return describe(self, " to ".join(map(str, languages)) if all(languages) else "")

    @property
    def provenance(self) -> dict[str, Any]:
        """What the model folder says of where it comes from."""
        return self.bundle.provenance

    def translate(
        self,
        texts: str | Sequence[str],
        config: DecodingConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        any_language: bool = False,
        **changes: Any,
    ) -> list[Translation]:
        """The best translation of each text, in order. changes: single settings, such as beam=1.

        any_language: also of texts that seem to be in another language than the model reads; else these stay as they
        are, with a remark.
        """
        changes |= {"on_progress": on_progress, "any_language": any_language}
        return [found[0] for found in self.alternatives(texts, config, **changes)]

    def alternatives(
        self,
        texts: str | Sequence[str],
        config: DecodingConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        any_language: bool = False,
        **changes: Any,
    ) -> list[list[Translation]]:
        """The n best translations of each text, best first."""
        chosen = replace(config or self.usual, **changes)
        given = [texts] if isinstance(texts, str) else list(texts)
        own, remarks = own_texts(given, self.provenance, any_language=any_language)
        found = self._as_they_are(own, chosen, on_progress)
        if self.keeper is not None and chosen.keep_names:
            found = self.keeper.mend(own, found, chosen, self._as_they_are)
        return put_back(found, given, remarks)

    def _as_they_are(
        self, texts: Sequence[str], config: DecodingConfig, on_progress: OnProgress = unwatched
    ) -> list[list[Translation]]:
        """What the model makes of these very texts."""
        found = self.search_all(self.encode(texts, config), config, on_progress=on_progress)
        return [[self._present(one) for one in best] or [nothing()] for best in found]

    def search_all(
        self,
        sources: Sequence[Sequence[int]],
        config: DecodingConfig,
        *,
        most: int | None = None,
        on_progress: OnProgress = unwatched,
    ) -> list[list[Hypothesis]]:
        """The n best of each row of source ids, in batches of like length; of an empty row none.

        most: the most tokens that any of them may have, besides what its own source allows.
        """
        results: list[list[Hypothesis]] = [[] for _ in sources]
        done = sum(not source for source in sources)
        workers = self._workers()
        batches = share_out([len(source) for source in sources], config, workers=workers)

        def search_rows(rows: list[int]) -> list[list[Hypothesis]]:
            return self.search([sources[row] for row in rows], config, most=most)

        answers = side_by_side(search_rows, batches, workers) if self._small else map(search_rows, batches)
        for rows, answer in zip(batches, answers, strict=True):
            for row, found in zip(rows, answer, strict=True):
                results[row] = found
            done += len(rows)
            on_progress(done, len(sources))
        return results

    def _workers(self) -> int:
        """How many batches at once: one a core, unless the model is large or somebody traces, who sees one thread."""
        return torch.get_num_threads() if self._small and watcher() is None else 1

    def encode(self, texts: Sequence[str], config: DecodingConfig) -> list[list[int]]:
        """Source ids with their markers; an empty text has none, and is not worth asking the model about."""
        rows = self.source_tokenizer.ids([text.strip() for text in texts], add_special=False)
        for number, row in enumerate(rows, start=1):
            config.check_length(number, len(row))
        return [[*self.markers.before_source, *row, *self.markers.after_source] if row else [] for row in rows]

    def prepare(
        self, sources: Sequence[Sequence[int]], config: DecodingConfig, *, most: int | None = None
    ) -> SearchInput:
        """What any search over these source ids (`encode`) is given: the one place that knows rules and limits."""
        limit = self.longest_target if most is None else min(most, self.longest_target)
        return SearchInput(
            # whoever traces wants to see the modules at work
            stepper=self.stepper if watcher() is None else self.readable,
            source=pad_sources([list(source) for source in sources], self._padding()),
            rules=Rules(
                eos=self.target_tokenizer.eos_id, banned=self._unsayable(), no_repeat_ngram=config.no_repeat_ngram
            ),
            max_len=[min(config.longest(len(source)), limit) for source in sources],
            prefixes=[self.markers.forced] * len(sources) if self.markers.forced else None,
        )

    def search(
        self, sources: Sequence[Sequence[int]], config: DecodingConfig, *, most: int | None = None
    ) -> list[list[Hypothesis]]:
        """The n best hypotheses of each row of source ids."""
        chosen, given = beam_config(config), self.prepare(sources, config, most=most)
        if config.beam > 1:
            return beam_search(config=chosen, **given.arguments())
        # A beam of one is greedy decoding, which needs no book-keeping.
        found = greedy(force_eos=True, **given.arguments())
        divisors = (chosen.penalty.divisor(len(one.token_log_probs), ended=one.ended) for one in found)
        return [[replace(one, score=one.log_prob / by)] for one, by in zip(found, divisors, strict=True)]

    def _unsayable(self) -> tuple[int, ...]:
        """What no translation consists of: special tokens, and rows of the table that the vocabulary has no piece for.

        A vocabulary need not have all of them, and may end with its padding.
        """
        known, config = self.target_tokenizer.special_ids, self.bundle.config
        special = {known[role] for role in ("pad", "bos", "unk") if role in known} - {self.target_tokenizer.eos_id}
        rows = config.target_vocab_size or config.vocab_size
        return (*sorted(special), *range(self.target_tokenizer.vocab_size, rows))

    def _padding(self) -> int:
        """What fills a rectangle; nobody looks at it, so any id will do where the vocabulary has none for it."""
        return self.source_tokenizer.special_ids.get("pad", 0)

    def _present(self, found: Hypothesis) -> Translation:
        return Translation(
            text=self.target_tokenizer.decode(found.tokens),
            score=found.score,
            log_prob=found.log_prob,
            tokens=tuple(self.target_tokenizer.piece(token) for token in found.tokens),
            token_log_probs=found.token_log_probs,
            ids=found.tokens,
        )

    @torch.inference_mode()
    def score(self, source: str, target: str | Sequence[int], config: DecodingConfig | None = None) -> list[float]:
        """The log-probability of each token of a given translation, its end token last.

        target: a text, or the ids of a translation: a model may spell a text in other pieces than its tokenizer would.
        """
        [ids] = self.encode([source], config or DecodingConfig())
        given = self.target_tokenizer.ids([target], add_special=False)[0] if isinstance(target, str) else target
        wanted = [*self.markers.forced, *given, self.target_tokenizer.eos_id]
        nothing_said = [*self.markers.before_source, *self.markers.after_source]
        logits = self._teach(ids or nothing_said or [self.source_tokenizer.eos_id], wanted[:-1])
        return logits.log_softmax(-1)[0].gather(-1, torch.tensor(wanted)[:, None])[:, 0].tolist()

    def perplexity(
        self, sources: Sequence[str], targets: Sequence[str], *, on_progress: OnProgress = unwatched
    ) -> float:
        """How many tokens the model hesitates between, on average, when it reads the given translations."""
        total, count = 0.0, 0
        for done, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
            log_probs = self.score(source, target)
            total, count = total - sum(log_probs), count + len(log_probs)
            on_progress(done, len(sources))
        return math.exp(min(700.0, total / max(count, 1)))

    @torch.inference_mode()
    def align(self, source: str, ids: Sequence[int]) -> Tensor:
        """How much each token of a translation looked at each token of its source: T S, rows sum to one.

        The mean over the heads of the last layer but one, which in trained models is nearest to a word alignment.
        """
        [source_ids] = self.encode([source], DecodingConfig())
        layers = len(self.model.decoder.layers)  # type: ignore[arg-type, union-attr]
        name = f"decoder.layers.{max(0, layers - 2)}.cross_attn.weights"
        with trace(self.model, only=[name]) as seen:
            self._teach(source_ids, list(ids))
        return seen[name][0].mean(dim=0)[: len(ids), : len(source_ids)]

    def alignment(self, source: str, ids: Sequence[int]) -> list[list[float]]:
        """`align` as plain numbers."""
        rows: list[list[float]] = self.align(source, ids).tolist()
        return rows

    def _teach(self, source_ids: list[int], target_ids: list[int]) -> Tensor:
        """Logits of a given target: 1 T V."""
        source: SourceBatch = pad_sources([source_ids], self._padding())
        target = torch.tensor([[self.markers.start, *target_ids]])
        logits: Tensor = self.model(source.tokens, target, source_keep=source.keep)
        return logits

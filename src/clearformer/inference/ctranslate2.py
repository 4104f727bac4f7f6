"""Sentences in, translations out, by CTranslate2: the same text as `translator`, many times as fast, without PyTorch.

The engine scores as our default search does (`DecodingConfig`): the total log-probability of a translation divided by
its length, the end token counted, and an end when as many have finished as the beam is wide. Two things it cannot do,
and they are noticed and handed to PyTorch, sentence by sentence: to end the translations of a beam at their maximum
length (a greedy one is simply cut there), and to read or write further than its table of positions.

Small models want workers, not threads: each core translates a batch of its own.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation import storage
from clearformer.foundation.machine import cores
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.kept_names import name_keeper
from clearformer.inference.other_languages import own_texts, put_back
from clearformer.inference.translation_settings import DecodingConfig, Translation, nothing, share_out, usual_search
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.unusable import UnusableTextError

log = logging.getLogger(__name__)
Scores = Literal["none", "total", "tokens"]
READ_AT_ONCE = 512  # translations between two reports of progress
# Why a text is handed to the reference engine, for one and for several.
TOO_LONG = ("text is", "texts are", "longer than ctranslate2 reads with this model")
AT_THE_LIMIT = ("text has", "texts have", "candidate translations as long as allowed, where ctranslate2 would cut them")


class Reference(Protocol):
    """An engine that can end any translation: `translator.Translator`."""

    def alternatives(
        self, texts: str | Sequence[str], config: DecodingConfig, *, any_language: bool
    ) -> list[list[Translation]]: ...


class CTranslate2Translator:
    """A folder that `to_ctranslate2` made, in use.

    reference: opens the engine that finishes what this one cannot; without it the best unfinished translation is cut.
    scores: with "tokens" each translation is read once more for the log-probability of each of its tokens. With "total"
    the total is a little too high, because the engine shares out among the others what it may not say (<unk>). With
    "none" a greedy search need not make probabilities of its logits, and the scores are nan.
    """

    def __init__(
        self,
        folder: Path | ModelFolder,
        *,
        reference: Callable[[], Reference] | None = None,
        scores: Scores = "total",
    ) -> None:
        import ctranslate2

        opened = open_folder(folder)
        opened.verify()
        folder, made = opened.path, opened.description.engine
        if made is None:
            raise ValueError(f"{folder} holds no weights for ctranslate2; convert it first")
        self.provenance: dict[str, Any] = dict(opened.provenance)
        self.usual = usual_search(self.provenance)
        self.keeper = name_keeper(self.provenance)
        self.source_tokenizer, self.target_tokenizer = opened.preprocessing.sides
        self.markers = opened.preprocessing.framing
        self.places: dict[str, int | None] = made["places"]
        self.shortlist: bool = made["shortlist"]
        self.scores = scores
        self._open_reference = reference
        self._reference: Reference | None = None
        self._opening = Lock()
        self._source_names, self._target_names = _names(folder)
        self._target_ids = {name: number for number, name in enumerate(self._target_names)}
        self._unsayable = [[self._target_names[number]] for number in _unsayable(self.target_tokenizer)]
        self._end = self._target_names[self.target_tokenizer.eos_id]
        self._engine = ctranslate2.Translator(
            str(folder), device="cpu", inter_threads=len(cores()), intra_threads=1, max_queued_batches=-1
        )

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
        check(chosen)
        asked = [texts] if isinstance(texts, str) else list(texts)
        given, remarks = own_texts(asked, self.provenance, any_language=any_language)
        found = self._as_they_are(given, chosen, on_progress)
        if self.keeper is not None and chosen.keep_names:
            found = self.keeper.mend(given, found, chosen, self._as_they_are)
        return put_back(found, asked, remarks)

    def _as_they_are(
        self, given: Sequence[str], chosen: DecodingConfig, on_progress: OnProgress = unwatched
    ) -> list[list[Translation]]:
        """What the model makes of these very texts."""
        sources = self.encode(given, chosen)
        results: list[list[Translation]] = [[nothing()] for _ in sources]
        too_long = self._too_long(sources)
        lengths = [0 if row in too_long else len(source) for row, source in enumerate(sources)]
        done = sum(not source for source in sources)
        ours: list[int] = []
        with _Aside(lambda rows: self._by_reference([given[row] for row in rows], chosen)) as aside:
            aside.take(sorted(too_long), TOO_LONG)
            for rows, answers in self._search(sources, share_out(lengths, chosen, workers=len(cores())), chosen):
                beyond = [row for row in rows if self._is_beyond(answers[row], sources[row], chosen)]
                aside.take(beyond, AT_THE_LIMIT)
                for row in set(rows).difference(beyond):
                    results[row] = self._present(answers[row], sources[row], chosen)
                    ours.append(row)
                on_progress(done + len(ours), len(sources))
            self._score(sources, results, ours, chosen)
            for row, found in aside.collect():
                results[row] = found
                done += 1
                on_progress(done + len(ours), len(sources))
        return results

    def encode(self, texts: Sequence[str], config: DecodingConfig) -> list[list[int]]:
        """Source ids with their markers; an empty text has none."""
        rows = self.source_tokenizer.ids([text.strip() for text in texts], add_special=False)
        for number, row in enumerate(rows, start=1):
            config.check_length(number, len(row))
        return [[*self.markers.before_source, *row, *self.markers.after_source] if row else [] for row in rows]

    def perplexity(
        self, sources: Sequence[str], targets: Sequence[str], *, on_progress: OnProgress = unwatched
    ) -> float:
        """How many tokens the model hesitates between, on average, when it reads the given translations."""
        config = DecodingConfig()
        asked = self.encode(sources, config)
        wanted = self.target_tokenizer.ids(targets, add_special=False)
        longest = {
            "source": max(map(len, asked), default=0),
            "target": 1 + max(map(len, wanted), default=0),  # and what a target begins with
        }
        for side, tokens in longest.items():
            if tokens > (self.places[side] or tokens):
                raise ValueError(f"a {side} has {tokens} tokens, more than this engine reads; use --engine torch")
        nothing_said = [*self.markers.before_source, *self.markers.after_source] or [self.source_tokenizer.eos_id]
        total, count = 0.0, 0
        for start in range(0, len(asked), READ_AT_ONCE):
            rows = range(start, min(len(asked), start + READ_AT_ONCE))
            answers = self._engine.score_batch(
                [[self._source_names[number] for number in asked[row] or nothing_said] for row in rows],
                [[self._target_names[number] for number in wanted[row]] for row in rows],
                max_batch_size=config.batch_tokens,
                batch_type="tokens",
                max_input_length=0,
            )
            total -= sum(sum(answer.log_probs) for answer in answers)
            count += sum(len(answer.log_probs) for answer in answers)
            on_progress(rows.stop, len(asked))
        return math.exp(min(700.0, total / max(count, 1)))

    def alignment(self, source: str, ids: Sequence[int]) -> list[list[float]]:
        """How much each token of a translation looked at each token of its source; rows sum to one."""
        [source_ids] = self.encode([source], DecodingConfig())
        [found] = self._engine.translate_batch(
            [[self._source_names[number] for number in source_ids]],
            target_prefix=[[self._target_names[number] for number in ids]],
            beam_size=1,
            max_decoding_length=len(ids) + 1,
            return_attention=True,
            return_end_token=True,
        )
        return [list(map(float, row)) for row in found.attention[0][: len(ids)]]

    def _search(
        self, sources: list[list[int]], batches: list[list[int]], config: DecodingConfig
    ) -> Iterator[tuple[list[int], dict[int, Any]]]:
        """Batches of row numbers with the engine's answers; all are under way at once, and workers take the next."""
        waiting = []
        for batch in batches:
            longest = max(self._longest(sources[row], config) for row in batch)
            asked = self._engine.translate_batch(
                [[self._source_names[number] for number in sources[row]] for row in batch],
                asynchronous=True,
                beam_size=config.beam,
                num_hypotheses=config.beam,  # all, because `_is_beyond` has to see them
                length_penalty=config.alpha,
                return_end_token=True,  # so that the length counts it, as ours does
                return_scores=config.beam > 1 or self.scores != "none",  # a beam has them anyway
                suppress_sequences=self._unsayable,
                max_decoding_length=longest + 1,
                min_decoding_length=0,
                max_input_length=0,
                use_vmap=self.shortlist,
            )
            waiting.append((batch, asked))
        for batch, asked in waiting:
            yield batch, {row: one.result() for row, one in zip(batch, asked, strict=True)}

    def _longest(self, source: list[int], config: DecodingConfig) -> int:
        """The most tokens that this translation may have, or that the engine has places for, if that is less."""
        longest, places = config.longest(len(source)), self.places["target"]
        return longest if places is None else min(longest, places - 1)

    def _too_long(self, sources: list[list[int]]) -> set[int]:
        """The texts that this engine has no places for, refused at once where nobody else can read them."""
        readable = self.places["source"]
        found = set() if readable is None else {row for row, source in enumerate(sources) if len(source) > readable}
        if found and self._open_reference is None:
            raise UnusableTextError(
                min(found) + 1, f"is longer than the {readable} tokens that this folder reads; split it"
            )
        return found

    def _is_beyond(self, answer: Any, source: list[int], config: DecodingConfig) -> bool:
        """Whether the reference has to end this translation: the search went on to the maximum length, where this
        engine cuts and ours makes a sentence end.

        If fewer than `beam` had finished before, at least one of the `beam` that are returned is that long. A beam of
        one has a single path: up to its maximum length it is the same, unless that was a table's and not the search's.
        """
        if self._open_reference is None:
            return False
        longest = self._longest(source, config)
        if config.beam == 1 and longest == config.longest(len(source)):
            return False
        return any(len(tokens) > longest for tokens in answer.hypotheses)

    def _present(self, answer: Any, source: list[int], config: DecodingConfig) -> list[Translation]:
        longest = self._longest(source, config)
        found = []
        scores = answer.scores or [math.nan]
        for names, score in zip(answer.hypotheses[: config.nbest], scores, strict=False):
            ids = tuple(self._target_ids[name] for name in names[:longest] if name != self._end)
            found.append(
                Translation(
                    text=self.target_tokenizer.decode(ids),
                    score=score,
                    log_prob=score * len(names) ** config.alpha,
                    tokens=tuple(map(self.target_tokenizer.piece, ids)),
                    token_log_probs=(),
                    ids=ids,
                )
            )
        return found

    def _score(
        self, sources: list[list[int]], results: list[list[Translation]], rows: list[int], config: DecodingConfig
    ) -> None:
        """Read translations once more: all, where every token's log-probability is wanted, and those that were cut,
        which have not been scored as ended, where the total is."""
        if self.scores == "none":
            return
        asked = [
            (row, place)
            for row in rows
            for place, one in enumerate(results[row])
            if self.scores == "tokens" or len(one.ids) == self._longest(sources[row], config)
        ]
        answers = self._engine.score_batch(
            [[self._source_names[number] for number in sources[row]] for row, _ in asked],
            [[self._target_names[number] for number in results[row][place].ids] for row, place in asked],
            max_batch_size=config.batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        for (row, place), answer in zip(asked, answers, strict=True):
            total = sum(answer.log_probs)
            results[row][place] = replace(
                results[row][place],
                log_prob=total,
                score=total / len(answer.log_probs) ** config.alpha,
                token_log_probs=tuple(answer.log_probs),
            )

    def _by_reference(self, texts: list[str], config: DecodingConfig) -> list[list[Translation]]:
        """Let the reference engine translate texts that are too long for this one."""
        assert self._open_reference is not None
        with self._opening:
            if self._reference is None:
                self._reference = self._open_reference()
        config = replace(config, keep_names=False)
        return self._reference.alternatives(texts, config, any_language=True)  # both were decided before


class _Aside:
    """Rows that were handed to the reference engine, which works on them in a thread of its own."""

    def __init__(self, translate: Callable[[list[int]], list[list[Translation]]]) -> None:
        self._translate, self._thread = translate, ThreadPoolExecutor(1)
        self._handed: list[tuple[list[int], Future[list[list[Translation]]]]] = []
        self._reasons: Counter[tuple[str, str, str]] = Counter()

    def __enter__(self) -> "_Aside":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def take(self, rows: list[int], reason: tuple[str, str, str]) -> None:
        if rows:
            self._reasons[reason] += len(rows)
            self._handed.append((rows, self._thread.submit(self._translate, rows)))

    def collect(self) -> Iterator[tuple[int, list[Translation]]]:
        """Each row with its translations, as soon as they are there."""
        for rows, translated in self._handed:
            yield from zip(rows, translated.result(), strict=True)
        for (one, several, why), count in self._reasons.items():
            what, them = (one, "it") if count == 1 else (several, "them")
            log.info("%d %s %s; the torch engine translated %s", count, what, why, them)


def check(config: DecodingConfig) -> None:
    """Refuse settings that this engine cannot follow."""
    if reasons := reasons_against(config):
        raise ValueError(f"ctranslate2 cannot search with {' and '.join(reasons)}; use the torch engine")


def reasons_against(config: DecodingConfig) -> list[str]:
    """The settings that the engine has no word for; empty for a search that it can do."""
    foreign = {
        f"penalty = {config.penalty!r}": config.penalty != "average",
        f"stop = {config.stop!r}": config.stop != "full",
        # It would renormalise what is left after a ban, and the totals would no longer be the model's own.
        f"no_repeat_ngram = {config.no_repeat_ngram}": config.no_repeat_ngram > 0,
    }
    return [reason for reason, applies in foreign.items() if applies]


def _names(folder: Path) -> tuple[list[str], list[str]]:
    """What the engine calls the tokens of the source and of the target."""
    shared = folder / "shared_vocabulary.json"
    if shared.exists():
        names: list[str] = storage.read_json(shared)
        return names, names
    return storage.read_json(folder / "source_vocabulary.json"), storage.read_json(folder / "target_vocabulary.json")


def _unsayable(target: Tokenizer) -> list[int]:
    """What no translation consists of: the same as in `translator`."""
    known = target.special_ids
    return sorted({known[role] for role in ("pad", "bos", "unk") if role in known} - {target.eos_id})

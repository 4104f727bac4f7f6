"""What a model writes: translations, continuations, and the whole tree of a beam search.

Everything that a search is given comes from `Translator` and `TextGenerator`, so that what is shown here is what
`clearformer translate` prints.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from clearformer.decoding.beam import beam_search
from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.penalty import LengthPenalty
from clearformer.decoding.ranking import top
from clearformer.decoding.sampling import sample
from clearformer.decoding.tree import BeamTree, Fate, Node, TreeRecorder
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.other_languages import remark_for
from clearformer.inference.sentence_confidence import Confidence
from clearformer.inference.steppers import SearchInput
from clearformer.inference.text_generator import TextGenerator, transforms_of
from clearformer.inference.translation_settings import DecodingConfig, usual_search
from clearformer.inference.translator import Translator, beam_config
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.attention_layers import attention_layers
from clearformer.studio.form_refusals import form_refusals
from clearformer.studio.packing import pack
from clearformer.studio.shown_model import ShownModel, check_length
from clearformer.studio.spelling import spell, spell_each
from clearformer.studio.trace_cache import TraceCache
from clearformer.studio.writing_settings import Task, WritingSettings, settings_from

MAX_SEARCHED = 256  # tokens of a source: a search takes time with every token that it writes
REMEMBERED = 64  # answers
CHOICES = 5  # likeliest tokens shown for each step


@dataclass(frozen=True, kw_only=True)
class Continued(Hypothesis):
    """A continuation with its text, which a stop text may have ended inside the last token."""

    text: str


class Writer:
    """A model that writes. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, traces: TraceCache, turns: Turns) -> None:
        self.shown_model, self._traces, self._turns = shown_model, traces, turns
        self._answers: dict[tuple[tuple[int, ...], WritingSettings], list[Hypothesis]] = {}
        self._read_as: dict[tuple[str, DecodingConfig], str] = {}

    @cached_property
    def translator(self) -> Translator:
        """The translator that `clearformer translate` uses."""
        return Translator(self.shown_model.bundle)

    @cached_property
    def _confidence(self) -> Confidence:
        """How probable it is that a translation is good, where the folder was calibrated."""
        return Confidence(self.shown_model.bundle.provenance)

    @property
    def generator(self) -> TextGenerator:
        """The generator that `clearformer generate` uses."""
        assert self.shown_model.generator is not None
        return self.shown_model.generator

    def settings(self, given: Mapping[str, Any] | None = None) -> WritingSettings:
        """What was asked for, over what the model folder's own recipe says."""
        with form_refusals():
            return settings_from(usual_search(self.shown_model.bundle.provenance), given or {})

    @property
    def task(self) -> Task:
        """What this model does with a text."""
        if self.shown_model.target_tokenizer is None or not self.shown_model.reads_tokens:
            return "read"
        if self.shown_model.has_target:
            return "translate"
        scores_tokens = self.shown_model.config.head.kind == "language-model"
        return "generate" if self.shown_model.config.shape == "decoder" and scores_tokens else "read"

    def as_read(self, text: str, settings: WritingSettings | None = None) -> str:
        """The text that the model really reads: where it would lose a name, known ones stand in for the rare ones."""
        if self.task != "translate" or self.translator.keeper is None:
            return text
        if len(self.shown_model.read(text)) > MAX_SEARCHED:
            return text  # nobody searches for it
        decoding = replace((settings or self.settings()).decoding, nbest=1)
        key = text, decoding
        if key not in self._read_as:
            with self._turns.mine(), form_refusals():
                [found] = self.translator.translate([text], decoding)
            if len(self._read_as) >= REMEMBERED:
                self._read_as.pop(next(iter(self._read_as)))
            self._read_as[key] = found.read_as or text
        return self._read_as[key]

    def best(self, text: str) -> tuple[int, ...]:
        """The ids of what is written for a text as it is read; nothing where the model only reads."""
        if self.task != "translate":
            return ()
        return self._search(self.shown_model.read(text), self.settings())[0].tokens

    def write(self, text: str, settings: WritingSettings) -> dict[str, Any]:
        """What is written, best first, with everything that the page shows of it."""
        read = self.as_read(text, settings)
        source = self.shown_model.read(read)
        spelled = spell(self.shown_model.source_tokenizer, source)
        told = {"source": spelled, "read_as": None if read == text else read}
        if self.task == "read":
            return {**told, "results": [], "readings": self._readings(text)}
        results = self.present_all(read, self._search(source, settings))
        for one in results:
            one["restored"] = self._restored(text, read, one["text"])
        if remark := remark_for(text, self.shown_model.bundle.provenance):
            told["remark"] = remark
        return {**told, "results": results, "readings": []}

    def _restored(self, text: str, read: str, said: str) -> str | None:
        """What was said, with the names of the text in the places of those that were read."""
        keeper = self.translator.keeper if self.task == "translate" else None
        return None if keeper is None or read == text else keeper.put_back(text, read, said)

    def present_all(self, text: str, found: Sequence[Hypothesis]) -> list[dict[str, Any]]:
        """The alternatives, the first in full. same_text_as: an earlier place with this very text in other pieces."""
        results = [self._present(text, one, detailed=place == 0) for place, one in enumerate(found)]
        first: dict[str, int] = {}
        for place, one in enumerate(results):
            one["same_text_as"] = first.get(one["text"])
            first.setdefault(one["text"], place)
        return results

    def result(self, text: str, ids: Sequence[int], settings: WritingSettings) -> dict[str, Any]:
        """One of the alternatives in full."""
        read = self.as_read(text, settings)
        for one in self._search(self.shown_model.read(read), settings):
            if one.tokens == tuple(ids):
                shown = self._present(read, one, detailed=True)
                return {**shown, "restored": self._restored(text, read, shown["text"])}
        raise ValueError("these ids are not among the alternatives of this text; ask for the alternatives again")

    def tree(self, text: str, settings: WritingSettings, prefix: Sequence[int]) -> dict[str, Any]:
        """Every candidate of the beam search, the answer, and which leaf it is."""
        if self.task == "read":
            raise Refused("silent", "this model writes nothing, so there is no search to show")
        text = self.as_read(text, settings)
        source = self.shown_model.read(text)
        recorder = TreeRecorder()
        with self._turns.mine(), form_refusals():
            found = self._search_tree(source, settings, prefix, recorder)
        tree = recorder.trees[0]
        return {
            "source": spell(self.shown_model.source_tokenizer, source),
            "nodes": self._nodes(tree, beam_config(settings.decoding).penalty),
            "best": tree.finished()[0].id if tree.finished() else None,
            "answer": self._present(text, found, detailed=False),
            "prefix": list(prefix),
        }

    # --- searching ---------------------------------------------------------------------------------------------------

    def _search(self, source: tuple[int, ...], settings: WritingSettings) -> list[Hypothesis]:
        key = (source, settings)
        if key not in self._answers:
            with self._turns.mine(), form_refusals():
                found = self._write_with(source, settings)
            if len(self._answers) >= REMEMBERED:
                self._answers.pop(next(iter(self._answers)))
            self._answers[key] = found
        return self._answers[key]

    def _write_with(self, source: tuple[int, ...], settings: WritingSettings) -> list[Hypothesis]:
        given = self._prepare(source, settings)
        if self.task == "generate" and settings.method != "beam":
            return self._continue(source, settings)
        if settings.method == "sampling":
            transforms = transforms_of(settings.generation)
            return sample(seeds=[settings.generation.seed], transforms=transforms, **given.arguments())
        width = 1 if settings.method == "greedy" else settings.decoding.beam
        decoding = replace(settings.decoding, beam=width, nbest=width)
        if self.task == "translate":
            return self.translator.search([source], decoding)[0]
        return beam_search(config=beam_config(decoding), **given.arguments())[0]

    def _continue(self, source: tuple[int, ...], settings: WritingSettings) -> list[Hypothesis]:
        """What `clearformer generate` writes with these settings, one text a sample."""
        found = self.generator.continue_ids(source, self._generation(source, settings))
        return [
            Continued(
                tokens=one.tokens[:-1] if one.ended == "end" else one.tokens,
                log_prob=math.fsum(one.log_probs),
                score=math.fsum(one.log_probs),
                token_log_probs=one.log_probs,
                text=one.text,
            )
            for one in found
        ]

    def _generation(self, source: tuple[int, ...], settings: WritingSettings) -> GenerationConfig:
        # each choice is traced with all of the text before it, so a text ends where the window would begin to move
        room = self.generator.room - len(source)
        config = replace(settings.generation, max_new=min(settings.generation.max_new, room))
        if settings.method == "sampling":
            return config
        return replace(config, temperature=0.0, top_k=None, top_p=None, min_p=None, samples=1)

    def _search_tree(
        self, source: tuple[int, ...], settings: WritingSettings, prefix: Sequence[int], recorder: TreeRecorder
    ) -> Hypothesis:
        """A beam search whose candidates are recorded. prefix: tokens that it is made to begin with."""
        given = self._prepare(source, settings)
        [forced] = given.prefixes or [()]
        begun = prefix if len(prefix) >= len(forced) else forced
        if len(begun) >= given.max_len[0]:
            told = "a forced beginning of {count} tokens is too long; at most {limit} tokens are written"
            raise Refused("prefix", told, count=len(begun), limit=given.max_len[0])
        asked = {**given.arguments(), "prefixes": [list(begun)] if begun else None}
        return beam_search(config=beam_config(settings.decoding), recorder=recorder, **asked)[0][0]

    def _prepare(self, source: tuple[int, ...], settings: WritingSettings) -> SearchInput:
        """Stepper, source, rules and limits, from where `clearformer translate` and `generate` have them."""
        check_length(len(source), MAX_SEARCHED, "searched")
        tokenizer = self.shown_model.target_tokenizer
        assert tokenizer is not None
        if not {"eos", "sep"} & tokenizer.special_ids.keys():
            raise Refused("endless", "this vocabulary has no end token, so nothing could ever be finished")
        if self.task == "translate":
            return self.translator.prepare([source], settings.decoding)
        if len(source) >= self.generator.room:
            told = "the text fills all {limit} positions that this model learned; shorten it"
            raise Refused("positions", told, limit=self.generator.room)
        return self.generator.prepare(source, self._generation(source, settings))

    # --- presenting --------------------------------------------------------------------------------------------------

    def _present(self, text: str, found: Hypothesis, *, detailed: bool) -> dict[str, Any]:
        tokenizer = self.shown_model.target_tokenizer
        assert tokenizer is not None
        tokens: list[dict[str, Any]] = [dict(token) for token in spell(tokenizer, found.tokens)]
        for token, log_prob in zip(tokens, found.token_log_probs, strict=False):
            token["log_prob"] = log_prob
        shown: dict[str, Any] = {
            "text": found.text if isinstance(found, Continued) else tokenizer.decode(found.tokens),
            "ids": list(found.tokens),
            "score": found.score,
            "log_prob": found.log_prob,
            "confidence": self._confidence.of_search(found.log_prob, len(found.tokens)),
            "end_log_prob": found.token_log_probs[-1] if found.ended else None,
            "tokens": tokens,
        }
        if detailed and found.tokens:
            shown["alignment"] = self._alignment(text, found.tokens)
            shown["choices"] = self._choices(text, found.tokens)
        return shown

    def _alignment(self, text: str, ids: Sequence[int]) -> Any:
        """How much each written token looked at each source token: the mean head of the last cross layer but one."""
        crossing = [layer for layer in attention_layers(self.shown_model.model) if layer.kind == "cross"]
        if not crossing:
            return None
        name = f"{crossing[max(0, len(crossing) - 2)].name}.weights"
        return pack(self._traces.value(self.shown_model.look(text, ids), name).mean(dim=0)[: len(ids)])

    def _choices(self, text: str, ids: Sequence[int]) -> list[list[dict[str, Any]]]:
        """The likeliest tokens at each step, as the model saw them."""
        logits = self._traces.value(self.shown_model.look(text, ids), "logits")
        first = 0 if self.shown_model.has_target else len(self.shown_model.read(text)) - 1
        return self.likeliest(logits[first : first + len(ids)])

    def _readings(self, text: str) -> list[list[dict[str, Any]]]:
        """What a model with a language head would put at each place; nothing for other heads."""
        config = self.shown_model.config
        if config.head.kind != "language-model" or config.shape not in ("encoder", "decoder"):
            return []
        return self.likeliest(self._traces.value(self.shown_model.look(text, ()), "logits"))

    def likeliest(self, logits: Tensor) -> list[list[dict[str, Any]]]:
        """The most probable tokens of each row. logits: T V."""
        probabilities, ids = top(logits.float().softmax(-1), CHOICES)
        spelled = spell_each(self.shown_model.target_tokenizer, ids.flatten().tolist())
        width = ids.size(-1)
        return [
            [
                {**spelled[row * width + place], "probability": float(probabilities[row, place])}
                for place in range(width)
            ]
            for row in range(len(ids))
        ]

    def _nodes(self, tree: BeamTree, penalty: LengthPenalty) -> list[dict[str, Any]]:
        tokens = spell_each(self.shown_model.target_tokenizer, [node.token or 0 for node in tree.nodes])
        return [
            {
                "id": node.id,
                "parent": node.parent,
                "depth": node.depth,
                "token": None if node.token is None else tokens[node.id],
                "token_log_prob": _finite(node.token_log_prob),
                "log_prob": _finite(node.log_prob),
                "divisor": penalty.divisor(node.depth, ended=node.fate is Fate.FINISHED) if node.depth else None,
                "score": None if node.score is None else _finite(node.score),
                "fate": fate_name(node),
            }
            for node in tree.nodes
        ]


def fate_name(node: Node) -> str:
    """A key for the catalogues: kept, finished, outside_beam, …"""
    return node.fate.name.lower()


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

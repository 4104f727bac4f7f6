"""What a model writes: translations, continuations, and the whole tree of a beam search.

The search is the library's own, called with the settings that `Translator` uses, so that what is shown here is what
`clearformer translate` prints.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.greedy import greedy
from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.logits import Temperature, TopK, TopP, Transform
from clearformer.decoding.ranking import top
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import sample
from clearformer.decoding.tree import BeamTree, Fate, Node, TreeRecorder
from clearformer.inference.steppers import pad_sources, stepper_for
from clearformer.inference.text_generator import DecoderStepper
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import beam_config
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.attention_layers import sites_of
from clearformer.studio.packing import pack
from clearformer.studio.shown_model import ShownModel, check_length
from clearformer.studio.spelling import spell
from clearformer.studio.trace_cache import TraceCache

MAX_SEARCHED = 256  # tokens of a source: a search takes time with every token that it writes
CHOICES = 5  # likeliest tokens shown for each step


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How to write."""

    method: Literal["beam", "greedy", "sampling"] = "beam"
    beam: int = 4
    penalty: Literal["average", "gnmt"] = "average"
    alpha: float = 1.0
    stop: Literal["full", "proved"] = "full"
    temperature: float = 1.0
    top_k: int = 0  # 0: all
    top_p: float = 1.0
    seed: int = 0
    max_new: int = 40  # continuations have no source to measure their length by

    def search(self) -> BeamConfig:
        """The same in the words of the search."""
        settings = {"penalty": self.penalty, "alpha": self.alpha, "stop": self.stop}
        return beam_config(DecodingConfig(beam=self.beam, nbest=self.beam, **settings))  # type: ignore[arg-type]


class Writer:
    """A subject that writes. Answers are plain data, ready for JSON."""

    def __init__(self, subject: ShownModel, seen: TraceCache, turns: Turns) -> None:
        self.subject, self._seen, self._turns = subject, seen, turns
        self._stepper: Any = None  # an encoder–decoder's, made when it is first needed
        self._answers: dict[tuple[tuple[int, ...], Choices], list[Hypothesis]] = {}

    @property
    def task(self) -> Literal["translate", "generate", "read"]:
        """What this model does with a text."""
        if self.subject.target_tokenizer is None or not self.subject.reads_tokens:
            return "read"
        if self.subject.has_target:
            return "translate"
        scores_tokens = self.subject.config.head.kind == "language-model"
        return "generate" if self.subject.config.shape == "decoder" and scores_tokens else "read"

    def best(self, text: str, choices: Choices | None = None) -> tuple[int, ...]:
        """The ids of what is written for a text; nothing where the model only reads."""
        if self.task != "translate":
            return ()
        return self._search(self.subject.read(text), choices or Choices())[0].tokens

    def write(self, text: str, choices: Choices) -> dict[str, Any]:
        """What is written, best first, with everything that the page shows of it."""
        source = self.subject.read(text)
        if self.task == "read":
            return {
                "source": spell(self.subject.source_tokenizer, source),
                "results": [],
                "readings": self._readings(text),
            }
        found = self._search(source, choices)
        return {
            "source": spell(self.subject.source_tokenizer, source),
            "results": [self._present(text, one, detailed=place == 0) for place, one in enumerate(found)],
            "readings": [],
        }

    def result(self, text: str, ids: Sequence[int], choices: Choices) -> dict[str, Any]:
        """One of the alternatives in full."""
        source = self.subject.read(text)
        for one in self._search(source, choices):
            if one.tokens == tuple(ids):
                return self._present(text, one, detailed=True)
        raise ValueError("this is none of the alternatives of this text")

    def tree(self, text: str, choices: Choices, prefix: Sequence[int]) -> dict[str, Any]:
        """Every candidate of the beam search, the answer, and which leaf it is."""
        if self.task == "read":
            raise Refused("silent", "this model writes nothing, so there is no search to show")
        source = self.subject.read(text)
        recorder = TreeRecorder()
        with self._turns.mine():
            [found] = self._beam(source, choices, prefix=prefix, recorder=recorder)
        tree = recorder.trees[0]
        return {
            "source": spell(self.subject.source_tokenizer, source),
            "nodes": self._nodes(tree, choices),
            "best": tree.finished()[0].id if tree.finished() else None,
            "answer": self._present(text, found[0], detailed=False),
            "prefix": list(prefix),
        }

    # --- searching ---------------------------------------------------------------------------------------------------

    def _search(self, source: tuple[int, ...], choices: Choices) -> list[Hypothesis]:
        key = (source, choices)
        if key not in self._answers:
            with self._turns.mine():
                found = self._write_with(source, choices)
            if len(self._answers) >= 64:
                self._answers.pop(next(iter(self._answers)))
            self._answers[key] = found
        return self._answers[key]

    def _write_with(self, source: tuple[int, ...], choices: Choices) -> list[Hypothesis]:
        if choices.method == "beam":
            return self._beam(source, choices)[0]
        stepper, given, rules, longest = self._parts(source, choices)
        if choices.method == "greedy":
            return greedy(stepper, given, rules=rules, max_len=longest)
        transforms: list[Transform] = [Temperature(choices.temperature)]
        if choices.top_k:
            transforms.append(TopK(choices.top_k))
        if choices.top_p < 1:
            transforms.append(TopP(choices.top_p))
        return sample(stepper, given, rules=rules, max_len=longest, seeds=[choices.seed], transforms=transforms)

    def _beam(
        self,
        source: tuple[int, ...],
        choices: Choices,
        *,
        prefix: Sequence[int] = (),
        recorder: TreeRecorder | None = None,
    ) -> list[list[Hypothesis]]:
        stepper, given, rules, longest = self._parts(source, choices)
        if self.subject.has_target and len(prefix) < len(self.subject.markers.forced):
            prefix = self.subject.markers.forced
        if len(prefix) >= longest:
            told = "a beginning of {count} tokens leaves no room; at most {limit} are written"
            raise Refused("prefix", told, count=len(prefix), limit=longest)
        return beam_search(
            stepper,
            given,
            rules=rules,
            config=choices.search(),
            max_len=longest,
            prefixes=[list(prefix)] if prefix else None,
            recorder=recorder,
        )

    def _parts(self, source: tuple[int, ...], choices: Choices) -> tuple[Any, Any, Rules, int]:
        """Stepper, its source, the rules and the greatest length: as `Translator` has them."""
        check_length(len(source), MAX_SEARCHED, "searched")
        tokenizer = self.subject.target_tokenizer
        assert tokenizer is not None
        special = tokenizer.special_ids
        eos = next((special[role] for role in ("eos", "sep", "pad") if role in special), None)
        if eos is None:
            raise Refused("endless", "this vocabulary has no end token, so nothing could ever be finished")
        banned = tuple(sorted({special[role] for role in ("pad", "bos", "unk") if role in special} - {eos}))
        rules = Rules(eos=eos, banned=banned)
        if not self.subject.has_target:
            longest = min(choices.max_new, self._room(self.subject.config.max_len, len(source)))
            return DecoderStepper(self.subject.model), [source], rules, longest
        assert self.subject.source_tokenizer is not None
        if self._stepper is None:
            self._stepper = stepper_for(self.subject.model, bos=self.subject.start_id)
        given = pad_sources([list(source)], self.subject.source_tokenizer.special_ids.get("pad", 0))
        longest = min(DecodingConfig().longest(len(source)), self._room(self.subject.config.max_len, 1))
        return self._stepper, given, rules, longest

    def _room(self, max_len: int, used: int) -> int:
        position = self.subject.config.decoder_position or self.subject.config.position
        if position.kind != "learned":
            return 10**9
        if max_len <= used:
            told = "the text fills all {limit} positions that this model learned; shorten it"
            raise Refused("positions", told, limit=max_len)
        return max_len - used

    # --- presenting --------------------------------------------------------------------------------------------------

    def _present(self, text: str, found: Hypothesis, *, detailed: bool) -> dict[str, Any]:
        tokenizer = self.subject.target_tokenizer
        assert tokenizer is not None
        tokens: list[dict[str, Any]] = [dict(token) for token in spell(tokenizer, found.tokens)]
        for token, log_prob in zip(tokens, found.token_log_probs, strict=False):
            token["log_prob"] = log_prob
        shown: dict[str, Any] = {
            "text": tokenizer.decode(found.tokens),
            "ids": list(found.tokens),
            "score": found.score,
            "log_prob": found.log_prob,
            "end_log_prob": found.token_log_probs[-1] if found.ended else None,
            "tokens": tokens,
        }
        if detailed and found.tokens:
            shown["alignment"] = self._alignment(text, found.tokens)
            shown["choices"] = self._choices(text, found.tokens)
        return shown

    def _alignment(self, text: str, ids: Sequence[int]) -> Any:
        """How much each written token looked at each source token: the mean head of the last cross layer but one."""
        crossing = [site for site in sites_of(self.subject.model) if site.kind == "cross"]
        if not crossing:
            return None
        name = f"{crossing[max(0, len(crossing) - 2)].name}.weights"
        return pack(self._seen.value(self.subject.look(text, ids), name).mean(dim=0)[: len(ids)])

    def _choices(self, text: str, ids: Sequence[int]) -> list[list[dict[str, Any]]]:
        """The likeliest tokens at each step, as the model saw them."""
        logits = self._seen.value(self.subject.look(text, ids), "logits")
        first = 0 if self.subject.has_target else len(self.subject.read(text)) - 1
        return self.likeliest(logits[first : first + len(ids)])

    def _readings(self, text: str) -> list[list[dict[str, Any]]]:
        """What a model with a language head would put at each place; nothing for other heads."""
        config = self.subject.config
        if config.head.kind != "language-model" or config.shape not in ("encoder", "decoder"):
            return []
        return self.likeliest(self._seen.value(self.subject.look(text, ()), "logits"))

    def likeliest(self, logits: Tensor) -> list[list[dict[str, Any]]]:
        """The most probable tokens of each row. logits: T V."""
        probabilities, ids = top(logits.float().softmax(-1), CHOICES)
        spelled = spell(self.subject.target_tokenizer, ids.flatten().tolist())
        width = ids.size(-1)
        return [
            [
                {**spelled[row * width + place], "probability": float(probabilities[row, place])}
                for place in range(width)
            ]
            for row in range(len(ids))
        ]

    def _nodes(self, tree: BeamTree, choices: Choices) -> list[dict[str, Any]]:
        tokens = spell(self.subject.target_tokenizer, [node.token or 0 for node in tree.nodes])
        for token in tokens:
            token.pop("whole", None)  # neighbours in this list are rivals, not the next byte
        penalty = choices.search().penalty
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

"""Why a classifier or an answerer says what it says, word by word, for the pages.

The same objects answer as behind `clearformer classify --why` and `clearformer answer --why`.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from clearformer.foundation.forms import FormField, describe_fields
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.reading_settings import WhyClassConfig, WhyConfig
from clearformer.inference.text_readers import Classifier
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.shown_model import MAX_TOKENS, ShownModel, check_length

SHOWN = ("why", "of", "baseline", "steps")
MOST_STEPS = 256  # somebody waits for the answer


def why_fields() -> list[FormField]:
    """The settings that the page asks for, within bounds for answers that somebody waits for."""
    return [
        {**told, "most": MOST_STEPS} if told["name"] == "steps" else told
        for told in describe_fields(WhyClassConfig, only=SHOWN)
    ]


class WordExplainer:
    """Explains what the shown model says of a text. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, turns: Turns) -> None:
        self.shown_model, self._turns = shown_model, turns

    @cached_property
    def classifier(self) -> Classifier:
        """The object behind `clearformer classify`."""
        return Classifier(self.shown_model.bundle)

    @cached_property
    def answerer(self) -> Answerer:
        """The object behind `clearformer answer`."""
        return Answerer(self.shown_model.bundle)

    def why(self, text: str, question: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the model says, and how much each word counted for it."""
        kind = self.shown_model.config.head.kind
        if kind not in ("class", "span") or self.shown_model.source_tokenizer is None:
            raise Refused("inexplicable", "this model neither classifies texts nor answers questions")
        if not text.strip() or (kind == "span" and not question.strip()):
            raise Refused("empty", "there is nothing to read; write a sentence")
        self.shown_model.check_text(text)
        self.shown_model.check_text(question)
        check_length(sum(map(len, self.shown_model.source_tokenizer.ids([text, question]))), MAX_TOKENS)
        config = WhyClassConfig(**given)
        with self._turns.mine():
            return self._class(text, config) if kind == "class" else self._answer(text, question, config)

    def _class(self, text: str, config: WhyClassConfig) -> dict[str, Any]:
        [explained] = self.classifier.why(text, config)
        if self.classifier.outcome.kind == "number":
            [estimate] = self.classifier.estimate(text)
            return {"kind": "number", **asdict(estimate), **explained.to_plain()}
        [found] = self.classifier.classify(text)
        return {"kind": "class", **asdict(found), **explained.to_plain()}

    def _answer(self, text: str, question: str, config: WhyClassConfig) -> dict[str, Any]:
        found = self.answerer.answer(question, text)
        plain = {name: value for name, value in vars(config).items() if name != "of"}
        explained = self.answerer.why(question, text, found, replace(WhyConfig(), **plain))
        return {"kind": "span", "answer": {**asdict(found), "probability": found.probability}, **explained.to_plain()}

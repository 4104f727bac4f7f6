"""Summaries for the pages, by the same object that answers behind `clearformer summarize`."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from clearformer.foundation.forms import FormField, describe_fields
from clearformer.inference.summarizer import Summarizer
from clearformer.inference.summary_settings import SummaryConfig
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.shown_model import ShownModel

SHOWN = ("beam", "alpha", "no_repeat_ngram", "max_tokens", "long")
MOST = {"beam": 16, "no_repeat_ngram": 16, "max_tokens": 512}  # somebody waits for the answer


def summary_fields(usual: SummaryConfig | None = None) -> list[FormField]:
    """The settings that the page asks for. usual: those of the model folder's own recipe, which are the defaults."""
    values = vars(usual or SummaryConfig())
    return [
        {**told, "most": MOST.get(told["name"], told["most"]), "default": values[told["name"]]}
        for told in describe_fields(SummaryConfig, only=SHOWN)
    ]


class SummaryWriter:
    """Summarises texts with the shown model. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, turns: Turns) -> None:
        self.shown_model, self._turns = shown_model, turns

    @cached_property
    def summarizer(self) -> Summarizer:
        """The object behind `clearformer summarize`."""
        shown = self.shown_model
        if not shown.has_target or not shown.reads_tokens or shown.source_tokenizer is None:
            raise Refused("nosummary", "this model does not write one text for another, so it cannot summarise")
        return Summarizer(shown.bundle)

    def fields(self) -> list[FormField]:
        """The form, as this model's recipe fills it in."""
        return summary_fields(self.summarizer.usual)

    def summarize(self, text: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """A summary, with how it came about; share: of the text's length. What is too long is read as settings say."""
        summarizer = self.summarizer
        self.shown_model.check_text(text)
        if not text.strip():
            raise Refused("empty", "there is nothing to read; write a sentence")
        with self._turns.mine():
            [found] = summarizer.summarize(text, replace(summarizer.usual, **given))
        return {**asdict(found), "share": len(found.text) / len(text.strip())}

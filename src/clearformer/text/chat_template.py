"""A model's chat template: how the messages of a conversation become the text that the model was trained to answer.

Templates come from strangers. They are read by our own interpreter of the small part of the template language that
they need (`templates/`), and are refused where they ask for more.
"""

from collections.abc import Mapping, Sequence

from clearformer.text.special import ROLES, SpecialTokens
from clearformer.text.templates.budget import TemplateError
from clearformer.text.templates.evaluator import evaluate
from clearformer.text.templates.parser import parse

LONGEST = 200_000  # characters; the longest published ones have some ten thousand


class ChatTemplate:
    """A template with the special tokens that it may name."""

    def __init__(self, source: str, special: SpecialTokens) -> None:
        if len(source) > LONGEST:
            raise ValueError(f"a chat template of {len(source):,} characters is more than {LONGEST:,}; refused")
        self.source = source
        self.special = {f"{role}_token": spelt for role in ROLES if (spelt := special.spelling(role)) is not None}
        try:
            self._statements = parse(source)
        except TemplateError as error:
            raise ValueError(f"the model's chat template cannot be used: {error}") from None

    def render(self, messages: Sequence[Mapping[str, object]], *, answer: bool) -> str:
        """The text of a conversation. answer: up to where the model's answer begins."""
        given = {
            **self.special,
            "messages": list(messages),
            "add_generation_prompt": answer,
            "tools": None,
            "documents": None,
        }
        try:
            return evaluate(self._statements, given)
        except TemplateError as error:
            raise ValueError(f"the model's chat template does not accept this conversation: {error}") from None

"""Conversations as a model's tokens: its chat template and vocabulary together, and which tokens are its answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.turns import Message
from clearformer.text.chat_template import ChatTemplate
from clearformer.text.tokenizer import Tokenizer


def template_of(chat_template: str | None, provenance: Mapping[str, Any]) -> str | None:
    """A model's template. Folders that were fetched before templates had a place of their own have it as a fact."""
    known = chat_template or provenance.get("chat_template")
    return known if isinstance(known, str) else None


class ChatText:
    """How one model is told of a conversation."""

    def __init__(self, tokenizer: Tokenizer, template: str) -> None:
        self.tokenizer = tokenizer
        self.template = ChatTemplate(template, tokenizer.special)
        self.marks = tokenizer.marks()
        self.ends = self._ends()

    def render(self, messages: Sequence[Message], *, answer: bool) -> str:
        """A conversation as the model's text. answer: up to where its answer begins."""
        for one in messages:
            for mark in self.marks:
                if mark in one.content:  # it would become the token, and end a turn or begin another
                    raise ValueError(f"a message of the {one.role} spells {mark}, a special token of this model")
        return self.template.render([{"role": one.role, "content": one.content} for one in messages], answer=answer)

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """The prompt for the next answer. The template writes every special token itself, a start token, too."""
        return list(self.tokenizer.encode(self.render(messages, answer=True), add_special=False).ids)

    def learned(self, messages: Sequence[Message]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The ids of a conversation, and which of them the model should say: its answers and the end of each.

        Found by rendering: an answer is what the template adds to the text at whose end the model would begin. An
        answer that somebody stopped is no example to follow.
        """
        whole = self.render(messages, answer=False)
        found = self.tokenizer.encode(whole, add_special=False)
        ids = np.array(found.ids, dtype=np.int64)
        chosen = np.zeros(len(ids), dtype=np.bool_)
        starts, ends = (np.array(side) for side in zip(*found.offsets, strict=True))
        for place, one in enumerate(messages):
            if one.role != "assistant" or one.stopped:
                continue
            before = self.render(messages[:place], answer=True)
            through = self.render(messages[: place + 1], answer=False)
            if not (through.startswith(before) and whole.startswith(through)):
                raise ValueError("the model's chat template writes an answer in another way than it asks for one")
            inside = np.flatnonzero((starts >= len(before)) & (ends <= len(through)))
            closing = np.flatnonzero(np.isin(ids[inside], list(self.ends)))
            chosen[inside[: closing[0] + 1] if len(closing) else inside] = True
        return ids, chosen

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer: the vocabulary's, and what the template writes behind an answer."""
        known = self.tokenizer.special_ids
        ends = {known[role] for role in known if role in ("eos", "sep")}
        said = [Message(role="user", content="Well?"), Message(role="assistant", content="Yes.")]
        behind = self.render(said, answer=False).rpartition("Yes.")[2]
        ids = self.tokenizer.encode(behind, add_special=False).ids
        found = frozenset(ends | {number for number in ids[:1] if number in self.marks.values()})
        if not found:
            raise ValueError("neither this vocabulary nor the chat template has a token that ends an answer")
        return found

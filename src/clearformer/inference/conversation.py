"""A conversation with a model that was made for it: its own template, keys and values kept between turns.

The whole conversation is rendered by the template each time, so that the model always sees what it was trained on; of
the tokens, only those that are new are read. When a conversation grows longer than the model's context, the oldest
turns are left out, whole, and the system message stays.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from clearformer.data.chat_text import ChatText, template_of
from clearformer.data.readers.turns import Message, check_order
from clearformer.decoding.rules import Rules
from clearformer.decoding.stream import TokenChoice
from clearformer.folder.bundle import Bundle
from clearformer.inference.chat_settings import ChatConfig
from clearformer.inference.kept_stepper import KeptStepper, Stopped
from clearformer.inference.steppers import SearchInput
from clearformer.inference.text_generator import TextGenerator, write_tokens
from clearformer.text.tokenizer import MAX_CHARACTERS

SHARE = 4  # an answer has at least this part of the context as room, or max_new tokens if that is less
HALF = "\ufffd"  # what a character looks like of which only some bytes were chosen


@dataclass(frozen=True, kw_only=True)
class Answered:
    """How an answer came about. ended: the model ended its turn, max_new or the context was reached, or a person
    stopped it. dropped: oldest turns that the model did not see. read: tokens of the prompt that were new to it.
    """

    text: str
    tokens: int
    ended: Literal["turn", "length", "stopped"]
    dropped: int
    read: int


class Chatter(TextGenerator):
    """A language model with its chat template: it continues texts as any other, and converses, too."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, wanted="conversation")
        template = template_of(bundle.preprocessing.chat_template, bundle.provenance)
        if template is None:
            raise ValueError(
                "this model continues texts and was not made to converse: it has no chat template; use `clearformer "
                "generate`, or fetch one that converses with `clearformer models get smollm2`"
            )
        self.text = ChatText(self.tokenizer, template)

    def chat(self, message: str, config: ChatConfig | None = None, *, system: str | None = None, **changes: Any) -> str:
        """The answer to a single message. changes: single settings, such as max_new=20."""
        return "".join(self.begin(system=system).say(message, replace(config or ChatConfig(), **changes)))

    def begin(self, messages: Sequence[Message] = (), *, system: str | None = None) -> "Conversation":
        """A new conversation, or one to go on with."""
        first = [] if system is None else [Message(role="system", content=system)]
        return Conversation(self, [*first, *messages])


class Conversation:
    """Messages so far, and what the model has read of them."""

    def __init__(self, chatter: Chatter, messages: Sequence[Message] = ()) -> None:
        self.chatter = chatter
        self.messages = list(messages)
        if any(one.role != "system" for one in messages):
            check_order(messages)
        self.last: Answered | None = None
        self._stepper = KeptStepper(chatter.network)
        self._answers = 0  # each draws its own numbers

    def say(
        self, text: str, config: ChatConfig | None = None, *, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Say something, and hear the answer piece by piece. Both are kept, an answer that was stopped, too.

        stopped: asked before every token; closing the iterator stops as well.
        """
        if not text.strip():
            raise ValueError("the message is empty; write something")
        if self.messages and self.messages[-1].role == "user":
            raise ValueError("the last message has no answer yet; ask for it, or undo")
        return self._answer([*self.messages, Message(role="user", content=text)], config or ChatConfig(), stopped)

    def again(self, config: ChatConfig | None = None, *, stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
        """Another answer to the last message, in place of the one before. Without chance it is the same answer."""
        messages = self.messages[:-1] if self.messages[-1:] and self.messages[-1].role == "assistant" else self.messages
        if not messages or messages[-1].role != "user":
            raise ValueError("there is no message to answer again")
        return self._answer(messages, config or ChatConfig(), stopped)

    def undo(self) -> str:
        """Take the last message and its answer back; returns the message."""
        for place in range(len(self.messages) - 1, -1, -1):
            if self.messages[place].role == "user":
                text = self.messages[place].content
                del self.messages[place:]
                return text
        raise ValueError("there is nothing to undo")

    def instruct(self, system: str) -> None:
        """Another system message; an empty one is none."""
        rest = [one for one in self.messages if one.role != "system"]
        self.messages = ([Message(role="system", content=system)] if system.strip() else []) + rest

    # --- inside ------------------------------------------------------------------------------------------------------

    def _answer(self, messages: list[Message], config: ChatConfig, stopped: Callable[[], bool]) -> Iterator[str]:
        prompt, dropped = self._window(messages, config)
        room = self.chatter.context - len(prompt)
        chosen: list[int] = []
        ended: Literal["turn", "length", "stopped"] = "stopped"  # unless the model gets to an end
        shown = ""
        self._stepper.stopped = stopped
        try:
            with suppress(Stopped):  # while the prompt was read: there is no answer, and `ended` says so already
                for choice in self._choices(prompt, replace(config, max_new=min(config.max_new, room))):
                    if choice.token in self.chatter.text.ends:
                        ended = "turn"
                        break
                    chosen.append(choice.token)
                    text = self.chatter.tokenizer.decode(chosen)
                    if text.startswith(shown) and not text.endswith(HALF):
                        piece, shown = text[len(shown) :], text
                        yield piece
                    if stopped():
                        break
                else:
                    ended = "length"
        finally:
            self._keep(messages, shown, ended)
            self.last = Answered(text=shown, tokens=len(chosen), ended=ended, dropped=dropped, read=self._stepper.read)
            self._answers += 1

    def _keep(self, messages: list[Message], text: str, ended: str) -> None:
        """A message and its answer; one that was stopped before its first word leaves no trace."""
        if text.strip():
            answer = Message(role="assistant", content=text, stopped=ended == "stopped")
            self.messages = [*messages, answer]

    def _choices(self, prompt: list[int], config: ChatConfig) -> Iterator[TokenChoice]:
        tokenizer, rows = self.chatter.tokenizer, self.chatter.bundle.config.vocab_size
        end = min(self.chatter.text.ends)
        rules = Rules(eos=end, banned=tuple(range(tokenizer.vocab_size, rows)))  # rows that no text consists of
        given = SearchInput(
            stepper=self._stepper, source=[prompt], rules=rules, max_len=[config.max_new], prefixes=None
        )
        return write_tokens(given, replace(config, seed=config.seed + self._answers))

    def _window(self, messages: list[Message], config: ChatConfig) -> tuple[list[int], int]:
        """The prompt, without as many of the oldest turns as it takes, and how many those are."""
        context = self.chatter.context
        most = context - min(config.max_new, context // SHARE)
        first = [one for one in messages[:1] if one.role == "system"]
        rest = messages[len(first) :]

        def prompt(dropped: int) -> list[int] | None:
            """None: too long even to be encoded."""
            left = [*first, *rest[2 * dropped :]]
            far = sum(len(one.content) for one in left) > MAX_CHARACTERS // 2 and len(left) > len(first) + 1
            return None if far else self.chatter.text.encode(left)

        def is_long(dropped: int) -> bool:
            found = prompt(dropped)
            return found is None or len(found) > most

        turns = (len(rest) + 1) // 2
        dropped = bisect_left(range(turns), 1, key=lambda count: not is_long(count))  # the fewest that will do
        found = prompt(min(dropped, turns - 1)) or []
        if dropped == turns:
            raise ValueError(
                f"the message has {len(found)} tokens, what stands around it included, and the model has room for "
                f"{most} beside an answer; shorten it"
            )
        return found, dropped

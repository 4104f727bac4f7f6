"""Tokens as they are chosen, and the text that may be shown so far: whole characters, and nothing of a stop text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from clearformer.decoding.stop_texts import find_stop, held_back
from clearformer.decoding.stream import TokenChoice

Ending = Literal["end", "stop", "length"]  # the model's own end token, a stop text, or as many tokens as were allowed
HALF = "\ufffd"  # what bytes decode to that are no whole character yet


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """What was written after a prompt. tokens and log_probs have the end token and those of a stop text, too."""

    text: str
    ended: Ending
    seed: int
    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]


class WrittenText:
    """One text while it is written. fits: whether it has the form that was asked for, where one was."""

    def __init__(
        self,
        decode: Callable[[Sequence[int]], str],
        prompt: Sequence[int],
        *,
        end: int,
        stops: Sequence[str],
        fits: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._decode, self._prompt, self._end, self._stops = decode, list(prompt), end, stops
        self._fits = fits
        self._before = len(decode(prompt))
        self._shown = ""
        self.choices: list[TokenChoice] = []
        self.ended: Ending | None = None

    def add(self, choice: TokenChoice) -> str:
        """Take a token and return what can be shown since the last one."""
        self.choices.append(choice)
        if choice.token == self._end:
            self.ended = "end"
            return self._finish(self._all())
        text = self._all()
        place = find_stop(text, self._stops, len(self._shown))
        if place is not None:
            self.ended = "stop"
            return self._finish(text[:place])
        text = text.rstrip(HALF)  # half a character waits for its other half
        return self._show(text[: len(text) - held_back(text, self._stops)])

    def close(self) -> str:
        """No more tokens: return what was held back, without the half of a character that the limit cut off."""
        if self.ended is not None:
            return ""
        self.ended = "length"
        return self._finish(self._all().rstrip(HALF))

    def _finish(self, text: str) -> str:
        if self._fits is not None and not self._fits(text.encode("utf-8")):
            raise ValueError(f"the vocabulary spells its tokens otherwise than they join, so {text!r} has not its form")
        return self._show(text)

    def result(self, seed: int) -> Continuation:
        """The finished text with its tokens."""
        assert self.ended is not None
        return Continuation(
            text=self._shown,
            ended=self.ended,
            seed=seed,
            tokens=tuple(choice.token for choice in self.choices),
            log_probs=tuple(choice.log_prob for choice in self.choices),
        )

    def _all(self) -> str:
        said = [choice.token for choice in self.choices if choice.token != self._end]
        return self._decode([*self._prompt, *said])[self._before :]

    def _show(self, text: str) -> str:
        if not text.startswith(self._shown):  # a decoder that joins pieces may still change the last word
            if self.ended is None:
                return ""
            self._shown, text = text, text[len(self._shown) :]
            return text
        new, self._shown = text[len(self._shown) :], text
        return new

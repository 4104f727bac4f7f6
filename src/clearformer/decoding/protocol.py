"""All that a decoder needs to know about a model: how to start, take one step, select rows and join rows.

Shape letters: R rows (one per sentence at first; sentences × beam later), V vocabulary.

How three kinds of model fit:

- Encoder–decoder Transformer: `start` runs the encoder, allocates the key–value caches and returns the start symbol of
  every row; `step` appends one position to the caches. `select` is one `index_select` per cache; `join` pads the
  shorter past and the shorter source, and masks the padding.
- LSTM: the state is (hidden, cell, encoder memory); `select` indexes all of them, `join` concatenates them.
- Decoder-only language model with left-padded prompts: `start` runs the prompts without their last token through the
  model and returns that last token; the padding mask and each row's next position id live in the state.
"""

from typing import Any, Protocol, Self, TypeVar

from torch import Tensor


class DecodingState(Protocol):
    """A model's state of the rows being decoded: caches, memories, masks, position ids."""

    def select(self, rows: Tensor) -> Self:
        """The state whose row i is this state's row `rows[i]` (int64, on the model's device).

        Rows may be dropped (a sentence is finished), reordered and repeated (a beam forks), so the number of rows can
        shrink and grow. The old state is never used again: its memory may be reused.
        """
        ...

    def join(self, other: Self) -> Self:
        """This state's rows, then those of another state of the same model, each with the past and source it has.

        So a new request can join others that are under way; it changes no other row's tokens.
        Neither of the two states is used again. A state that cannot take new rows says so with a ValueError.
        """
        ...


S = TypeVar("S", bound=DecodingState)


class Stepper(Protocol[S]):
    """A model as the decoders see it. Rows never influence each other: so batching does not change results."""

    def start(self, source: Any) -> tuple[Tensor, S]:
        """Read the source and return the first input token of every row (R, int64) and the state before that token."""
        ...

    def step(self, tokens: Tensor, state: S) -> tuple[Tensor, S]:
        """Feed one token to every row (R) and return the logits of the next one (R V) and the state after it.

        The state passed in is never used again, so caches may be written in place.
        """
        ...

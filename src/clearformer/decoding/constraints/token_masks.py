"""Which tokens may come next, so that the text fits its form when it ends, and ends in time."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.grammar import Grammar
from clearformer.decoding.constraints.token_trie import TokenTrie

MOST_BYTES = 1 << 26  # of masks that are remembered
NEVER = 1 << 40


class ImpossibleError(ValueError):
    """No text fits, or none that this vocabulary can write in time. needed: how many tokens one would take."""

    def __init__(self, told: str, *, needed: int | None = None, limit: int = 0) -> None:
        super().__init__(told)
        self.needed, self.limit = needed, limit


class TokenMasks:
    """A form over a vocabulary. Rows that are written at the same time share it: a row is known by its tokens.

    limit: the most tokens a text may have. A token is allowed if, after it, the shortest way to the end still fits. So
    a text fits its form also where the limit ends it. bare: nothing stands before the text, and the vocabulary takes a
    space off its beginning.
    """

    def __init__(
        self, grammar: Grammar, trie: TokenTrie, *, end: int, size: int, limit: int, bare: bool = False
    ) -> None:
        self._trie, self._end, self._size, self._limit = trie, end, size, limit
        self._first = TokenTrie([spelt and spelt.removeprefix(b" ") for spelt in trie.tokens]) if bare else trie
        self._automaton = Automaton(spelled(grammar, trie, limit))
        self._costs: dict[int, int] = {}
        self._masks: OrderedDict[tuple[int, bool], tuple[Tensor, int]] = OrderedDict()
        self._states: OrderedDict[tuple[int, ...], int] = OrderedDict()
        cost = self._cost(self._automaton.start)
        if cost > limit:
            told = f"the shortest text that fits takes {cost} tokens, and at most {limit} may be written"
            raise ImpossibleError(told, needed=cost, limit=limit)
        self.allowed(())  # a form with too many states is found out before the first token

    def allowed(self, history: Sequence[int]) -> Tensor:
        """Which tokens may follow these: V, on the CPU."""
        written = tuple(history)
        state = self._state(written)
        left = self._limit - len(written)
        mask, farthest = self._mask(state, first=not written)
        if farthest < left:
            return mask
        return self._in_time(state, left, first=not written)

    def fits(self, data: bytes) -> bool:
        """Whether a finished text fits."""
        return self._automaton.accepts(self._automaton.step(self._automaton.start, data))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _state(self, written: tuple[int, ...]) -> int:
        """Where the tokens lead; each row's way is remembered up to its last token."""
        if written not in self._states:
            state = self._automaton.start
            if len(written) > 1:
                state = self._state(written[:-1]) if written[:-1] in self._states else self._walked(written[:-1])
            if written:
                trie = self._first if len(written) == 1 else self._trie
                state = self._automaton.step(state, trie.tokens[written[-1]] or b"")
            self._states[written] = state
            if len(self._states) > 4096:
                self._states.popitem(last=False)
        return self._states[written]

    def _walked(self, written: tuple[int, ...]) -> int:
        spelt = [self._first.tokens[written[0]], *(self._trie.tokens[token] for token in written[1:])]
        return self._automaton.step(self._automaton.start, b"".join(one or b"" for one in spelt))

    def _mask(self, state: int, *, first: bool) -> tuple[Tensor, int]:
        """What fits, whatever the limit, and the most tokens that may be wanting after it: at most as many as bytes."""
        key = (state, first)
        if key in self._masks:
            self._masks.move_to_end(key)
            return self._masks[key]
        following = self._following(state, first)
        wanting = self._automaton.distance if self._trie.spells_bytes else self._cost
        bounds = np.full(int(following.max(initial=0)) + 1, NEVER)
        for one in _reached(following):
            bounds[one] = wanting(one)
        farthest = int(bounds[bounds < NEVER].max(initial=0))
        self._masks[key] = self._as_tensor(bounds[following] < NEVER, state), farthest
        if len(self._masks) * self._size > MOST_BYTES:
            self._masks.popitem(last=False)
        return self._masks[key]

    def _in_time(self, state: int, left: int, *, first: bool) -> Tensor:
        """What fits and leaves enough tokens to come to an end."""
        following = self._following(state, first)
        in_time = np.zeros(int(following.max(initial=0)) + 1, dtype=bool)
        for one in _reached(following):
            in_time[one] = self._cost(one) < left
        return self._as_tensor(in_time[following], state)

    def _following(self, state: int, first: bool) -> NDArray[np.int32]:
        return (self._first if first else self._trie).walk(self._automaton, state)

    def _as_tensor(self, fitting: NDArray[np.bool_], state: int) -> Tensor:
        mask = torch.zeros(self._size, dtype=torch.bool)
        mask[: len(fitting)] = torch.from_numpy(fitting)
        mask[self._end] = self._automaton.accepts(state)
        return mask

    def _cost(self, state: int) -> int:
        """The fewest tokens that spell the completion of a state. Since the rest of a completion is the completion of
        where it has come to, the first of these tokens always leads to a state that costs one less.
        """
        if state not in self._costs:
            rest = self._automaton.completion(state)
            states = [state]
            for byte in rest:
                states.append(self._automaton.step(states[-1], bytes([byte])))
            self._costs[states[-1]] = 0
            for place in range(len(rest) - 1, -1, -1):
                if states[place] not in self._costs:
                    ends = range(place + 1, min(len(rest), place + self._trie.longest) + 1)
                    costs = [self._costs[states[end]] for end in ends if rest[place:end] in self._trie.known]
                    self._costs[states[place]] = min(costs, default=NEVER) + 1
        return self._costs[state]


def _reached(states: NDArray[np.int32]) -> list[int]:
    """Each state once, without the dead one."""
    return [int(state) for state in np.flatnonzero(np.bincount(states)) if state != DEAD]


def spelled(grammar: Grammar, trie: TokenTrie, limit: int) -> ByteNetwork:
    """The form in the characters that a vocabulary has; refused where there is no such text."""
    reach = limit * max(trie.longest, 1) + 1
    network = ByteNetwork.of(grammar, alphabet=trie.alphabet, reach=reach)
    if network.shortest is not None:
        return network
    free = ByteNetwork.of(grammar, reach=reach)
    if free.shortest is None:
        raise ImpossibleError("no text fits: it asks for what cannot be, or for something without an end")
    automaton = Automaton(free)
    wanted = automaton.completion(automaton.start).decode("utf-8")
    missing = [letter for letter in dict.fromkeys(wanted) if letter not in trie.alphabet]
    shown = ", ".join(map(repr, missing[:5]))
    raise ImpossibleError(f"this vocabulary has no token for {shown}, and no text fits without it")

"""Walk a network byte by byte: all ways at once, and each set of ways has a number.

A way is a node and the calls that it has to return from. The sets are made when they are first reached, so a pattern
whose complete automaton would be enormous costs only what is walked.
"""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clearformer.decoding.constraints.byte_network import ENDLESS, ByteNetwork, TooLargeError

DEAD = 0  # the state of a text that cannot fit any more
MOST_STATES = 50_000
MOST_WAYS = 5_000

Way = tuple[int, int]  # a node, and the number of its stack of calls


class Automaton:
    """States by number: 0 is dead, 1 is the start. From every other state the end can be reached."""

    def __init__(self, network: ByteNetwork) -> None:
        self._network = network
        self._ends = {node: rule for rule, node in network.ends.items()}
        self._stacks: list[tuple[int, int, int]] = [(-1, -1, 0)]  # node to return to, stack below, bytes owed
        self._stack_numbers: dict[tuple[int, int], int] = {}
        self._numbers: dict[tuple[frozenset[Way], bool], int] = {}
        self._ways: list[frozenset[Way]] = [frozenset()]
        self._accepts = [False]
        self._distances = [ENDLESS]
        self._table = np.zeros((64, 256), dtype=np.int32)
        self._known = np.zeros(64, dtype=bool)
        self._known[DEAD] = True
        self.start = self._state([(network.starts[""], 0)])

    def accepts(self, state: int) -> bool:
        """Whether the text may end here."""
        return self._accepts[state]

    def distance(self, state: int) -> int:
        """The fewest bytes after which the text may end."""
        return self._distances[state]

    def step(self, state: int, data: bytes) -> int:
        """The state after these bytes."""
        for byte in data:
            if state == DEAD:
                return DEAD
            if not self._known[state]:
                self._fill(state)
            state = int(self._table[state, byte])
        return state

    def steps(self, states: NDArray[np.int32], data: NDArray[np.uint8]) -> NDArray[np.int32]:
        """The states after one byte each."""
        reached = np.zeros(len(self._ways), dtype=bool)
        reached[states] = True
        for state in np.flatnonzero(reached & ~self._known[: len(reached)]):
            self._fill(int(state))
        return self._table[states, data]

    def completion(self, state: int) -> bytes:
        """The shortest way to the end, of several the first in the order of bytes: after its first bytes, the rest of
        it is again the completion."""
        found = bytearray()
        while self._distances[state]:
            if not self._known[state]:
                self._fill(state)
            wanted = self._distances[state] - 1
            row = self._table[state]
            byte = next(byte for byte in range(256) if self._distances[row[byte]] == wanted)
            found.append(byte)
            state = int(row[byte])
        return bytes(found)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _fill(self, state: int) -> None:
        """Find what follows a state by each byte."""
        edges = [
            (low, high, (target, stack))
            for node, stack in self._ways[state]
            for low, high, target in self._network.bytes[node]
        ]
        borders = sorted({low for low, _, _ in edges} | {high + 1 for _, high, _ in edges})
        row = np.zeros(256, dtype=np.int32)
        known: dict[frozenset[Way], int] = {}
        for first, after in pairwise(borders):
            ways = frozenset(way for low, high, way in edges if low <= first <= high)
            if ways:
                if ways not in known:
                    known[ways] = self._state(ways)
                row[first:after] = known[ways]
        self._table[state] = row  # only now: new states may have moved the table
        self._known[state] = True

    def _state(self, ways: Iterable[Way]) -> int:
        """The number of the state with these ways and all that they lead to without a byte."""
        reading, accepts, distance = self._closure(ways)
        if distance >= ENDLESS:
            return DEAD
        key = (reading, accepts)
        if key not in self._numbers:
            self._numbers[key] = len(self._ways)
            self._ways.append(reading)
            self._accepts.append(accepts)
            self._distances.append(distance)
            self._grow()
        return self._numbers[key]

    def _closure(self, ways: Iterable[Way]) -> tuple[frozenset[Way], bool, int]:
        """The ways that read a byte next, whether the text may end, and the fewest bytes to its end."""
        network, seen, waiting = self._network, set(ways), list(ways)
        reading, accepts, nearest = set(), False, ENDLESS
        while waiting:
            node, stack = waiting.pop()
            left = network.distance[node] + self._stacks[stack][2]
            if left >= ENDLESS:
                continue
            nearest = min(nearest, left)
            following = [(target, stack) for target in network.jumps[node]]
            following += [(network.starts[rule], self._push(target, stack)) for rule, target in network.calls[node]]
            if node in self._ends:
                accepts |= stack == 0
                following += [self._stacks[stack][:2]] if stack else []
            if network.bytes[node]:
                reading.add((node, stack))
            new = [way for way in following if way not in seen]
            seen.update(new)
            waiting += new
            if len(seen) > MOST_WAYS:
                raise TooLargeError("the form can be read in too many ways at once; write it with fewer alternatives")
        return frozenset(reading), accepts, nearest

    def _push(self, target: int, stack: int) -> int:
        key = (target, stack)
        if key not in self._stack_numbers:
            owed = self._network.distance[target] + self._stacks[stack][2]
            self._stack_numbers[key] = len(self._stacks)
            self._stacks.append((target, stack, min(owed, ENDLESS)))
        return self._stack_numbers[key]

    def _grow(self) -> None:
        if len(self._ways) > MOST_STATES:
            raise TooLargeError("the form has too many states; write a simpler pattern or schema")
        if len(self._ways) > len(self._known):
            more = len(self._known)
            self._table = np.concatenate([self._table, np.zeros((more, 256), dtype=np.int32)])
            self._known = np.concatenate([self._known, np.zeros(more, dtype=bool)])

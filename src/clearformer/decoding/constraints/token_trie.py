"""All tokens of a vocabulary as one tree of bytes, walked level by level: a mask costs a few array operations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.characters import EVERY, Characters

UTF8 = (*range(0xC0), *range(0xC2, 0xF5))  # bytes that occur in UTF-8


@dataclass(frozen=True)
class _Level:
    """The nodes at one depth: each one's parent in the level above and its byte; which tokens end at which node."""

    parents: NDArray[np.int32]
    bytes: NDArray[np.uint8]
    tokens: NDArray[np.int32]
    nodes: NDArray[np.int32]


class TokenTrie:
    """What each token adds to a text, in bytes; None or nothing for tokens that add no text."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        self.tokens = tokens
        self.known = {spelt for spelt in tokens if spelt}
        self.longest = max(map(len, self.known), default=0)

    @cached_property
    def spells_bytes(self) -> bool:
        """Whether any text at all can be spelt, byte by byte."""
        return all(bytes([byte]) in self.known for byte in UTF8)

    @cached_property
    def alphabet(self) -> Characters:
        """The characters that can be written one by one: with a token of their own, or as bytes."""
        if self.spells_bytes:
            return EVERY
        singles = {byte for byte in UTF8 if bytes([byte]) in self.known}
        found = {ord(spelt.decode()) for spelt in self.known if _is_character(spelt)}
        if {*range(0x80, 0xC0), *range(0xC2, 0xF5)} <= singles:
            found |= {*range(0x80)} & singles
            return Characters.between(*((one, one) for one in found), (0x80, 0x10FFFF)) & EVERY
        return Characters.between(*((one, one) for one in found)) & EVERY

    @cached_property
    def _levels(self) -> list[_Level]:
        real = [(number, spelt) for number, spelt in enumerate(self.tokens) if spelt]
        numbers = np.array([number for number, _ in real], dtype=np.int32)
        lengths = np.array([len(spelt) for _, spelt in real])
        nodes = np.zeros(len(real), dtype=np.int64)
        levels = []
        for depth in range(self.longest):
            here = np.flatnonzero(lengths > depth)
            data = np.array([real[place][1][depth] for place in here], dtype=np.int64)
            keys, nodes[here] = np.unique(nodes[here] * 256 + data, return_inverse=True)
            ending = here[lengths[here] == depth + 1]
            levels.append(
                _Level(
                    (keys // 256).astype(np.int32),
                    (keys % 256).astype(np.uint8),
                    numbers[ending],
                    nodes[ending].astype(np.int32),
                )
            )
        return levels

    def walk(self, automaton: Automaton, state: int) -> NDArray[np.int32]:
        """The state that each token leads to from this one; DEAD where it does not fit or adds no text."""
        found = np.full(len(self.tokens), DEAD, dtype=np.int32)
        states = np.array([state], dtype=np.int32)
        for level in self._levels:
            states = automaton.steps(states[level.parents], level.bytes)
            if not states.any():
                break
            found[level.tokens] = states[level.nodes]
        return found


def _is_character(spelt: bytes) -> bool:
    try:
        return len(spelt.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False

"""All tokens of a vocabulary as one tree of bytes, walked level by level: a mask costs a few array operations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.character_sets import EVERY, LAST, Characters, Range


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
    def alphabet(self) -> Characters:
        """The characters that can be written one by one: with a token of their own, or byte by byte."""
        own = (ord(spelt.decode()) for spelt in self.known if _is_character(spelt))
        return (Characters.between(*((one, one) for one in own)) & EVERY) | self._in_bytes

    @property
    def spells_bytes(self) -> bool:
        """Whether what can be written can be written byte by byte, so that it never takes more tokens than bytes."""
        return self.alphabet == self._in_bytes

    @cached_property
    def _in_bytes(self) -> Characters:
        """Characters whose every byte is a token: by their first byte, as the others are the same for all."""
        single = [byte for byte in range(256) if bytes([byte]) in self.known]
        plain = Characters.between(*((byte, byte) for byte in single if byte < 0x80))
        if not set(range(0x80, 0xC0)) <= set(single):
            return plain
        return plain | Characters.between(*(_first_byte(byte) for byte in single if 0xC2 <= byte <= 0xF4)) & EVERY

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


def _first_byte(byte: int) -> Range:
    """The characters that begin with this byte, which is no ASCII."""
    more = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
    low = (byte & (0x3F >> more)) << (6 * more)
    return max(low, (0x80, 0x800, 0x10000)[more - 1]), min(low + (1 << (6 * more)) - 1, LAST)


def _is_character(spelt: bytes) -> bool:
    try:
        return len(spelt.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False

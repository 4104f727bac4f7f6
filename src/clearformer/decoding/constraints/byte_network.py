"""A grammar as a network of nodes with edges of bytes, and how far each node is from the end.

A node leads on by a byte, by a jump that costs nothing, or by a call: walk a rule, then continue at another node. Calls
are what a recursive schema needs; everything else could be a plain automaton.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass, field

from clearformer.decoding.constraints.character_sets import EVERY, Characters
from clearformer.decoding.constraints.grammar import (
    Either,
    Grammar,
    Letter,
    LetterMachine,
    Listing,
    Part,
    Repeat,
    RuleCall,
    Series,
)
from clearformer.decoding.constraints.json_text import quoted

MOST_NODES = 200_000
ENDLESS = 1 << 40  # bytes: no end can be reached


class TooLargeError(ValueError):
    """A form that has more states than can be walked in reasonable time."""


@dataclass
class ByteNetwork:
    """Nodes by number. starts and ends: of the rules, the form itself being the rule ""."""

    alphabet: Characters = EVERY  # characters that can be written
    bytes: list[list[tuple[int, int, int]]] = field(default_factory=list)  # first byte, last byte, next node
    jumps: list[list[int]] = field(default_factory=list)
    calls: list[list[tuple[str, int]]] = field(default_factory=list)  # rule, node to continue at
    starts: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    distance: list[int] = field(default_factory=list)  # of each node: fewest bytes to the end of its rule

    @classmethod
    def of(cls, grammar: Grammar, *, alphabet: Characters = EVERY, reach: int | None = None) -> "ByteNetwork":
        """reach: characters that no text is longer than; what may be repeated that often need not be counted."""
        made = cls(alphabet=alphabet)
        for name, part in {"": grammar.start, **grammar.rules}.items():
            made.starts[name], made.ends[name] = made._node(), made._node()
            made._add(part, made.starts[name], made.ends[name], reach)
        made.distance = made._distances()
        return made

    @property
    def shortest(self) -> int | None:
        """Bytes of the shortest text, or None where no text fits."""
        found = self.distance[self.starts[""]]
        return None if found >= ENDLESS else found

    # --- building ----------------------------------------------------------------------------------------------------

    def _node(self) -> int:
        if len(self.bytes) >= MOST_NODES:
            raise TooLargeError("the form is too large to be walked; use smaller repetitions and shorter lists")
        self.bytes.append([])
        self.jumps.append([])
        self.calls.append([])
        return len(self.bytes) - 1

    def _add(self, part: Part, start: int, end: int, reach: int | None) -> None:
        """Lead from one node to another by what fits the part."""
        match part:
            case Letter(characters):
                self._spell(characters, start, end)
            case Series(parts):
                for one in parts[:-1]:
                    middle = self._node()
                    self._add(one, start, middle, reach)
                    start = middle
                if parts:
                    self._add(parts[-1], start, end, reach)
                else:
                    self.jumps[start].append(end)
            case Either(options):
                for one in options:
                    self._add(one, start, end, reach)
            case Repeat():
                self._repeat(part, start, end, reach)
            case Listing():
                self._list(part, start, end, reach)
            case RuleCall(name):
                self.calls[start].append((name, end))
            case LetterMachine():
                self._embed(part, start, end)

    def _repeat(self, part: Repeat, start: int, end: int, reach: int | None) -> None:
        least, most = part.least, part.most
        if most is not None and reach is not None and most >= reach:
            most = None
        for _ in range(least):
            middle = self._node()
            self._add(part.part, start, middle, reach)
            start = middle
        if most is None:
            loop = self._node()  # of its own, so that nothing else that begins here is repeated, too
            self.jumps[start].append(loop)
            again = self._node()
            self._add(part.part, loop, again, reach)
            self.jumps[again].append(loop)
            self.jumps[loop].append(end)
            return
        self.jumps[start].append(end)
        for _ in range(most - least):
            middle = self._node()
            self._add(part.part, start, middle, reach)
            self.jumps[middle].append(end)
            start = middle

    def _list(self, listing: Listing, start: int, end: int, reach: int | None) -> None:
        """Two tracks: `fresh` while nothing is written, `later` where a separator comes first."""
        fresh: int | None = start
        later = self._node()
        for part, needed in listing.parts:
            begin, after = self._node(), self._node()
            if fresh is not None:
                self.jumps[fresh].append(begin)
            self._add(listing.separator, later, begin, reach)
            self._add(part, begin, after, reach)
            if needed:
                fresh = None
            else:
                self.jumps[later].append(after)
            later = after
        self.jumps[later].append(end)
        if fresh is not None:
            self.jumps[fresh].append(end)

    def _embed(self, machine: LetterMachine, start: int, end: int) -> None:
        nodes = [self._node() for _ in machine.edges]
        self.jumps[start].append(nodes[0])
        for node, edges in zip(nodes, machine.edges, strict=True):
            for characters, target in edges:
                if machine.quoted:
                    self._add(quoted(characters), node, nodes[target], None)
                else:
                    self._spell(characters, node, nodes[target])
        for place in machine.ends:
            self.jumps[nodes[place]].append(end)

    def _spell(self, characters: Characters, start: int, end: int) -> None:
        """Characters in UTF-8; sequences that end alike share their last nodes."""
        known: dict[tuple[tuple[int, int], ...], int] = {(): end}
        for sequence in (characters & self.alphabet).utf8:
            for place in range(len(sequence) - 1, 0, -1):
                rest = sequence[place:]
                if rest not in known:
                    known[rest] = self._node()
                    self.bytes[known[rest]].append((*rest[0], known[rest[1:]]))
            self.bytes[start].append((*sequence[0], known[sequence[1:]]))

    # --- distances ---------------------------------------------------------------------------------------------------

    def _distances(self) -> list[int]:
        """Dijkstra's algorithm from all ends backwards; a call is as long as its rule and what follows together."""
        before = self._before()
        callers: dict[str, list[tuple[int, int]]] = defaultdict(list)  # rule -> (caller, node to continue at)
        returns: dict[int, list[tuple[int, str]]] = defaultdict(list)  # node to continue at -> (caller, rule)
        for node, calls in enumerate(self.calls):
            for rule, target in calls:
                callers[rule].append((node, target))
                returns[target].append((node, rule))
        rules_at = defaultdict(list)
        for rule, start in self.starts.items():
            rules_at[start].append(rule)
        found = [ENDLESS] * len(self.bytes)
        waiting = [(0, end) for end in self.ends.values()]
        while waiting:
            distance, node = heapq.heappop(waiting)
            if distance >= found[node]:
                continue
            found[node] = distance
            for cost, earlier in before[node]:
                heapq.heappush(waiting, (distance + cost, earlier))
            for rule in rules_at[node]:
                for earlier, target in callers[rule]:
                    heapq.heappush(waiting, (distance + found[target], earlier))
            for earlier, rule in returns[node]:
                heapq.heappush(waiting, (distance + found[self.starts[rule]], earlier))
        return [min(distance, ENDLESS) for distance in found]

    def _before(self) -> list[list[tuple[int, int]]]:
        """For each node, those that lead to it by a byte (cost 1) or by a jump (cost 0)."""
        before: list[list[tuple[int, int]]] = [[] for _ in self.bytes]
        for node, (edges, jumps) in enumerate(zip(self.bytes, self.jumps, strict=True)):
            for _, _, target in edges:
                before[target].append((1, node))
            for target in jumps:
                before[target].append((0, node))
        return before

"""The whole beam search of a sentence as data: every candidate that was compared, and what became of it.

Candidates of a step are, for each hypothesis in the beam, its likeliest continuations (one more than the beam is wide:
what the search itself looks at), and those that a rule removed from them.
"""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

NOBODY = -1  # in place of a node: this slot of the beam is empty


class Fate(StrEnum):
    """What became of a candidate."""

    START = "start"
    KEPT = "kept"
    FINISHED = "finished"
    OUTSIDE_BEAM = "cut: outside the beam"
    END_OUTSIDE_BEAM = "cut: ended, but outside the beam"
    FINISHED_FULL = "cut: ended, but enough had finished before"
    WORSE_THAN_FINISHED = "cut: cannot beat the finished ones"
    SEARCH_STOPPED = "cut: the search stopped"
    BANNED_TOKEN = "banned: token not allowed"
    BANNED_REPEAT = "banned: repeats an n-gram"
    BANNED_MIN_LEN = "banned: before the minimum length"
    BANNED_MAX_LEN = "banned: at the maximum length only the end is allowed"
    BANNED_PREFIX = "banned: not the forced prefix"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A candidate: its parent's tokens plus one."""

    id: int  # position in the tree's list of nodes
    parent: int | None  # None for the root only
    depth: int  # tokens from the root, the end token counted
    token: int | None
    token_log_prob: float
    log_prob: float  # sum of token_log_prob along the path
    score: float | None  # under the length penalty at this length; None where it is undefined or minus infinity
    fate: Fate


@dataclass(frozen=True)
class BeamTree:
    """The search of one sentence; parents come before their children."""

    nodes: tuple[Node, ...]

    def path(self, node: Node) -> list[Node]:
        """From the first token to this node, the root left out."""
        found: list[Node] = []
        while node.parent is not None:
            found.append(node)
            node = self.nodes[node.parent]
        return found[::-1]

    def finished(self) -> list[Node]:
        """The hypotheses that finished, best score first, ties in the order in which they finished."""
        ends = [node for node in self.nodes if node.fate is Fate.FINISHED]
        return sorted(ends, key=lambda node: -math.inf if node.score is None else node.score, reverse=True)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for `json.dumps`."""
        return {"nodes": [asdict(node) for node in self.nodes]}


class TreeRecorder:
    """Passed to the beam search to be filled; `trees` then holds one tree per sentence."""

    def __init__(self) -> None:
        self._nodes: list[list[Node]] = []
        self._beams: list[list[int]] = []  # per sentence and slot of its beam: the node that sits there, or NOBODY

    @property
    def trees(self) -> list[BeamTree]:
        return [BeamTree(tuple(nodes)) for nodes in self._nodes]

    def begin(self, sentences: int) -> None:
        """Create one root per sentence and discard earlier searches."""
        root = Node(
            id=0, parent=None, depth=0, token=None, token_log_prob=0.0, log_prob=0.0, score=None, fate=Fate.START
        )
        self._nodes = [[root] for _ in range(sentences)]
        self._beams = [[root.id] for _ in range(sentences)]

    def add(self, sentence: int, slot: int, token: int, token_log_prob: float, divisor: float, fate: Fate) -> int:
        """Grow the hypothesis in this slot of the beam by one candidate; returns the new node's id."""
        nodes = self._nodes[sentence]
        parent = nodes[self._beams[sentence][slot]]
        log_prob = parent.log_prob + token_log_prob
        node = Node(
            id=len(nodes),
            parent=parent.id,
            depth=parent.depth + 1,
            token=token,
            token_log_prob=token_log_prob,
            log_prob=log_prob,
            score=log_prob / divisor if divisor else None,
            fate=fate,
        )
        nodes.append(node)
        return node.id

    def keep(self, sentence: int, beam: list[int]) -> None:
        """From now on the slots of this sentence's beam hold these nodes (or NOBODY)."""
        self._beams[sentence] = beam

    def stop(self, sentence: int, fate: Fate) -> None:
        """The search of this sentence is over: what was still in its beam gets this fate."""
        nodes = self._nodes[sentence]
        for index in self._beams[sentence]:
            if index != NOBODY:
                nodes[index] = replace(nodes[index], fate=fate)

"""Texts that are nearly in the training data: a score over them measures memory.

Near means: of a text's runs of five words, most are in one and the same training text. What is shorter than that is
compared as it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

RUN = 5  # words
NEAR = 0.7  # share of a text's runs; a disclaimer that many mails share is rarely so much of one
_HAN = "\u3040-\u30ff\u3400-\u9fff"  # without spaces: each character is a word
_WORDS = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])[^\W_])+")


def near_copies(texts: Sequence[str], known: Iterable[str], share: float = NEAR) -> list[bool]:
    """Which texts have at least this share of their runs in one of the known texts. Only `texts` are kept in memory."""
    wanted = [runs(text) for text in texts]
    where: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(wanted):
        for run in own:
            where[run].append(number)
    near = [False] * len(texts)
    for text in known:
        met = Counter(number for run in runs(text) for number in where.get(run, ()))
        for number, count in met.items():
            near[number] = near[number] or count >= share * len(wanted[number])
    return near


def runs(text: str) -> set[int]:
    """Hashes of the runs of five words in a text; of all its words, where there are fewer."""
    words = _WORDS.findall(text.casefold())
    return {hash(tuple(words[start : start + RUN])) for start in range(max(1, len(words) - RUN + 1))}

"""Is this the vocabulary the model was trained with? A SHA-256 decides; an outline tells where it differs.

A model reads ids. With another vocabulary of the same size it still runs and writes nonsense, so the check is on the
file's content, not on its name or size. Everything here works on the parsed tokenizer.json and needs no running
tokenizer: a file that does not match is refused before anything is built from it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Definition = Mapping[str, Any]  # a parsed tokenizer.json

# The outline keeps a four-digit checksum for every 16 pieces: 2.5 kB of config.json for 10,000 pieces, and near enough
# to name the pieces that differ. The SHA-256 decides; the outline only explains.
_BLOCK = 16
_DIGITS = 4

_MAX_PIECES = 10_000_000

# Batch-time settings of the library, not part of what a text is turned into.
_NOT_BEHAVIOUR = frozenset({"version", "truncation", "padding"})


def fingerprint(definition: Definition, facts: Mapping[str, Any]) -> str:
    """SHA-256 over vocabulary, merges, behaviour and our own facts, in one canonical spelling."""
    behaviour = {key: value for key, value in definition.items() if key not in _NOT_BEHAVIOUR}
    return _digest({"tokenizer": behaviour, "facts": dict(facts)})


def pieces(definition: Definition) -> list[str]:
    """The spelling of every id; '' where the vocabulary leaves an id unused."""
    vocabulary = definition["model"]["vocab"]
    by_id: dict[int, str]
    if isinstance(vocabulary, Mapping):
        by_id = {number: piece for piece, number in vocabulary.items()}
    else:  # unigram: a list of [piece, score] in the order of the ids
        by_id = dict(enumerate(piece for piece, _ in vocabulary))
    by_id |= {token["id"]: token["content"] for token in definition.get("added_tokens", [])}
    highest = max(by_id, default=-1)
    if highest >= _MAX_PIECES:  # a damaged number must not become a list of that length
        raise ValueError(f"piece {by_id[highest]!r} has id {highest}, more than any vocabulary needs")
    return [by_id.get(number, "") for number in range(highest + 1)]


def outline(definition: Definition) -> dict[str, Any]:
    """A small summary to keep with the model: enough to tell later which pieces or which parts differ."""
    spelt = pieces(definition)
    blocks = [_digest(spelt[start : start + _BLOCK])[:_DIGITS] for start in range(0, len(spelt), _BLOCK)]
    parts = {name: _digest(part)[:8] for name, part in _parts(definition).items()}
    return {"size": len(spelt), "pieces": "".join(blocks), "parts": parts}


def differs_from_outline(definition: Definition, expected: Mapping[str, Any]) -> str:
    """How a file differs from the tokenizer that an outline was made from."""
    found = outline(definition)
    reasons = []
    if found["size"] != expected["size"]:
        reasons.append(f"it has {found['size']} pieces instead of {expected['size']}")
    spelt = pieces(definition)
    wrong = [
        block * _BLOCK
        for block in range(-(-min(len(spelt), expected["size"]) // _BLOCK))
        if _checksum(found, block) != _checksum(expected, block)
    ]
    if wrong:
        first = wrong[0]
        shown = ", ".join(repr(piece) for piece in spelt[first : first + _BLOCK])
        reasons.append(
            f"pieces differ in {len(wrong)} of {-(-len(spelt) // _BLOCK)} blocks, "
            f"first among ids {first} to {min(first + _BLOCK, len(spelt)) - 1} (the file has {shown})"
        )
    reasons += _differing_parts(found["parts"], expected["parts"])
    return "; ".join(reasons) or "the pieces are the same, the special roles or the kind differ"


def describe_difference(a: Definition, b: Definition, examples: int = 5) -> str:
    """Say in what two tokenizers differ, piece by piece; an empty string when they are the same."""
    first, second = pieces(a), pieces(b)
    reasons = []
    if len(first) != len(second):
        reasons.append(f"{len(first)} pieces against {len(second)}")
    changed = [number for number, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]]
    if changed:
        shown = ", ".join(
            f"id {number} is {first[number]!r} against {second[number]!r}" for number in changed[:examples]
        )
        reasons.append(f"{len(changed)} ids mean different pieces: {shown}{', …' if len(changed) > examples else ''}")
    for here, there, side in ((first, second, "first"), (second, first, "second")):
        only = sorted(set(here) - set(there))
        if only:
            shown = ", ".join(repr(piece) for piece in only[:examples])
            reasons.append(f"{len(only)} pieces are only in the {side}: {shown}{', …' if len(only) > examples else ''}")
    reasons += _differing_parts(
        {name: _digest(part) for name, part in _parts(a).items()},
        {name: _digest(part) for name, part in _parts(b).items()},
    )
    return "; ".join(reasons)


def _parts(definition: Definition) -> dict[str, Any]:
    """What turns text into pieces apart from the list of pieces, under names a reader understands."""
    model = definition["model"]
    vocabulary = model["vocab"]
    return {
        "model type": model.get("type"),
        "merges": model.get("merges"),
        "scores": None if isinstance(vocabulary, Mapping) else [score for _, score in vocabulary],
        "normalisation": definition.get("normalizer"),
        "splitting into words": definition.get("pre_tokenizer"),
        "special tokens around a sentence": definition.get("post_processor"),
        "decoding": definition.get("decoder"),
    }


def _differing_parts(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    names = [name for name in a if a[name] != b.get(name)]
    return [f"different {' and '.join(names)}"] if names else []


def _checksum(summary: Mapping[str, Any], block: int) -> str:
    checksums: str = summary["pieces"]
    return checksums[block * _DIGITS : (block + 1) * _DIGITS]


def _digest(value: Any) -> str:
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()

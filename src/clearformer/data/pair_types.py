"""What the tokens of a pair of texts are told: which text they are of, and whether the other has them, too."""

from collections.abc import Sequence

from clearformer.text.tokenizer import EncodedPair

OVERLAP_TYPES = 4  # two segments, and each again for what both texts have


def pair_types(pair: EncodedPair, *, overlap: bool = False, markers: Sequence[int] = ()) -> list[int]:
    """The type of each token.

    overlap: tell what stands in both texts, which a small model needs long to find out by itself. markers: ids that
    stand in every pair and tell nothing.
    """
    types = [int(second) for second in pair.second] if overlap else list(pair.types)
    if not overlap:
        return types
    sides = [{one for one, second in zip(pair.ids, pair.second, strict=True) if second == side} for side in (0, 1)]
    common = (sides[0] & sides[1]) - set(markers)
    return [kind + 2 * (one in common) for one, kind in zip(pair.ids, types, strict=True)]

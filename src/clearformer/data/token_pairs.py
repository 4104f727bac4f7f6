"""What a tokenised parallel corpus looks like to whoever trains on it, wherever it is kept."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

TokenIds = NDArray[np.unsignedinteger[Any]] | NDArray[np.signedinteger[Any]]  # one sentence, without special tokens

# A source is batched as x + eos, a target as bos + y and y + eos: always one more than the sentence itself.
SPECIALS_PER_SIDE = 1


class TokenPairs(Protocol):
    """Sentence pairs by index, and all lengths at once for the data plan."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> tuple[TokenIds, TokenIds]: ...

    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target lengths as they will stand in a batch, special tokens included."""
        ...

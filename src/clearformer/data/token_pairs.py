"""What the tokens of a parallel corpus look like to whoever trains on it, wherever they are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TokenIds = NDArray[np.unsignedinteger[Any]] | NDArray[np.signedinteger[Any]]  # one sentence, without special tokens

# A source is batched as x + eos, a target as bos + y and y + eos: always one more than the sentence itself.
SPECIALS_PER_SIDE = 1

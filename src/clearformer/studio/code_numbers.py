"""The code of a picture, number by number: what an autoencoder keeps of it, and what other numbers would be drawn as.

Both ways go through the object behind `clearformer reconstruct`. N codes, Z numbers each, Y X height and width.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from clearformer.inference.reconstructor import Reconstructor
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.packing import pack, pack_bytes
from clearformer.studio.patch_tokens import read_upload
from clearformer.studio.shown_model import ShownModel


class CodeViewer:
    """Compresses and draws. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, turns: Turns) -> None:
        self.shown_model, self._turns = shown_model, turns

    @cached_property
    def reconstructor(self) -> Reconstructor:
        """The object behind `clearformer reconstruct`."""
        try:
            return Reconstructor(self.shown_model.bundle)
        except ValueError as error:
            raise Refused("nocode", "this model does not compress pictures") from error

    def take(self, content: bytes) -> dict[str, Any]:
        """Read a picture file, and say its code and what that alone gives back."""
        reconstructor = self.reconstructor
        whole = read_upload(content)
        with self._turns.mine():
            [found] = reconstructor.reconstruct([whole])
        return {
            "width": whole.shape[1],
            "height": whole.shape[0],
            "original": pack_bytes(torch.from_numpy(found.original.copy())),
            "pixels": pack_bytes(torch.from_numpy(found.pixels)),
            "code": pack(torch.tensor(found.code)),
            "error": found.error,
        }

    def decode(self, codes: Sequence[Sequence[float]]) -> dict[str, Any]:
        """The picture of each code: N Y X C."""
        size = self.reconstructor.code_size
        if wrong := [len(code) for code in codes if len(code) != size]:
            raise ValueError(f"a code has {size} numbers here, not {wrong[0]}")
        with self._turns.mine():
            drawn = self.reconstructor.decode(np.array(codes, dtype=np.float32))
        return {"pictures": pack_bytes(torch.from_numpy(np.stack(drawn)))}

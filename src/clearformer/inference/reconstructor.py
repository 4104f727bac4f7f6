"""Pictures in, codes of a few numbers and the pictures that these alone give back: an autoencoder in use."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.readers.pictures import Pixels, fit_square, read_picture
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts
from clearformer.inference.picture_classifier import Picture, as_tensor
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.wrong_use import wrong_use


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """A picture as the network reads it, its code, what the code gives back, and the squared error per pixel."""

    code: tuple[float, ...]
    error: float
    original: Pixels = field(repr=False)
    pixels: Pixels = field(repr=False)


class Reconstructor:
    """A code for each picture, and a picture for each code."""

    def __init__(self, bundle: Bundle) -> None:
        front = bundle.config.front
        if bundle.config.shape != "autoencoder" or front.kind != "patches":
            raise ValueError(wrong_use(bundle.config, "autoencoding", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        plain = (0.0,) * front.channels, (1.0,) * front.channels
        self.facts = bundle.preprocessing.picture or PictureFacts(
            size=front.picture, channels=front.channels, mean=plain[0], deviation=plain[1]
        )
        self.code_size = bundle.config.bottleneck

    def reconstruct(
        self, pictures: Picture | Sequence[Picture], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Reconstruction]:
        """Each picture through its code: a file name, or bytes as height, width, channels. In order."""
        chosen = replace(config or ReadingConfig(), **changes)
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        results: list[Reconstruction] = []
        for start in range(0, len(given), chosen.batch):
            read = [self._read(picture) for picture in given[start : start + chosen.batch]]
            codes = self.encode(read)
            for pixels, code, back in zip(read, codes, self._shares(torch.from_numpy(codes)), strict=True):
                error = float(((back - pixels / 255) ** 2).mean())
                results.append(
                    Reconstruction(code=tuple(code.tolist()), error=error, original=pixels, pixels=_as_bytes(back))
                )
        return results

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Pixels]) -> NDArray[np.float32]:
        """The code of each picture of the right size: N Z."""
        inputs = as_tensor(pictures, self.facts)
        codes: Tensor = self.model.encode(inputs.to(self._device()))  # type: ignore[operator]
        return codes.cpu().numpy()

    def decode(self, codes: NDArray[np.float32]) -> list[Pixels]:
        """The picture of each code. codes: N Z."""
        if codes.ndim != 2 or codes.shape[1] != self.code_size:
            raise ValueError(f"a code has {self.code_size} numbers here, one row per picture, not shape {codes.shape}")
        return [_as_bytes(back) for back in self._shares(torch.from_numpy(codes))]

    @torch.inference_mode()
    def _shares(self, codes: Tensor) -> NDArray[np.float32]:
        """Pictures as numbers from 0 to 1: N Y X C."""
        drawn: Tensor = self.model.decode(codes.to(self._device())).cpu()  # type: ignore[operator]
        mean, deviation = (torch.tensor(values)[:, None, None] for values in (self.facts.mean, self.facts.deviation))
        shares: NDArray[np.float32] = (drawn * deviation + mean).clamp(0, 1).permute(0, 2, 3, 1).numpy()
        return shares

    def _read(self, picture: Picture) -> Pixels:
        pixels = picture if isinstance(picture, np.ndarray) else read_picture(Path(picture))
        return fit_square(pixels if pixels.ndim == 3 else pixels[..., None], self.facts.size, self.facts.channels)

    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def __repr__(self) -> str:
        return describe(self, f"codes of {self.code_size}, pictures of {self.facts.size} × {self.facts.size}")


def _as_bytes(shares: NDArray[np.float32]) -> Pixels:
    return (shares * 255).round().astype(np.uint8)

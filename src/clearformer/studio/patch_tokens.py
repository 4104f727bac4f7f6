"""The patches of a picture as tokens: how each came to be, and where it looks in every layer.

It is the same for every model that reads patches, whatever it says of the picture in the end. A pass over one picture
is kept by its fingerprint, so that the next question needs no file. D model width, H heads, T tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.data.readers.pictures import PictureError, Pixels, read_picture
from clearformer.inference.attention_rollout import roll_out
from clearformer.serving.refusal import Refused
from clearformer.studio.attention_layers import attention_layers
from clearformer.studio.packing import pack, pack_bytes
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.trace_cache import TraceCache
from clearformer.studio.uploads import Kept, as_file, told

FRONT = "encoder.front"
POOL = "head.pool.weights"


@dataclass(frozen=True)
class PictureLook:
    """One forward pass over a picture. name: its fingerprint; numbers: 1 C Y X, as the network reads them."""

    name: str
    pixels: Pixels = field(compare=False, repr=False)
    numbers: Tensor = field(compare=False, repr=False)
    width: int = field(compare=False)  # of the picture as it was given
    height: int = field(compare=False)

    def arguments(self) -> tuple[Tensor, ...]:
        """What the network is called with."""
        return (self.numbers,)


def read_upload(content: bytes) -> Pixels:
    """A picture file that somebody handed to a page, in its own size."""
    with as_file(content, "picture") as path:
        try:
            return read_picture(path)
        except PictureError as error:
            raise Refused("picture", "{reason}", reason=told(error, path)) from error


class PatchTokens:
    """Answers about the tokens of pictures that were read before. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, traces: TraceCache) -> None:
        self.shown_model, self._traces = shown_model, traces
        self._kept: Kept[PictureLook] = Kept()

    def keep(self, look: PictureLook) -> dict[str, Any]:
        """Keep a pass, and say what the pages need to know of its picture and its tokens."""
        self._kept.put(look.name, look)
        names = [f"{FRONT}.embeddings", f"{FRONT}.output"]
        front = self._traces.values(look, names)
        patches, tokens = (len(front[name]) if name in front else 0 for name in names)
        return {
            "picture": look.name,
            "width": look.width,
            "height": look.height,
            "pixels": pack_bytes(torch.from_numpy(look.pixels.copy())),
            "side": math.isqrt(patches),  # patches along each side; none where a model has no tokens
            "extra": tokens - patches,  # tokens before the patches, which no part of the picture belongs to
        }

    def token(self, picture: str, place: int, feature: int) -> dict[str, Any]:
        """How one token came to be. place: counted from 0, the class token first where there is one."""
        look = self._kept.get(picture)
        names = [f"{FRONT}.{label}" for label in ("embeddings", "positions", "output")]
        found = self._traces.values(look, names)
        if names[2] not in found:
            raise Refused("nopatches", "this model has no patches as tokens")
        output = found[names[2]]
        extra = len(output) - len(found[names[0]])
        self._check(place, len(output))
        width = output.size(-1)
        if feature >= width:
            raise ValueError(f"feature {feature} does not exist; there are {width}, from 0")
        place_vector = found[names[1]][min(place, len(found[names[1]]) - 1)] if names[1] in found else None
        own = found[names[0]][place - extra] if place >= extra else self._leading(place)
        return {
            "place": place,
            "patch": None if place < extra else self._patch(look, place - extra, feature),
            "token": None if own is None else pack(own),
            "position": None if place_vector is None else pack(place_vector),
            "output": pack(output[place]),
        }

    def attention(self, picture: str, layer: int, query: int) -> dict[str, Any]:
        """Where a token looks in a layer, head by head, and through all layers by attention rollout."""
        look, names = self._kept.get(picture), self._layers()
        if layer >= len(names):
            raise ValueError(f"layer {layer} does not exist; there are {len(names)}, from 0")
        found = self._traces.values(look, [*(f"{name}.weights" for name in names), POOL])
        maps = [found[f"{name}.weights"] for name in names]
        self._check(query, maps[layer].size(-2))
        return {
            "layer": names[layer],
            "weights": pack(maps[layer][:, query]),
            "rollout": pack(roll_out(maps[: layer + 1])[query]),
            "pool": pack(found[POOL]) if POOL in found else None,  # what the class is read from, by learned weights
        }

    # --- inside ------------------------------------------------------------------------------------------------------

    def _layers(self) -> Sequence[str]:
        layers = attention_layers(self.shown_model.model)
        return [layer.name for layer in layers if layer.kind == "self" and layer.stack == "encoder"]

    def _check(self, place: int, count: int) -> None:
        if place >= count:
            raise Refused("place", "there is no token {place}; the text has {count}", place=place, count=count)

    def _front(self) -> Any:
        return self.shown_model.model.get_submodule(FRONT)

    def _leading(self, place: int) -> Tensor | None:
        """The trained vector at a place before the patches."""
        vectors = [one.detach()[0] for one in getattr(self._front(), "leading", ())]
        return torch.cat(vectors)[place] if vectors else None

    def _patch(self, look: PictureLook, number: int, feature: int) -> dict[str, Any] | None:
        """The numbers of a patch and the row of the matrix that makes one feature of it; None behind convolutions."""
        project = getattr(self._front(), "patch_proj", None)
        size = getattr(self._front(), "patch", 0)
        if not isinstance(project, nn.Linear) or self._front().picture != look.numbers.size(-1):
            return None  # a front end that reads maps of convolutions has other patches than the picture's
        across = look.numbers.size(-1) // size
        y, x = size * (number // across), size * (number % across)
        square = look.numbers[0, :, y : y + size, x : x + size]  # C y x: the order in which it is flattened
        return {
            "size": size,
            "bytes": pack_bytes(torch.from_numpy(look.pixels[y : y + size, x : x + size].copy())),
            "vector": pack(square.reshape(-1)),
            "weight": pack(project.weight[feature]),
            "bias": 0.0 if project.bias is None else float(project.bias.detach()[feature]),
        }

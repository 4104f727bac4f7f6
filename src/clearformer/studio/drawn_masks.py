"""What a segmenter draws on a picture: the mask, what the network says of every pixel, and the tokens of a tile.

The picture is read, cut into tiles and put together by the object behind `clearformer segment`. C channels, Y X height
and width.
"""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from clearformer.data.readers.pictures import PictureError, Pixels
from clearformer.inference.picture_classifier import as_tensor
from clearformer.inference.segment_settings import SegmentConfig
from clearformer.inference.segmenter import Segmenter
from clearformer.inference.tiles import cut_tile, tile_places
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.packing import pack, pack_bytes, pack_numbers
from clearformer.studio.patch_tokens import PatchTokens, PictureLook, read_upload
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.uploads import Kept, fingerprint

MOST_PIXELS = 1_000_000  # of a picture on a page
THINGS = ("foreground", "rim", "down", "right")  # what the channels of a network for instances say


@dataclass(frozen=True)
class Segmented:
    """A picture as the network read it, and what it said of every pixel: C Y X."""

    pixels: Pixels = field(repr=False)
    values: Tensor = field(repr=False)


class MaskViewer:
    """Segments. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, tokens: PatchTokens, turns: Turns) -> None:
        self.shown_model, self._tokens, self._turns = shown_model, tokens, turns
        self._kept: Kept[Segmented] = Kept()

    @cached_property
    def segmenter(self) -> Segmenter:
        """The object behind `clearformer segment`."""
        try:
            return Segmenter(self.shown_model.bundle)
        except ValueError as error:
            raise Refused("nomasks", "this model draws no masks") from error

    def take(self, content: bytes) -> dict[str, Any]:
        """Read a picture file; its mask is asked for by its name."""
        segmenter = self.segmenter
        whole = read_upload(content)
        height, width = whole.shape[:2]
        if height * width > MOST_PIXELS:
            sentence = "the picture has {count} pixels, more than the {limit} that are shown; make it smaller"
            raise Refused("manypixels", sentence, count=height * width, limit=MOST_PIXELS)
        with self._turns.mine():
            values = segmenter.values(whole)
        name, pixels = fingerprint(content), segmenter.read(whole)
        self._kept.put(name, Segmented(pixels, values))
        things = segmenter.masks.kind == "instances"
        return {
            "masks": name,
            "width": width,
            "height": height,
            "shown": pack_bytes(torch.from_numpy(pixels.copy())),
            "instances": things,
            "labels": list(segmenter.labels),
            "channels": list(THINGS if things else segmenter.labels),
            "tiles": tile_places(height, width, segmenter.facts.size, segmenter.masks.overlap),
            "tile": segmenter.facts.size,
            "smallest": segmenter.masks.smallest,
        }

    def mask(self, name: str, config: SegmentConfig) -> dict[str, Any]:
        """The mask at a threshold, as `clearformer segment` draws it: Y X numbers, and what has each."""
        try:
            found = self.segmenter.mask(self._kept.get(name).values, config)
        except PictureError as error:
            raise Refused("picture", "{reason}", reason=str(error)) from error
        return {"mask": pack_numbers(found.mask), "found": [asdict(one) for one in found.found]}

    def channel(self, name: str, number: int) -> dict[str, Any]:
        """What the network says of every pixel in one of its channels: Y X."""
        values = self._kept.get(name).values
        if number >= len(values):
            raise ValueError(f"channel {number} does not exist; there are {len(values)}, from 0")
        return {"values": pack(values[number])}

    def tile(self, name: str, number: int) -> dict[str, Any]:
        """One tile as the network reads it, whose tokens can be asked about from then on."""
        kept, facts = self._kept.get(name), self.segmenter.facts
        height, width = kept.pixels.shape[:2]
        places = tile_places(height, width, facts.size, self.segmenter.masks.overlap)
        if number >= len(places):
            raise ValueError(f"tile {number} does not exist; there are {len(places)}, from 0")
        pixels = cut_tile(kept.pixels, *places[number], facts.size)
        look = PictureLook(
            fingerprint(f"{name}/{number}".encode()), pixels, as_tensor([pixels], facts), facts.size, facts.size
        )
        return self._tokens.keep(look)

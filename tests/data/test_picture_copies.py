"""A picture that was saved again is found; pictures that only resemble one another are not."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clearformer.data.picture_copies import exact_copies, near_picture_copies, take_print
from clearformer.data.readers.picture_sets import archived_pictures
from clearformer.data.readers.pictures import decode_picture
from flows.tiny_tasks import drawn


def scene(seed, size=64):
    """Soft shapes, as photographs have them."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((size, size), Image.Resampling.BICUBIC))


def saved_again(pixels, kind="jpeg", **options):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **options)
    return decode_picture(stream, "again")


AGAIN = {
    "as a JPEG": lambda pixels: saved_again(pixels, quality=70),
    "smaller": lambda pixels: np.asarray(Image.fromarray(pixels).resize((41, 41))),
    "lighter": lambda pixels: (pixels.astype(int) * 9 // 10 + 20).astype(np.uint8),
}


def test_equal_pixels_are_the_same_picture_in_any_form():
    one, other = scene(1), scene(2)
    prints = [take_print(pixels) for pixels in (one, other, saved_again(one, "png"), saved_again(other, "png"))]
    assert exact_copies(prints) == [0, 1, 0, 1]
    assert near_picture_copies(prints) == [0, 1, 0, 1]


@pytest.mark.parametrize("way", ["as a JPEG", "smaller", "lighter"])
def test_a_picture_that_was_saved_again_is_found_among_many(way):
    scenes = [scene(seed) for seed in range(60)]
    again = [AGAIN[way](pixels) for pixels in scenes]
    prints = [take_print(pixels) for pixels in scenes + again]
    assert exact_copies(prints) == list(range(120))
    assert near_picture_copies(prints) == [*range(60), *range(60)]


def test_pictures_of_the_same_kind_are_no_copies():
    """Digits of one class, drawn anew, and pictures of one colour."""
    digits, _ = drawn(200)
    prints = [take_print(digit[..., None]) for digit in digits]
    assert near_picture_copies(prints) == list(range(200))
    plain = [take_print(np.full((8, 8, 1), grey, dtype=np.uint8)) for grey in (10, 11, 200)]
    assert all(one.plain for one in plain)
    assert near_picture_copies(plain) == [0, 1, 2]


def test_a_copy_of_a_copy_leads_to_the_first():
    first = scene(3)
    middle = AGAIN["as a JPEG"](first)
    prints = [take_print(pixels) for pixels in (first, middle, middle, scene(4))]
    assert near_picture_copies(prints) == [0, 0, 0, 3]


@pytest.mark.corpora
def test_few_of_a_thousand_photographs_are_taken_for_copies():
    """CIFAR-10 is known to hold a few near copies, and not more."""
    archive = Path(os.environ["CLEARFORMER_DATA"]) / "cifar10-jpeg" / "test.tar.gz"
    members = zip(archived_pictures(archive), range(1000), strict=False)
    prints = [take_print(decode_picture(io.BytesIO(content), name)) for (name, content), _ in members]
    copies = sum(before != number for number, before in enumerate(near_picture_copies(prints)))
    assert copies < 20

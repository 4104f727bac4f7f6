"""What is written as PNG is read back as it was, and a sheet holds every picture once."""

import numpy as np
import pytest

from clearformer.data.png_files import GAP, sheet, write_png
from clearformer.data.readers.pictures import read_picture


@pytest.mark.parametrize("channels", [1, 3])
def test_what_is_written_is_read_again(tmp_path, channels):
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    write_png(tmp_path / "one.png", pixels)
    assert np.array_equal(read_picture(tmp_path / "one.png"), pixels)
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]  # nothing half-written stays


def test_a_sheet_holds_every_picture_in_order():
    pictures = [np.full((3, 4, 1), number, dtype=np.uint8) for number in range(5)]
    paper = sheet(pictures, 2, scale=2)
    assert paper.shape == (3 * (6 + GAP) + GAP, 2 * (8 + GAP) + GAP, 1)
    for number in range(5):
        top, left = number // 2 * (6 + GAP) + GAP, number % 2 * (8 + GAP) + GAP
        assert (paper[top : top + 6, left : left + 8] == number).all()
    with pytest.raises(ValueError, match="a sheet needs a picture and a column, not 0 and 2"):
        sheet([], 2)

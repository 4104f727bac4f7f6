"""Pictures as rows of codes and back, and a book that is refused when it is not the one described."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from clearformer.folder.patch_codes import BOOK, PatchCodes, cut
from clearformer.foundation.storage import DamagedError


def pictures(count=4, size=6, channels=1, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (count, size, size, channels), dtype=np.uint8)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_book_with_every_patch_gives_every_picture_back(channels):
    drawn = pictures(channels=channels)
    book = np.unique(cut(drawn, 3).reshape(-1, 9 * channels), axis=0).astype(np.float32)
    codes = PatchCodes(book=book, patch=3, order="hidden-places")
    found = codes.encode(drawn)
    assert found.shape == (4, 4)
    assert np.array_equal(codes.decode(found), drawn)
    assert np.array_equal(codes.encode(codes.decode(found)), found)
    assert codes.channels == channels


def test_the_nearest_patch_is_taken():
    book = np.random.default_rng(2).integers(0, 256, (7, 4)).astype(np.float32)
    codes, drawn = PatchCodes(book=book, patch=2, order="left-to-right"), pictures()
    rows = cut(drawn, 2).astype(np.float32)
    by_hand = ((rows[:, :, None] - book) ** 2).sum(axis=-1).argmin(axis=-1)
    assert np.array_equal(codes.encode(drawn), by_hand)


def test_patches_stand_row_by_row():
    drawn = np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1)
    assert cut(drawn, 2)[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    with pytest.raises(ValueError, match="pictures of 4 × 4 do not divide into patches of 3 × 3"):
        cut(drawn, 3)


def test_what_is_saved_is_opened_again(tmp_path):
    book = np.random.default_rng(2).random((7, 4)).astype(np.float32) * 255
    codes = PatchCodes(book=book, patch=2, order="left-to-right")
    codes.save(tmp_path)
    again = PatchCodes.load(tmp_path, codes.facts())
    assert np.array_equal(again.book, book)
    assert (again.patch, again.order, len(again)) == (2, "left-to-right", 7)


@pytest.mark.parametrize(
    "change", [{"count": 8}, {"order": "sideways"}, {"patch": 3}, {"patch": "two"}, {"count": None}]
)
def test_another_book_than_described_is_refused(tmp_path, change):
    codes = PatchCodes(book=np.zeros((7, 4), dtype=np.float32), patch=2, order="hidden-places")
    codes.save(tmp_path)
    with pytest.raises(DamagedError, match=r"patch_codes\.safetensors cannot be read: .* get the folder anew"):
        PatchCodes.load(tmp_path, codes.facts() | change)


def test_damaged_books_are_refused(tmp_path):
    facts = {"patch": 2, "count": 3, "order": "hidden-places"}
    with pytest.raises(DamagedError, match="is missing, but config"):
        PatchCodes.load(tmp_path, facts)
    (tmp_path / BOOK).write_bytes(b"no tensors")
    with pytest.raises(DamagedError, match="cannot be read"):
        PatchCodes.load(tmp_path, facts)
    save_file({"book": np.full((3, 4), np.nan, dtype=np.float32)}, tmp_path / BOOK)
    with pytest.raises(DamagedError, match="finite numbers"):
        PatchCodes.load(tmp_path, facts)
    save_file({"other": np.zeros((3, 4), dtype=np.float32)}, tmp_path / BOOK)
    with pytest.raises(DamagedError, match="cannot be read"):
        PatchCodes.load(tmp_path, facts)


def test_codes_outside_the_book_are_refused():
    codes = PatchCodes(book=np.zeros((7, 4), dtype=np.float32), patch=2, order="hidden-places")
    for wrong in ([[0, 1, 2, 7]], [[0, 1, 2, -1]], [[0, 1, 2]]):
        with pytest.raises(ValueError, match="codes are rows of a square number of places with 0 to 6"):
            codes.decode(np.array(wrong))

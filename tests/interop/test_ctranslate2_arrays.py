"""CTranslate2's file of arrays: what it holds, and files that mean harm."""

import struct
import tracemalloc

import numpy as np
import pytest
import torch

from clearformer.interop.ctranslate2_arrays import ModelFile, SplitArrays
from interop.model_bin import array, model_bin, text


def saved(folder, *parts, **choices):
    (folder / "model.bin").write_bytes(model_bin(*parts, **choices))
    return ModelFile(folder / "model.bin")


def test_arrays_single_numbers_and_second_names(tmp_path):
    values = np.arange(6, dtype="<f4")
    again = struct.pack("<I", 1) + text("again") + text("a")
    file = saved(tmp_path, array("a", (2, 3), values.tobytes()), array("n", (), b"\x05", kind=1), tail=again)
    assert file.shapes == {"a": (2, 3), "again": (2, 3)}
    assert file.facts == {"n": 5}
    assert file.home("again") == "a"
    assert torch.equal(file.read("again"), torch.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(("kind", "type_"), [(1, "<i1"), (2, "<i2")])
def test_fewer_bits_are_divided_by_their_scale(tmp_path, kind, type_):
    rows = np.array([[2, 4], [9, 27]], dtype=type_).tobytes()
    scales = array("w_scale", (2,), np.array([2, 9], dtype="<f4").tobytes())
    file = saved(tmp_path, array("w", (2, 2), rows, kind=kind), scales)
    assert file.read("w").tolist() == [[1, 2], [1, 3]]
    assert list(file.shapes) == ["w"], "a scale is no weight"


def test_halves_of_floats_come_back(tmp_path):
    numbers = np.array([1.5, -2.0], dtype="<f4")
    upper = (numbers.view("<u4") >> 16).astype("<u2").tobytes()
    file = saved(tmp_path, array("b", (2,), upper, kind=5), array("h", (2,), numbers.astype("<f2").tobytes(), kind=4))
    assert file.read("b").tolist() == file.read("h").tolist() == [1.5, -2.0]


def test_a_quantised_weight_without_its_scale_is_refused(tmp_path):
    file = saved(tmp_path, array("w", (2,), bytes(2), kind=1))
    with pytest.raises(ValueError, match="w is quantised, but has no scale"):
        file.read("w")


def test_joined_projections_are_taken_apart(tmp_path):
    """Queries are as wide as what the output projection takes in; keys and values share the rest."""
    at = "decoder/layer_0/self_attention"
    joined = np.arange(8 * 4, dtype="<f4").reshape(8, 4)
    out = array(f"{at}/linear_1/weight", (4, 4), bytes(64))
    split = SplitArrays(saved(tmp_path, array(f"{at}/linear_0/weight", (8, 4), joined.tobytes()), out))
    dotted = "decoder.layer.0.self_attention"
    assert {name: shape for name, shape in split.shapes.items() if ".linear" not in name} == {
        f"{dotted}.q.weight": (4, 4), f"{dotted}.k.weight": (2, 4), f"{dotted}.v.weight": (2, 4)
    }  # fmt: skip
    assert torch.equal(split.read(f"{dotted}.k.weight"), torch.from_numpy(joined[4:6].copy()))


ONE = array("a", (2,), bytes(8))
HOSTILE = {
    "empty": (b"", "ends in the middle of its version"),
    "not this format": (b"PK\x03\x04" + bytes(100), "is of version 67324752"),
    "an older version": (model_bin(version=4), "is of version 4; only version 6"),
    "four billion arrays": (model_bin(count=0xFFFFFFFF), "says that it holds 4,294,967,295 arrays"),
    "one array more than there are": (model_bin(ONE, count=2), "an array's name is not text"),
    "a name that is longer than the file": (model_bin(struct.pack("<H", 60_000) + b"x" * 20), "ends in the middle of"),
    "a name that is not text": (model_bin(struct.pack("<H", 3) + b"\xff\xfe\0" + bytes(20)), "is not text"),
    "a name without its end": (model_bin(struct.pack("<H", 3) + b"abc" + bytes(20)), "is not text"),
    "a hundred dimensions": (model_bin(text("a") + b"\x64" + bytes(400)), "has 100 dimensions"),
    "a shape of absurd size": (
        model_bin(array("a", (0xFFFFFFFF, 0xFFFFFFFF), b"", length=4)), "which is not what its shape asks for",
    ),
    "a length that the file has not": (model_bin(array("a", (1 << 28,), b"", length=1 << 30)), "ends in the middle"),
    "a length that is not the shape's": (model_bin(array("a", (3,), bytes(8))), "has 8 bytes, which is not what its"),
    "an unknown type": (model_bin(array("a", (2,), bytes(8), kind=9)), "is of the unknown type 9"),
    "the same array twice": (model_bin(ONE, ONE), "has a twice"),
    "a second name for nothing": (
        model_bin(ONE, tail=struct.pack("<I", 1) + text("b") + text("nowhere")), "calls nowhere also b",
    ),
    "a second name that is taken": (model_bin(ONE, tail=struct.pack("<I", 1) + text("a") + text("a")), "calls a also"),
    "four billion second names": (model_bin(ONE, tail=struct.pack("<I", 0xFFFFFFFF)), "4,294,967,295 second names"),
    "bytes behind the end": (model_bin(ONE) + b"more", "has 4 bytes after its end"),
}  # fmt: skip


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_at_once(name, tmp_path):
    content, sentence = HOSTILE[name]
    (tmp_path / "model.bin").write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"model\.bin.*(?:{sentence})") as refused:
        ModelFile(tmp_path / "model.bin")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(content) + (1 << 20)
    assert "\n" not in str(refused.value)

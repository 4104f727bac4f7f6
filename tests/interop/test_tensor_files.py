"""Files of weights: whole, in shards, as arrays; shapes first, and nothing that would run code."""

import json
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from clearformer.interop.tensor_files import aligned, open_weights

NUMBERS = {"a.weight": torch.arange(6.0).view(2, 3), "a.bias": torch.ones(2), "norm.gamma": torch.full((3,), 2.0)}


def contents(folder):
    with open_weights(folder) as store:
        return {name: store.read(name) for name in store.shapes}


def same(one, other):
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def shards(folder, placed):
    files = {
        file: {name: NUMBERS[name] for name in NUMBERS if placed.get(name) == file} for file in set(placed.values())
    }
    for file, tensors in files.items():
        save_file(tensors, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": placed}))


def test_one_model_in_three_formats(tmp_path):
    for name in ("whole", "shards", "arrays"):
        (tmp_path / name).mkdir()
    save_file(NUMBERS, tmp_path / "whole" / "model.safetensors")
    shards(tmp_path / "shards", dict(zip(NUMBERS, ["1.safetensors", "2.safetensors", "1.safetensors"], strict=True)))
    np.savez(tmp_path / "arrays" / "weights.npz", **{name: tensor.numpy() for name, tensor in NUMBERS.items()})
    for name in ("whole", "shards", "arrays"):
        same(contents(tmp_path / name), NUMBERS)


def test_shapes_are_known_without_reading(tmp_path):
    save_file(NUMBERS, tmp_path / "model.safetensors")
    with open_weights(tmp_path) as store:
        assert store.shapes == {name: tuple(tensor.shape) for name, tensor in NUMBERS.items()}


@pytest.mark.parametrize("name", ["../out.safetensors", "/etc/passwd", "a\\b.safetensors", "model.bin"])
def test_an_index_may_name_files_of_its_folder_only(tmp_path, name):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a.weight": name}}))
    with pytest.raises(ValueError, match="not a safetensors file of this folder"), open_weights(tmp_path):
        pass


def test_an_index_must_agree_with_its_files(tmp_path):
    shards(tmp_path, dict.fromkeys(NUMBERS, "1.safetensors"))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a.weight": "1.safetensors"}}))
    with pytest.raises(ValueError, match=r"do not agree on a\.bias"), open_weights(tmp_path):
        pass


def test_an_array_of_objects_is_never_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return (exec, ("raise SystemExit('code was run')",))

    np.savez(tmp_path / "weights.npz", evil=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="Python objects"), open_weights(tmp_path):
        pass


def test_an_archive_that_unfolds_is_no_file_of_weights(tmp_path):
    with zipfile.ZipFile(tmp_path / "weights.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(50_000_000))
    with pytest.raises(ValueError, match="which weights never do"), open_weights(tmp_path):
        pass


def test_old_spellings_and_left_out_prefixes_are_found(tmp_path):
    save_file(NUMBERS, tmp_path / "model.safetensors")
    with open_weights(tmp_path) as store:
        lying = aligned(store, {"bert.a.weight", "bert.a.bias", "bert.norm.weight"}, "bert.")
        assert set(lying.shapes) == {"bert.a.weight", "bert.a.bias", "bert.norm.weight"}
        assert torch.equal(lying.read("bert.norm.weight"), NUMBERS["norm.gamma"])

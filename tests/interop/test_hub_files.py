"""Which files of a repository are wanted: numbers before pickles, and never a program."""

import json

import pytest

from clearformer.interop.hub_files import shard_names, wanted_files

CLUTTER = ["README.md", ".gitattributes", "modeling_evil.py", "onnx/model.onnx", "flax_model.msgpack", "tf_model.h5",
           "rust_model.ot", "../../x", "pytorch_model.bin.py", "training_args.bin"]  # fmt: skip


@pytest.mark.parametrize(
    ("weights", "chosen"),
    [
        (["model.safetensors", "pytorch_model.bin"], "model.safetensors"),
        (["model.safetensors.index.json", "pytorch_model.bin"], "model.safetensors.index.json"),
        (["pytorch_model.bin"], "pytorch_model.bin"),
        (["pytorch_model.bin.index.json"], "pytorch_model.bin.index.json"),
        (["model.bin"], "model.bin"),
        (["model.safetensors", "q4.gguf", "q8.gguf"], "model.safetensors"),
    ],
)
def test_numbers_before_pickles(weights, chosen):
    wanted = wanted_files([*CLUTTER, "config.json", "vocab.txt", *weights], "a/b")
    assert wanted.weights == chosen
    assert wanted.texts == ("config.json", "vocab.txt")
    assert wanted.is_index == chosen.endswith(".index.json")


def test_one_quantised_file_is_a_model_by_itself():
    wanted = wanted_files([*CLUTTER, "q4.gguf"], "a/b")
    assert (wanted.weights, wanted.texts, wanted.has_family) == ("q4.gguf", (), False)


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        ([], "a/b holds no model that can be imported: it has no config.json"),
        (["model.safetensors"], "it has no config.json"),
        (["config.json", "adapter_model.safetensors"], "it has no weights"),
        (["a.gguf", "b.gguf"], r"a/b has 2 .gguf files \(a.gguf, …\)"),
        (["../x.gguf"], "it has no config.json"),
    ],
)
def test_what_cannot_be_imported_is_said_before_anything_is_fetched(listed, sentence):
    with pytest.raises(ValueError, match=sentence):
        wanted_files([*CLUTTER, *listed], "a/b")


def index_of(folder, names):
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {f"tensor{number}": name for number, name in enumerate(names)}}))
    return path


def test_an_index_names_each_shard_once(tmp_path):
    names = ["model-1.safetensors", "model-2.safetensors"]
    assert shard_names(index_of(tmp_path, names * 3), [*CLUTTER, *names], "a/b") == names


@pytest.mark.parametrize(
    "name",
    ["../../x.safetensors", "/etc/x.safetensors", "a/b.safetensors", "a\\b.safetensors", "x.py", "x.bin", "",
     ".hidden.safetensors", "C:x.safetensors", "x\0.safetensors"],
)  # fmt: skip
def test_an_index_that_points_elsewhere_is_refused_even_if_the_list_has_the_name(tmp_path, name):
    with pytest.raises(ValueError, match=r"a/b: model\.safetensors\.index\.json names .* refused"):
        shard_names(index_of(tmp_path, [name]), [name], "a/b")


def test_a_shard_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"names model-2\.safetensors, which the repository does not have"):
        shard_names(index_of(tmp_path, ["model-2.safetensors"]), ["model-1.safetensors"], "a/b")


@pytest.mark.parametrize("value", [{}, {"weight_map": []}, {"weight_map": {}}, {"weight_map": {"a": 3}}])
def test_an_index_without_a_map_is_refused(tmp_path, value):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps(value))
    with pytest.raises(ValueError, match="has no weight_map"):
        shard_names(path, [], "a/b")

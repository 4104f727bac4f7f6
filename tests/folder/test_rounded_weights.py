"""A folder in eight or four bits: smaller, opened as what it stands for, refused where it is damaged."""

import json

import pytest
import torch

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.rounded_weights import MIDDLE, SCALE, from_rounded, to_rounded
from clearformer.foundation import storage
from clearformer.model.weights import weights_of
from model.specimens import configured, specimen


@pytest.fixture
def made():
    torch.manual_seed(1)
    return Bundle(config=configured("llama"), model=specimen("llama"))


def test_a_folder_is_smaller_and_opens_as_the_rounded_model(made, tmp_path):
    bundle.save(made, tmp_path / "whole")
    bundle.save(made, tmp_path / "small", dtype="int8")
    sizes = [(tmp_path / name / bundle.WEIGHTS).stat().st_size for name in ("whole", "small")]
    assert sizes[1] < 0.45 * sizes[0]
    opened = bundle.load(tmp_path / "small")
    assert opened.kept == "int8"
    assert bundle.load(tmp_path / "whole").kept == "float32"
    for name, weight in weights_of(opened.model).items():
        exact = weights_of(made.model)[name]
        assert (weight - exact).abs().max() <= 0.01 * exact.abs().max(), name


def test_saved_again_it_is_the_same_bytes(made, tmp_path):
    bundle.save(made, tmp_path / "one", dtype="int8")
    bundle.save(bundle.load(tmp_path / "one"), tmp_path / "two", dtype="int8")
    assert (tmp_path / "one" / bundle.WEIGHTS).read_bytes() == (tmp_path / "two" / bundle.WEIGHTS).read_bytes()


@pytest.mark.parametrize("kept", ["bfloat16", "float16", "int8", "int4"])
def test_every_type_comes_back_as_it_was_written(made, tmp_path, kept):
    bundle.save(made, tmp_path / "one", dtype=kept)
    opened, used = bundle.load(tmp_path / "one"), bundle.load(tmp_path / "one", as_kept=True)
    assert opened.kept == used.kept == kept
    assert all(weight.dtype == torch.float32 for weight in opened.model.parameters())
    assert any(weight.dtype != torch.float32 for weight in used.model.parameters())
    if kept in ("bfloat16", "float16"):
        bundle.save(opened, tmp_path / "two")
        bundle.save(used, tmp_path / "three")
        files = {(tmp_path / name / bundle.WEIGHTS).read_bytes() for name in ("one", "two", "three")}
        assert len(files) == 1


def test_four_bits_are_named_and_smaller_than_eight(made, tmp_path):
    for kept in ("int8", "int4"):
        bundle.save(made, tmp_path / kept, dtype=kept)
    sizes = [(tmp_path / kept / bundle.WEIGHTS).stat().st_size for kept in ("int8", "int4")]
    assert sizes[1] < 0.85 * sizes[0]
    assert storage.read_json(tmp_path / "int4" / "config.json")["weights"] == {"bits": 4, "group": 32}


def test_what_is_used_where_it_lies_changes_nothing_on_disk(made, tmp_path):
    """The file is mapped for reading and for changes that only this process sees."""
    bundle.save(made, tmp_path / "m")
    before = (tmp_path / "m" / bundle.WEIGHTS).read_bytes()
    opened = bundle.load(tmp_path / "m")
    with torch.no_grad():
        for weight in opened.model.parameters():
            weight.add_(1.0)
    assert (tmp_path / "m" / bundle.WEIGHTS).read_bytes() == before
    bundle.load(tmp_path / "m")


def test_a_mapped_folder_may_be_replaced(made, tmp_path):
    """The old file lives until nobody uses it, so a model that is open goes on with its own weights."""
    bundle.save(made, tmp_path / "m", dtype="bfloat16")
    opened, tokens = bundle.load(tmp_path / "m", as_kept=True).model, torch.tensor([[3, 4, 5]])
    torch.manual_seed(2)
    bundle.save(Bundle(config=made.config, model=specimen("llama")), tmp_path / "m", dtype="bfloat16")
    with torch.no_grad():
        torch.testing.assert_close(opened(tokens), made.model(tokens), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("as_kept", [False, True])
@pytest.mark.parametrize("harm", ["short", "long header", "overlapping"])
def test_a_file_that_says_more_than_it_holds_is_refused(made, tmp_path, harm, as_kept):
    """As somebody would who means it: the manifest agrees with the damaged file."""
    bundle.save(made, tmp_path / "m", dtype="bfloat16")
    raw = (tmp_path / "m" / bundle.WEIGHTS).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    if harm == "short":
        raw = raw[:-64]
    elif harm == "long header":
        raw = (1 << 40).to_bytes(8, "little") + raw[8:]
    else:
        first, second = [name for name in header if name != "__metadata__"][:2]
        header[second]["data_offsets"] = header[first]["data_offsets"]
        said = json.dumps(header).encode()
        raw = len(said).to_bytes(8, "little") + said + raw[8 + size :]
    with storage.new_folder(tmp_path / "harmed") as aside:
        bundle._describe(made, aside)
        (aside / bundle.WEIGHTS).write_bytes(raw)
    with pytest.raises(storage.DamagedError, match=r"model\.safetensors cannot be read: .*get the folder anew"):
        bundle.load(tmp_path / "harmed", as_kept=as_kept)


@pytest.mark.parametrize("harm", ["missing", "wrong shape", "not a number"])
def test_scales_that_do_not_fit_are_refused(made, tmp_path, harm):
    small = to_rounded(weights_of(made.model), 8)
    name = next(name for name in small if name.endswith(SCALE))
    changed = {
        "missing": {},
        "wrong shape": {name: small[name][:-1]},
        "not a number": {name: torch.full_like(small[name], torch.nan)},
    }[harm]
    with pytest.raises(ValueError, match="in eight bits, and its scales are missing or do not fit"):
        from_rounded({key: value for key, value in small.items() if key != name} | changed)


def test_a_damaged_folder_is_named(made, tmp_path):
    bundle.save(made, tmp_path / "small", dtype="int8")
    read = storage.read_tensors(tmp_path / "small" / bundle.WEIGHTS)
    name = next(name for name in read if name.endswith(SCALE))
    with storage.new_folder(tmp_path / "harmed") as aside:
        bundle._describe(made, aside)
        storage.write_tensors(aside / bundle.WEIGHTS, {key: value for key, value in read.items() if key != name})
    with pytest.raises(storage.DamagedError, match=r"harmed.*scales are missing"):
        bundle.load(tmp_path / "harmed")


def test_a_model_without_layers_is_refused(made):
    with pytest.raises(ValueError, match="nothing to round"):
        to_rounded({"table": torch.zeros(3, 3)}, 8)


def test_four_bits_that_do_not_fit_are_refused(made, tmp_path):
    small = to_rounded(weights_of(made.model), 4)
    name = next(name for name, weight in small.items() if weight.dtype == torch.uint8)
    for changed in (
        {name: small[name][:, :-1]},
        {name: small[name][0]},
        {name + SCALE: small[name + SCALE][:, :0]},
        {name + MIDDLE: torch.full_like(small[name + MIDDLE], torch.inf)},
    ):
        with pytest.raises(ValueError, match=rf"{name} is in four bits, and .*get the folder anew"):
            from_rounded(small | changed)

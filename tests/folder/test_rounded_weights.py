"""A folder in eight bits: smaller, opened as what it stands for, refused where it is damaged."""

import pytest
import torch

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.rounded_weights import SCALE, from_rounded, to_rounded
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

import logging

import pytest
import torch

from clearformer.foundation import storage
from clearformer.training.checkpoint import Checkpoints, finished_weights
from clearformer.training.optimiser import OptimiserConfig
from training.toy import Spelling, make_loop

EMA = OptimiserConfig(ema=0.9)


@pytest.fixture
def loop(tmp_path):
    """A finished run of 20 steps with checkpoints at 15 and 20."""
    loop = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    loop.run()
    assert loop.checkpoints.steps() == [15, 20]
    return loop


def everything(training):
    """All tensors and numbers that change from step to step."""
    tensors = {f"model.{name}": weight for name, weight in training.model.named_parameters()}
    for parameter_name, parameter in training.model.named_parameters():
        state = training.optimiser.state[parameter]
        tensors |= {f"optimiser.{parameter_name}.{name}": value for name, value in state.items()}
    tensors |= {f"ema.{name}": weight for name, weight in training.ema.weights.items()}
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}, vars(training.progress)


def test_what_is_saved_comes_back_bit_for_bit(loop, tmp_path):
    """Each tensor to its own parameter: a file has another order than a model."""
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    assert fresh.resume() == 20
    (tensors, progress), (expected, expected_progress) = everything(fresh.training), everything(loop.training)
    assert progress == expected_progress
    assert tensors.keys() == expected.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def test_a_loaded_average_goes_on_following_its_own_weights(loop, tmp_path):
    """The order of names in a file is not the model's; an update by order would mix them up."""
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    fresh.resume()
    for one in (loop, fresh):
        one.training.ema.update(one.training.model, 21)
    for name, weight in loop.training.ema.weights.items():
        assert torch.equal(fresh.training.ema.weights[name], weight)


def test_weights_survive_the_removal_of_the_file_they_came_from(loop, tmp_path):
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    fresh.resume()
    before, _ = everything(fresh.training)
    for file in loop.checkpoints.path(20).iterdir():
        file.write_bytes(b"")
    after, _ = everything(fresh.training)
    assert all(torch.equal(before[name], after[name]) for name in before)


FILES = ["model.safetensors", "optimiser.safetensors", "ema.safetensors", "progress.json", "manifest.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", ["flip", "cut", "remove"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_is_used(loop, tmp_path, caplog, name, harm):
    """And the run that goes on from there ends with the same bits."""
    folder = loop.checkpoints.path(20)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    content = bytearray(whole[name])
    content[len(content) // 2] ^= 4
    if harm == "remove":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content if harm == "flip" else content[: len(content) // 2])
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    with caplog.at_level(logging.ERROR):
        assert fresh.resume() == 15
    assert str(folder) in caplog.text
    if name != "manifest.json":
        assert name in caplog.text
    fresh.run()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole


def test_foreign_files_and_folders_are_not_taken_for_checkpoints(loop, tmp_path):
    (loop.checkpoints.folder / "notes.txt").write_text("mine")
    (loop.checkpoints.folder / "7").mkdir()
    (loop.checkpoints.folder / ".writing-00000030-1").mkdir()
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    assert fresh.checkpoints.steps() == [15, 20]
    assert not (loop.checkpoints.folder / ".writing-00000030-1").exists()


def test_when_no_checkpoint_is_whole_nothing_is_begun_over_silently(loop, tmp_path):
    for step in (15, 20):
        (loop.checkpoints.path(step) / "model.safetensors").write_bytes(b"")
    with pytest.raises(storage.DamagedError, match=r"no checkpoint in .* is whole"):
        make_loop(tmp_path, optimiser=EMA, validate_every=100).resume()


def test_a_damaged_newer_checkpoint_never_pushes_out_a_whole_one(loop, tmp_path):
    """Old and new ones kept are counted back from the present step."""
    (loop.checkpoints.path(20) / "model.safetensors").write_bytes(b"")
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100, save_every=1, keep=2)
    assert fresh.resume() == 15
    fresh.advance(lambda report: None)
    assert fresh.checkpoints.steps() == [15, 16]


def test_another_model_or_average_than_the_run_s_own_is_refused(loop, tmp_path):
    with pytest.raises(ValueError, match=r"another training\.optimiser\.ema; resume with the run's own recipe"):
        make_loop(tmp_path).resume()
    other = make_loop(tmp_path, optimiser=EMA)
    other.training.model = torch.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="the weights do not fit the model"):
        other.resume()


def test_a_checkpoint_of_another_version_is_refused_in_a_sentence(loop, tmp_path):
    """Its numbers have other names (what is now `count` was once `tokens`), though every file is whole."""
    folder = loop.checkpoints.path(20)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != storage.MANIFEST}
    with storage.new_folder(folder) as aside:
        for name, content in files.items():
            (aside / name).write_bytes(content.replace(b'"count"', b'"tokens"'))
    fresh = make_loop(tmp_path, optimiser=EMA, validate_every=100)
    before, _ = everything(fresh.training)
    with pytest.raises(ValueError, match=r"progress\.json was written by another version of clearformer; finish"):
        fresh.resume()
    after, _ = everything(fresh.training)
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_finished_weights_are_the_average_and_what_has_none(loop):
    """A running statistic is no parameter and has no average of its own."""
    found = finished_weights(loop.checkpoints.path(20))
    for name, weight in loop.training.ema.weights.items():
        assert torch.equal(found[name], weight)


def test_the_best_and_the_newest_are_kept(tmp_path):
    scores = {2: 1.0, 4: 9.0, 6: 3.0, 8: 2.0, 10: 2.0}
    loop = make_loop(tmp_path, Spelling(scores=scores), steps=10, save_every=2, validate_every=2, keep=2)
    loop.run()
    assert loop.checkpoints.steps() == [4, 8, 10]
    storage.verify(tmp_path / "checkpoints" / "best")
    assert (tmp_path / "checkpoints" / "best").readlink().name == "00000004"


def test_an_empty_folder_has_nothing_to_go_on_from(tmp_path):
    assert Checkpoints(tmp_path / "none", keep=2).steps() == []
    assert make_loop(tmp_path).resume() == 0

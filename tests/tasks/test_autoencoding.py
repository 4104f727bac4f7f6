"""Pictures through a code: the loss is the error of the pixels, noise is drawn from the seed, PCA stands beside."""

from dataclasses import replace

import pytest
import torch

from clearformer.folder import bundle
from clearformer.folder.description import open_folder
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.tasks import autoencoding
from clearformer.tasks.autoencoding import SquaredError
from clearformer.tasks.task import Judging, Scoring
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_codes
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_codes(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def test_the_data_decide_the_shape_and_the_code_stays_as_the_recipe_says(made):
    config = made.made.config
    assert (config.shape, config.front.picture, config.front.channels, config.bottleneck) == ("autoencoder", 8, 1, 4)


def test_the_loss_is_the_mean_square_of_each_picture(made):
    batch = made.parts().batch_at(0)
    model = made.made.model.eval()
    with torch.no_grad():
        found = autoencoding.loss(model, batch, SquaredError())
        back = model(batch.pictures)
    assert found.count == len(batch) == 16
    torch.testing.assert_close(found.total, 16 * torch.nn.functional.mse_loss(back, batch.pictures))


def test_noise_and_moves_are_a_pure_function_of_the_seed(made, recipe):
    collate = autoencoding.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(16)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    assert torch.equal(one.pictures, same.pictures)
    assert torch.equal(one.noise, same.noise)
    assert not torch.equal(one.noise, other.noise)
    plain = collate(rows, ())
    assert plain.noise is None  # none in validation
    assert torch.equal(plain.pictures, collate(rows, ()).pictures)


def test_noise_is_added_to_what_is_read_alone(made):
    batch = made.parts().batch_at(0)
    given = []
    autoencoding.loss(lambda x: given.append(x) or x, batch, SquaredError(noise=0.5))
    torch.testing.assert_close(given[0], batch.pictures + 0.5 * batch.noise)
    with pytest.raises(ValueError, match=r"objective\.noise must be at least 0"):
        SquaredError(noise=-1)


def test_a_network_without_activations_comes_near_pca_and_never_passes_it(tmp_path):
    """One projection each way, trained on the pictures that are scored: PCA is the best that it can reach."""
    small = ["model.layers=1", "training.steps=400", "training.save_every=400", "training.validate_every=400"]
    plain = ["objective.noise=0", "data.shift=0", "data.flip=false", "training.schedule.peak=0.01"]
    recipe = read_recipe(write_codes(tmp_path), small + plain)
    model = train(recipe, tmp_path / "run", base=tmp_path)
    made = bundle.load(model)
    folder = autoencoding.held_out([tmp_path / "pictures.idx"], open_folder(model))
    learned = replace(folder, pictures=folder.learned)
    judging = Judging(options=recipe.use, scoring=Scoring(), ranks=Ranks(), thorough=True)
    scores = autoencoding.score(made_reconstructor(made), learned, judging)
    assert scores["pca_mse"] <= scores["mse"] < 1.15 * scores["pca_mse"]
    assert scores["examples"] == 78
    alone = autoencoding.score(made_reconstructor(made), replace(learned, learned=None), judging)
    assert "pca_mse" not in alone
    assert "not beside the model" in alone["pca_signature"]


def made_reconstructor(made):
    return autoencoding.TASK.use(made)


def test_a_validation_looks_at_as_many_as_the_recipe_says(made, recipe):
    reconstructor = made_reconstructor(made.made)
    judging = Judging(options=recipe.use, scoring=Scoring(examples=4), ranks=Ranks())
    quick = autoencoding.score(reconstructor, made.prepared.held, judging)
    found = reconstructor.reconstruct(made.prepared.held.pictures.pixels[:4])
    assert quick == {"mse": pytest.approx(sum(one.error for one in found) / 4)}

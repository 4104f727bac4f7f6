"""The Python door: about fifteen names, looked up when first used."""

from pathlib import Path

import pytest
import torch

import clearformer as cf
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.families import transformer
from clearformer.text.train_tokenizer import train


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small untrained translator."""
    tokenizer = train("bpe", ["two dogs play in the snow"] * 5, 300)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=32, layers=2, heads=2)
    cf.save(
        Bundle(config=config, model=cf.build(config), preprocessing=Preprocessing(tokenizer=tokenizer)), tmp_path / "m"
    )
    return tmp_path / "m"


@pytest.mark.parametrize("name", cf.__all__)
def test_every_name_opens(name: str):
    assert getattr(cf, name) is not None
    assert name in dir(cf)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match=r"clearformer has no 'transform'; it has .*trace"):
        cf.transform  # noqa: B018


def test_a_model_is_opened_used_and_seen_through(folder: Path):
    model = cf.load(folder)
    with cf.trace(model) as seen:
        [found] = model.translate("two dogs play")
    weights = seen["decoder.layers.1.cross_attn.weights"]
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    [again] = cf.translate(["two dogs play"], folder)
    assert again.text == found.text
    assert again.score == pytest.approx(found.score, abs=1e-4)  # looking on takes the readable path


def test_a_recipe_is_trained_with_changes(tmp_path: Path):
    for side in ("source", "target"):
        for part in ("train", "dev"):
            (tmp_path / f"{part}.{side}").write_text("".join(f"word{n} dog{n}\n" for n in range(40)))
    files = "".join(f'{part}_{side} = "{part}.{side}"\n' for part in ("train", "dev") for side in ("source", "target"))
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f"task = 'translation'\n[data]\n{files}[data.vocabulary]\nvocab_size = 300\n"
        "[model]\npreset = 'tiny'\ndim = 16\nhidden_dim = 32\nlayers = 1\n[training]\nsteps = 100000\nschedule = { warmup = 0.1 }\n"
    )
    changes = {"training.steps": 2, "training.validate_every": 2, "training.save_every": 1}
    model = cf.train(recipe, changes, out=tmp_path / "run")
    assert cf.load(model).bundle.config.dim == 16

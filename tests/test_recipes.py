"""Every recipe that ships parses, builds its model and names text that its corpus has; the largest run ten steps."""

import math
import random
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from clearformer.data.catalogue.corpora import find_corpus
from clearformer.foundation import settings
from clearformer.model.build import build
from clearformer.run.recipe import Recipe, find_recipe, find_start, parse_recipe, read_recipe
from clearformer.run.train import train
from clearformer.tasks.data_files import several
from clearformer.tasks.model_section import model_config
from clearformer.training.metrics_log import read_records

SHIPPED = sorted(path.stem for path in find_recipe("sample").parent.glob("*.toml"))
PAPER = {"wmt14-en-de-base": 63e6, "wmt14-en-de-big": 214e6, "wmt14-en-fr-big": 209e6}  # with 37,000 and 32,000 pieces


BEGUN = [name for name in SHIPPED if "from" in settings.read_toml(find_recipe(name)).get("model", {})]
MARKED = [pytest.param(name, marks=pytest.mark.network if name in BEGUN else ()) for name in SHIPPED]


@pytest.fixture(params=MARKED)
def recipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    if request.param in BEGUN:
        monkeypatch.setenv("CLEARFORMER_CACHE", str(request.getfixturevalue("published")))
    return read_recipe(find_recipe(request.param))


def sizes(recipe: Recipe) -> dict[str, int]:
    """What the data decides, if its vocabulary has the size that the recipe asks for."""
    if (vocabulary := getattr(recipe.data, "vocabulary", None)) is None or "from" in recipe.model:
        return {}
    own = {} if getattr(recipe.data, "joint", True) else {"target_vocab_size": vocabulary.vocab_size}
    return {"vocab_size": vocabulary.vocab_size, **own}


def parameters(recipe: Recipe) -> int:
    """Counted on the meta device, where a model has shapes and takes no memory."""
    with torch.device("meta"):
        model = build(model_config(recipe.model, sizes(recipe), base=find_start(recipe.model, Path())))
    return sum(parameter.numel() for parameter in model.parameters())


def test_it_is_named_after_its_file_and_reads_back(recipe):
    assert recipe.name in SHIPPED
    assert parse_recipe(settings.to_plain(recipe), recipe.name) == recipe


def test_its_model_builds(recipe):
    assert parameters(recipe) == pytest.approx(PAPER.get(recipe.name, parameters(recipe)), rel=0.01)


def test_its_files_are_in_its_corpus(recipe):
    corpus = find_corpus(recipe.data.corpus)
    available = {path for file in corpus.files for path in (file.members or (file.path,))}
    named = {
        one.name: several(getattr(recipe.data, one.name)) for one in fields(recipe.data) if one.metadata.get("file")
    }
    for part, names in named.items():
        plain = {name.partition("#")[0] for name in names}  # a part of an archive may follow
        outer = {next((one for one in available if name.startswith(f"{one}/")), name) for name in plain}
        assert outer - {""} <= available, part
        if recipe.task == "translation":
            assert set(names) != {""} or part.startswith("test"), f"{part} is needed to train"
    assert any(part.startswith("train") and names != ("",) for part, names in named.items())


def test_the_first_line_after_its_comment_names_its_task(recipe):
    """A reader sees at once what it is for, and the sections below follow from it."""
    text = find_recipe(recipe.name).read_text(encoding="utf-8")
    first = next(line for line in text.splitlines() if line and not line.startswith("#"))
    assert first == f'task = "{recipe.task}"'


def test_a_bundled_models_data_allows_it(recipe):
    """What is trained on data with an open licence says whose data it is."""
    owners = {
        "mnist": "Yann LeCun and Corinna Cortes",
        "fsdd": "Zohar Jackson and contributors",
        "aeslc": "Rui Zhang and Joel Tetreault",
        "squad": "John Miller",
        "broad-twitter": "Leon Derczynski",
        "wnut-17": "Leon Derczynski",
        "wikitext-2": "Merity",
        "drcd": "Delta Research Center",
        "oxford-pets-128": "Omkar Parkhi, Andrea Vedaldi, Andrew Zisserman and C. V. Jawahar",
    }
    if "CC BY" in (recipe.data.licence or ""):
        assert owners.get(recipe.data.corpus, "tatoeba.org") in recipe.data.attribution
        assert recipe.data.licence in recipe.data.attribution


@pytest.mark.parametrize("name", sorted(PAPER))
def test_wmt_trains_on_what_the_paper_trained_on(name):
    data = read_recipe(find_recipe(name)).data
    for names, language in ((data.train_source, data.source_language), (data.train_target, data.target_language)):
        assert names == find_corpus(data.corpus).split("train", lang=language)


def made_text(folder: Path, words: int) -> dict[str, str]:
    """Pairs of made-up words, each met often enough to become a piece: a vocabulary of full size from little text."""
    draw = random.Random(1)
    known = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(4, 9))) for _ in range(words)]
    lines = [" ".join(known[start : start + 8]) for start in range(0, words, 8)]
    files = {}
    for part, text in (("train", lines * 2), ("dev", lines[:5])):
        for side, order in (("source", 1), ("target", -1)):  # backwards, because the doctor leaves copies out
            (folder / f"{part}.{side}").write_text("".join(" ".join(line.split()[::order]) + "\n" for line in text))
            files[f"data.{part}_{side}"] = f"{part}.{side}"
    return files


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("wmt14-en-de-base", marks=pytest.mark.slow),
        pytest.param("wmt14-en-de-big", marks=pytest.mark.soak),
        pytest.param("wmt14-en-fr-big", marks=pytest.mark.soak),
    ],
)
def test_ten_real_steps_at_full_size(name, tmp_path):
    """The whole run, from text to model folder; only the text is made up and the batch is small."""
    values = settings.read_toml(find_recipe(name))
    del values["data"]["corpus"]
    changes = {"training.steps": 10, "training.batch_tokens": 128, "training.log_every": 1, "training.average": 1}
    changes["training.schedule.warmup"] = 5  # the paper's 4,000 would be refused: the rate would only rise
    for key, value in {**made_text(tmp_path, 24_000), **changes}.items():
        values = settings.lay(values, key, value)
    recipe = parse_recipe(values, name)
    train(recipe, tmp_path / "run", base=tmp_path)
    losses = [record["loss"] for record in read_records(tmp_path / "run" / "metrics.jsonl")]
    assert len(losses) == 10
    # Untrained, the model knows nothing: about as unsure as one that takes all pieces for equally likely.
    assert losses[0] == pytest.approx(math.log(recipe.data.vocabulary.vocab_size), abs=2)
    assert all(math.isfinite(loss) for loss in losses)
    weights = (tmp_path / "run" / "model" / "model.safetensors").stat().st_size
    assert weights == pytest.approx(4 * PAPER[name], rel=0.01)

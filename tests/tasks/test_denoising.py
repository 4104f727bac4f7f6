"""Denoising as a task: damage that comes from the seed alone, rows within their bounds, held-out texts never read."""

import json

import numpy as np
import pytest
import torch

from clearformer.cli.main import main
from clearformer.data.corruption import sentinel_ids
from clearformer.folder import bundle
from clearformer.run.recipe import read_recipe
from clearformer.tasks import denoising, find_task
from clearformer.tasks.denoising import DamagedText
from clearformer.tasks.task import Workspace
from flows.tiny_tasks import write_damage, write_mails
from run.assembled import assemble

SPANS = {"kind": "span-corruption", "rate": 0.15}


@pytest.fixture(params=["infilling", "span-corruption"])
def made(request, tmp_path):
    changes = ["data.corruption={ kind = 'span-corruption', rate = 0.15 }"] if "span" in request.param else []
    return assemble(read_recipe(write_damage(tmp_path), changes), tmp_path)


def test_a_batch_depends_on_its_seed_alone_and_fits_its_plan(made):
    collate = denoising.collate(made.recipe.data, made.made.preprocessing)
    rows = [made.prepared.train[place] for place in range(8)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5), (1, 5), (1, 6)))
    assert torch.equal(one.source, same.source)
    assert one.source.shape != other.source.shape or not torch.equal(one.source, other.source)
    for batch in (one, other, collate(rows, ())):
        assert (batch.source_keep.sum(1).numpy() <= made.prepared.lengths[0][:8]).all()
        assert (batch.target_keep.sum(1).numpy() <= made.prepared.lengths[1][:8]).all()
    again = collate(rows[3:4], ())  # in validation company does not matter
    alone, width = collate(rows, ()), int(again.source_keep.sum())
    assert torch.equal(again.source[0], alone.source[3, :width])


def test_both_kinds_have_what_stands_for_gaps(made):
    tokenizer = made.made.preprocessing.sides[0]
    needed = made.recipe.data.corruption.sentinels(made.recipe.data.max_length)
    assert len(sentinel_ids(tokenizer)) == needed
    assert ("mask" in tokenizer.special_ids) == (needed == 0)


def test_texts_that_are_held_apart_are_never_read(tmp_path):
    write_mails(tmp_path)
    lines = (tmp_path / "mails.jsonl").read_text().splitlines()
    (tmp_path / "apart.jsonl").write_text("\n".join(lines[:5]) + "\n")
    data = DamagedText(train="mails.jsonl", text="mail", without="apart.jsonl", max_length=64)
    prepared = denoising.prepare(data, Workspace(folder=tmp_path / "run", base=tmp_path))
    read = {
        prepared.preprocessing.sides[0].decode(row) for row in (prepared.train[n] for n in range(len(prepared.train)))
    }
    apart = {json.loads(line)["mail"] for line in lines[:5]}
    assert read
    assert not read & apart


def test_a_summarizer_begins_with_it(made, tmp_path):
    bundle.save(made.made, tmp_path / "denoiser")
    mails = tmp_path / "mails"
    recipe = read_recipe(write_mails(mails), [f"model={{ from = '{tmp_path / 'denoiser'}' }}"])
    begun = assemble(recipe, mails)
    for name, weight in begun.made.model.named_parameters():
        assert torch.equal(weight, made.made.model.get_parameter(name)), name
    assert begun.made.preprocessing.sides[0] == made.made.preprocessing.sides[0]


def test_fill_shows_damage_and_repair_side_by_side(made, tmp_path, capsys):
    bundle.save(made.made, tmp_path / "model")
    assert main(["fill", "the red dog sees a bird", "--model", str(tmp_path / "model")]) == 0
    shown, repaired = capsys.readouterr().out.splitlines()
    assert shown.startswith("shown     ")
    assert "[MASK]" in shown
    assert repaired.startswith("repaired  ")
    assert main(["fill", "the [MASK] dog", "--json", "--model", str(tmp_path / "model")]) == 0
    assert json.loads(capsys.readouterr().out)["shown"] == "the [MASK] dog"


def test_names_of_the_field_lead_to_the_task():
    assert find_task("infilling") is find_task("span-corruption") is find_task("denoising")


def test_a_vocabulary_that_loses_spaces_and_a_start_without_gaps_are_refused(tmp_path):
    with pytest.raises(ValueError, match="loses spaces"):
        DamagedText(train="x.txt", vocabulary=denoising.TokenizerConfig(kind="wordpiece"))
    assert np.isfinite(DamagedText(train="x.txt").hold_out)

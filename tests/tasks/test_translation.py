"""Translation as a record: files, vocabularies, shards, loss and scores."""

import logging
from dataclasses import replace

import pytest
import torch

from clearformer.data.collate import collate_pairs
from clearformer.data.readers.parallel import CorpusError
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.run.recipe import read_recipe
from clearformer.tasks import translation
from clearformer.tasks.next_token import NextTokenObjective
from clearformer.tasks.task import Judging, Workspace
from clearformer.tasks.translation import ParallelData, TranslationScoring
from clearformer.training.distributed import Ranks
from flows.numbers import write_recipe
from run.assembled import assemble

PLAIN = NextTokenObjective(smoothing=0.1)


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path))


def test_a_target_s_padding_never_matters(recipe, tmp_path):
    """The loss of a batch is the sum of the losses of its rows, each alone without padding."""
    made = assemble(recipe, tmp_path)
    model, tokenizer = made.made.model.eval(), made.made.tokenizer
    pairs = [made.prepared.train[index] for index in range(8)]
    special = {"pad": tokenizer.pad_id, "bos": tokenizer.bos_id, "eos": tokenizer.eos_id}
    with torch.no_grad():
        together = translation.loss(model, collate_pairs(pairs, **special), PLAIN)
        alone = [translation.loss(model, collate_pairs([pair], **special), PLAIN) for pair in pairs]
    assert together.count == sum(loss.count for loss in alone)
    torch.testing.assert_close(together.total, sum(loss.total for loss in alone))


def test_two_passes_are_asked_to_agree_in_training_alone(recipe, tmp_path):
    """Without dropout two passes would be one, and a validation that made two would take twice as long."""
    made = assemble(recipe, tmp_path)
    batch, twice = made.parts().batch_at(0), NextTokenObjective(smoothing=0.1, r_drop=5.0)
    calls = []
    made.made.model.encoder.register_forward_hook(lambda *_: calls.append(1))
    made.made.model.train()
    torch.manual_seed(1)
    with_divergence = translation.loss(made.made.model, batch, twice).total
    assert len(calls) == 2
    torch.manual_seed(1)
    assert with_divergence.item() > translation.loss(made.made.model, batch, PLAIN).total.item()
    calls.clear()
    made.made.model.eval()
    assert torch.equal(
        translation.loss(made.made.model, batch, twice).total, translation.loss(made.made.model, batch, PLAIN).total
    )
    assert len(calls) == 2


def test_two_vocabularies_are_two(recipe, tmp_path):
    recipe = replace(
        recipe, data=replace(recipe.data, joint=False), model=recipe.model | {"embedding": {"tie": "output"}}
    )
    made = assemble(recipe, tmp_path)
    assert made.made.target_tokenizer is not None
    assert made.made.target_tokenizer != made.made.tokenizer
    parts = made.parts()
    assert bool(parts.loss(made.made.model, parts.batch_at(0)).total.isfinite())
    assert {"loss", "perplexity", "bleu", "sample_0"} <= set(parts.validate(made.made.model, 1))


def test_pieces_are_split_in_training_as_the_seed_says_and_in_validation_never(recipe, tmp_path):
    recipe = replace(recipe, data=replace(recipe.data, split_pieces=0.5))
    made = assemble(recipe, tmp_path)
    collate = translation.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(20)]
    assert torch.equal(collate(rows, (1, 2)).source, collate(rows, (1, 2)).source)
    assert not torch.equal(collate(rows, (1, 2)).source, collate(rows, (1, 3)).source)
    plain = translation.collate(replace(recipe.data, split_pieces=0.0), made.prepared.preprocessing)
    assert torch.equal(collate(rows, ()).source, plain(rows, ()).source)


def test_development_files_of_unequal_length_are_refused_before_training(recipe, tmp_path):
    with (tmp_path / "dev.figures").open("a") as file:
        file.write("9\n")
    with pytest.raises(ValueError, match=r"dev\.words has 20 lines but .*dev\.figures has 21"):
        assemble(recipe, tmp_path)


def test_a_development_sentence_that_cannot_be_translated_is_found_before_training(recipe, tmp_path):
    for side in ("words", "figures"):
        with (tmp_path / f"dev.{side}").open("a") as file:
            file.write("nine " * 1500 + "\n")
    with pytest.raises(ValueError, match=r"dev\.words: text 21 has [0-9]+ tokens, more than the 1023 allowed"):
        assemble(recipe, tmp_path)
    assemble(replace(recipe, use=replace(recipe.use, max_source=10_000)), tmp_path)  # the recipe's own limit counts


def test_missing_names_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"the recipe's \[data\] section needs train_source, train_target, dev_source"):
        translation.locate(ParallelData(dev_target="x"), tmp_path)
    with pytest.raises(ValueError, match=r"names 2 files but data\.train_target 1; each needs its partner"):
        translation.locate(
            ParallelData(train_source=("a", "b"), train_target="c", dev_source="d", dev_target="e"), tmp_path
        )


def test_the_doctor_looks_first(recipe, tmp_path, caplog):
    files = translation.locate(recipe.data, tmp_path).train
    with caplog.at_level(logging.INFO):
        translation.check(files)
    assert "train.words and train.figures: " in caplog.text
    with (tmp_path / "train.words").open("a") as file:
        file.write("nine\n")
    with pytest.raises(CorpusError, match=r"601.*600|600.*601"):
        translation.check(files)


def test_a_resumed_run_takes_the_same_text_or_none(recipe, tmp_path):
    """However often one asks: the shards of the first text are not replaced by the refusal."""
    out = Workspace(folder=tmp_path / "out", base=tmp_path)
    first = translation.prepare(recipe.data, out)
    again = replace(out, resume=True)
    assert len(translation.prepare(recipe.data, again).train) == len(first.train)
    for side, line in (("words", "one"), ("figures", "1")):
        with (tmp_path / f"train.{side}").open("a") as file:
            file.write(f"{line}\n")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"train\.words.*: not the data that the run was begun with .* begin anew"):
            translation.prepare(recipe.data, again)
    assert len(translation.prepare(recipe.data, out).train) == len(first.train) + 1  # a new start takes it


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_splitting_pieces_is_a_chance(rate):
    with pytest.raises(ValueError, match=r"data\.split_pieces is a chance"):
        ParallelData(split_pieces=rate)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"smoothing": 1.0}, r"objective\.smoothing must be at least 0 and below 1, not 1\.0"),
        ({"smoothing": -0.1}, r"objective\.smoothing"),
        ({"r_drop": -1.0}, r"objective\.r_drop must not be negative, but is -1\.0"),
    ],
)
def test_an_objective_is_checked(values, message):
    with pytest.raises(ValueError, match=message):
        NextTokenObjective(**values)


def test_evaluate_and_validation_score_alike(recipe, tmp_path):
    """A thorough look adds intervals and signatures to the same BLEU."""
    made = assemble(recipe, tmp_path)
    held, translator = made.prepared.held, Translator(made.made)
    usual = Judging(
        options=DecodingConfig(beam=1), scoring=TranslationScoring(examples=len(held.sources)), ranks=Ranks()
    )
    quick = translation.score(translator, held, usual)
    thorough = translation.score(translator, held, replace(usual, thorough=True))
    assert thorough["bleu"] == pytest.approx(quick["bleu"])
    assert {"bleu_low", "bleu_high", "chrf", "signature", "perplexity"} <= thorough.keys()
    assert thorough["sentences"] == len(held.sources)


def test_the_other_direction_is_the_same_text_with_its_sides_changed(recipe):
    back = translation.reverse(recipe.data)
    assert (back.train_source, back.train_target) == (recipe.data.train_target, recipe.data.train_source)
    assert translation.reverse(back) == recipe.data

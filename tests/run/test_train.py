"""The parts of a run that are not the loop: files, vocabularies, batches, validation, what may change on resume."""

import logging
from dataclasses import replace

import pytest
import torch

from clearformer.data.collate import collate_pairs
from clearformer.data.readers.parallel import CorpusError
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import storage
from clearformer.inference.translator import Translator
from clearformer.interop.importer import import_checkpoint
from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of
from clearformer.run import train
from clearformer.run.recipe import DataConfig, model_config, read_recipe
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop
from clearformer.training.loss import cross_entropy
from clearformer.training.metrics_log import read_records
from flows.numbers import write_recipe
from interop.folders import write
from interop.spm import train_marian

SHORT = ("training.steps=2", "training.save_every=1", "training.validate_every=2", "training.log_every=1")


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path), SHORT)


def prepared(recipe, folder):
    """Everything up to the task."""
    data = train.locate(recipe.data, folder)
    source, target = train.vocabularies(recipe, data, folder / "vocabulary", anew=True)
    encoder = train.PairEncoder(source=source, target=target, max_len=recipe.data.max_length)
    corpus = train.prepare_pairs(data.train, folder / "shards", encoder, resume=False, on_progress=lambda a, b: None)
    config = model_config(
        recipe.model, vocab_size=source.vocab_size, target_vocab_size=None if recipe.joint else target.vocab_size
    )
    torch.manual_seed(1)
    made = Bundle(
        config=config,
        model=build(config),
        preprocessing=Preprocessing(tokenizer=source, target_tokenizer=None if recipe.joint else target),
    )
    return made, corpus, data


def test_an_epoch_shows_every_pair_once_and_the_largest_batch_first(recipe, tmp_path):
    made, corpus, data = prepared(recipe, tmp_path)
    task = train.translation_task(recipe, made, corpus, data, Ranks())
    batches, rows = [], 0
    while rows < len(corpus):
        batches.append(task.batch_at(len(batches)))
        rows += len(batches[-1].source)
    assert rows == len(corpus) == 600
    sizes = [batch.source.numel() * max(batch.source.size(1), batch.target_in.size(1)) for batch in batches]
    assert sizes[0] >= 0.9 * max(sizes)
    texts = {tuple(row[row != made.tokenizer.pad_id].tolist()) for batch in batches for row in batch.source}
    assert len(texts) == 600


def test_batches_are_a_pure_function_of_their_place(recipe, tmp_path):
    made, corpus, data = prepared(recipe, tmp_path)
    one = train.translation_task(recipe, made, corpus, data, Ranks())
    other = train.translation_task(recipe, made, corpus, data, Ranks())
    for place in (0, 50, 3, 200, 50):
        assert torch.equal(one.batch_at(place).source, other.batch_at(place).source)
        assert torch.equal(one.batch_at(place).target_out, other.batch_at(place).target_out)


def test_a_target_s_padding_never_matters(recipe, tmp_path):
    """The loss of a batch is the sum of the losses of its rows, each alone without padding."""
    made, corpus, _ = prepared(recipe, tmp_path)
    model = made.model.eval()
    pairs = [corpus[index] for index in range(8)]
    special = {"pad": made.tokenizer.pad_id, "bos": made.tokenizer.bos_id, "eos": made.tokenizer.eos_id}
    with torch.no_grad():
        together = train.translation_loss(model, collate_pairs(pairs, **special), smoothing=0.1)
        alone = [train.translation_loss(model, collate_pairs([pair], **special), smoothing=0.1) for pair in pairs]
    assert together.tokens == sum(loss.tokens for loss in alone)
    torch.testing.assert_close(together.total, sum(loss.total for loss in alone))


def losses(recipe, folder, *, lanes, loss=None):
    """The first losses of a run."""
    made, corpus, data = prepared(recipe, folder)
    task = train.translation_task(recipe, made, corpus, data, Ranks())
    task = task if loss is None else replace(task, loss=loss)
    config = replace(recipe.training, lanes=lanes, steps=12)
    loop = Loop(made.model, task, config, lambda step: 0.002, folder / "run", Ranks())
    return [loop.update()[0] for _ in range(12)]


def readable_loss(model, batch):
    logits = model(batch.source, batch.target_in, source_keep=batch.source_keep)
    return cross_entropy(logits, batch.target_out, batch.target_keep, smoothing=0.1)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_fast_step_follows_the_readable_one(recipe, tmp_path, dropout):
    """All logits at once through the model's front door, or block by block: one loss curve."""
    sites = {"embedding": dropout, "residual": dropout}
    recipe = replace(recipe, model=recipe.model | {"dropout": sites})
    readable = losses(recipe, tmp_path, lanes=1, loss=readable_loss)
    assert losses(recipe, tmp_path, lanes=1) == pytest.approx(readable, abs=2e-4)
    if not dropout:  # each lane draws its own random bits
        assert losses(recipe, tmp_path, lanes=3) == pytest.approx(readable, abs=2e-4)
    assert readable[-1] < readable[0] - 0.5


def test_two_vocabularies_are_two(recipe, tmp_path):
    recipe = replace(recipe, joint=False, model=recipe.model | {"embedding": {"tie": "output"}})
    made, corpus, data = prepared(recipe, tmp_path)
    assert made.target_tokenizer is not None
    assert made.target_tokenizer != made.tokenizer
    task = train.translation_task(recipe, made, corpus, data, Ranks())
    loss = task.loss(made.model, task.batch_at(0))
    assert bool(loss.total.isfinite())
    assert {"loss", "perplexity", "bleu", "sample_0"} <= set(task.validate(made.model, 1))


def test_validation_measures_the_likelihood_of_the_references(recipe, tmp_path):
    """As the translator's own score does it, sentence by sentence."""
    made, _, data = prepared(recipe, tmp_path)
    made.model.eval()
    validation = train.Validation(recipe, made, data)
    scores = validation(made.model, 1)
    from clearformer.inference.translator import Translator

    expected = Translator(made).perplexity(validation.sources, validation.references)
    assert scores["perplexity"] == pytest.approx(expected, rel=1e-4)
    assert scores["sample_0"].startswith(f"{validation.sources[0]} → ")


def test_development_files_of_unequal_length_are_refused_before_training(recipe, tmp_path):
    made, _, data = prepared(recipe, tmp_path)
    with data.dev_target.open("a") as file:
        file.write("9\n")
    with pytest.raises(ValueError, match=r"dev\.words has 20 lines but .*dev\.figures has 21"):
        train.Validation(recipe, made, data)


def test_a_development_sentence_that_cannot_be_translated_is_found_before_training(recipe, tmp_path):
    made, _, data = prepared(recipe, tmp_path)
    for path in (data.dev_source, data.dev_target):
        with path.open("a") as file:
            file.write("nine " * 1500 + "\n")
    with pytest.raises(ValueError, match=r"dev\.words: text 21 has [0-9]+ tokens, more than the 1023 allowed"):
        train.Validation(recipe, made, data)


def test_training_files_of_unequal_length_stop_the_run_with_both_numbers(recipe, tmp_path):
    with (tmp_path / "train.words").open("a") as file:
        file.write("nine\n")
    with pytest.raises(CorpusError, match=r"601.*600|600.*601"):
        train.train(recipe, tmp_path / "out", base=tmp_path)
    assert not (tmp_path / "out" / "checkpoints").exists()


def test_missing_names_and_files_are_named(recipe, tmp_path):
    with pytest.raises(ValueError, match=r"the recipe's \[data\] section needs train_source, train_target, dev_source"):
        train.locate(DataConfig(dev_target="x"), tmp_path)
    gone = replace(recipe, data=replace(recipe.data, train_source="gone.txt"))
    with pytest.raises((ValueError, OSError), match=r"gone\.txt"):
        train.train(gone, tmp_path / "out", base=tmp_path)


def test_a_fresh_start_learns_its_vocabulary_anew(recipe, tmp_path):
    """What a start that went wrong left behind belongs to another recipe."""
    data = train.locate(recipe.data, tmp_path)
    first, _ = train.vocabularies(recipe, data, tmp_path / "v", anew=True)
    other = replace(recipe, vocabulary=replace(recipe.vocabulary, kind="character"))
    again, _ = train.vocabularies(other, data, tmp_path / "v", anew=True)
    assert again != first
    resumed, _ = train.vocabularies(recipe, data, tmp_path / "v", anew=False)
    assert resumed == again


def test_a_run_goes_on_with_the_same_text_or_not_at_all(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    for side, line in (("words", "one"), ("figures", "1")):
        with (tmp_path / f"train.{side}").open("a") as file:
            file.write(f"{line}\n")
    with pytest.raises(ValueError, match=r"train\.words.*: not the text that the run was begun with .* begin anew"):
        train.train(recipe, tmp_path / "out", base=tmp_path, resume=True)


def test_a_damaged_vocabulary_is_named(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    path = tmp_path / "out" / "vocabulary" / "joint.json"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(storage.DamagedError, match=r"joint\.json is damaged"):
        train.train(recipe, tmp_path / "out", base=tmp_path, resume=True)


def test_a_run_says_what_memory_it_will_take_before_it_takes_it(recipe, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        train.train(recipe, tmp_path / "out", base=tmp_path)
    assert "memory: about" in caplog.text
    assert "largest batch" in caplog.text
    assert "MB for Python and PyTorch" in caplog.text


def test_a_single_checkpoint_is_the_best_one_and_an_average_leaves_the_start_out(recipe, tmp_path):
    """Averaging five of a run that has saved three must not mix in the random weights of step 0."""
    many = replace(recipe, training=replace(recipe.training, average=5))
    model = train.train(many, tmp_path / "out", base=tmp_path)
    parts = [
        storage.read_tensors(tmp_path / "out" / "checkpoints" / f"{step:08d}" / "model.safetensors") for step in (1, 2)
    ]
    for name, weight in storage.read_tensors(model / "model.safetensors").items():
        assert torch.equal(weight, ((parts[0][name].double() + parts[1][name].double()) / 2).float())


def test_the_finished_model_of_a_run_with_an_average_is_that_average(recipe, tmp_path):
    smooth = replace(recipe, training=replace(recipe.training, optimiser=replace(recipe.training.optimiser, ema=0.9)))
    model = train.train(smooth, tmp_path / "out", base=tmp_path)
    best = tmp_path / "out" / "checkpoints" / "best"
    for name, weight in storage.read_tensors(best / "ema.safetensors").items():
        assert torch.equal(storage.read_tensors(model / "model.safetensors")[name], weight)


def test_every_step_is_logged_once(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    records = read_records(tmp_path / "out" / "metrics.jsonl")
    assert [(record["kind"], record["step"]) for record in records] == [("train", 1), ("train", 2), ("validation", 2)]


def test_a_run_goes_on_from_a_model_folder(recipe, tmp_path):
    """Its vocabulary and weights are that model's: without a step's worth of learning it says what that model says."""
    first = train.train(recipe, tmp_path / "first", base=tmp_path)
    still = replace(recipe.training, schedule=replace(recipe.training.schedule, kind="constant", peak=1e-12))
    again = replace(recipe, model={"from": "first/model", "dropout": {"residual": 0.0}}, training=still)
    second = bundle.load(train.train(again, tmp_path / "second", base=tmp_path))
    begun = bundle.load(first)
    assert second.tokenizer == begun.tokenizer
    assert second.config == replace(begun.config, dropout=second.config.dropout)
    assert second.config.dropout.residual == 0.0
    before, after = weights_of(begun.model), weights_of(second.model)
    assert max(float((before[name] - after[name]).abs().max()) for name in before) < 1e-6


def test_a_run_goes_on_from_an_imported_marian(recipe, tmp_path):
    """Marian's decoder begins with padding; so does every target of the run, and the finished folder says the same."""
    folder = tmp_path / "published"
    folder.mkdir()
    ids = train_marian(folder)
    config = FAMILIES["marian"](vocab_size=len(ids), dim=16, hidden_dim=16, layers=1, heads=2)
    write(folder, "marian", "MarianMTModel", config, decoder_start_token_id=ids["<pad>"], pad_token_id=ids["<pad>"])
    import_checkpoint(folder, tmp_path / "imported")
    finished = train.train(replace(recipe, model={"from": "imported"}), tmp_path / "run", base=tmp_path)
    translator = Translator(bundle.load(finished))
    assert translator.markers.start == ids["<pad>"]
    assert translator.target_tokenizer == bundle.load(tmp_path / "imported").target_tokenizer
    assert translator.translate("one two", beam=1, max_extra=1)[0].ids is not None


def test_a_model_with_other_markers_cannot_go_on(recipe, tmp_path):
    first = train.train(recipe, tmp_path / "first", base=tmp_path)
    made = replace(bundle.load(first), markers=Markers(before_source=(1,), after_source=(2,), start=1))
    bundle.save(made, tmp_path / "other")
    with pytest.raises(ValueError, match="puts other markers around its texts"):
        train.train(replace(recipe, model={"from": "other"}), tmp_path / "second", base=tmp_path)
    assert not (tmp_path / "second").exists()

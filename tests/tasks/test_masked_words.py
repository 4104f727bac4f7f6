"""Masked language models: what is hidden, what is asked for, both directions of reading, and what begins with one."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.foundation import settings
from clearformer.inference.word_filler import WordFiller
from clearformer.model.weights import weights_of
from clearformer.run import train
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import parse_recipe, read_recipe
from clearformer.tasks import find_task, masked_words
from clearformer.tasks.masked_words import TASK, HiddenTokens
from clearformer.tasks.task import Judging
from clearformer.training.distributed import Ranks
from clearformer.training.metrics_log import read_records
from flows.tiny_tasks import prose, write_gaps, write_names, write_reviews
from run.assembled import assemble
from support.every_kind import make


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_gaps(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of some seconds, after which the model knows more than how often each word occurs."""
    folder = tmp_path_factory.mktemp("gaps")
    changes = [
        "training.steps=120",
        "training.validate_every=20",
        "training.schedule.peak=0.01",
        "objective.causal=0.5",
    ]
    run = read_recipe(write_gaps(folder), [*changes, "objective.causal=0.5"])
    return train.train(run, folder / "run", base=folder).parent


def test_a_gap_has_its_likeliest_words(tmp_path):
    model = cf.load(make("bert language-model", tmp_path / "m"))
    assert isinstance(model, TASK.use)
    [guesses] = model.fill(f"two {model.gap} play")
    shares = [guess.probability for guess in guesses]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1
    assert {(guess.start, guess.end) for guess in guesses} == {(4, 4 + len(model.gap))}
    assert TASK.verb.line(guesses[:1]) == f"{guesses[0].text} {guesses[0].probability:.3f}"
    with pytest.raises(ValueError, match=r"text 1 has no gap; write \[MASK\] where a word is missing"):
        model.fill("two dogs play")


def test_the_short_name_means_the_same_task(tmp_path):
    write_gaps(tmp_path)
    text = (tmp_path / "recipe.toml").read_text().replace("masked-language-model", "masked-words")
    (tmp_path / "short.toml").write_text(text)
    assert find_task("masked-words") is TASK
    assert read_recipe(tmp_path / "short.toml") == read_recipe(tmp_path / "recipe.toml")


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_the_loss_is_the_plain_cross_entropy_at_the_hidden_places(made):
    batch = made.parts().batch_at(0)
    model, objective = made.made.model.eval(), HiddenTokens()
    shown, chosen = masked_words.hide(batch, rate=0.15, masked=0.8, swapped=0.1, whole_words=False)
    with torch.no_grad():
        found = masked_words.loss(model, batch, objective)
        log_probs = model(shown, keep=batch.keep).log_softmax(-1)
    expected = -log_probs.gather(-1, batch.ids[..., None])[..., 0][chosen].sum()
    torch.testing.assert_close(found.total, expected)
    assert found.count == int(chosen.sum())


def test_rows_in_both_directions_count_alike(made):
    """A causal row asks for every token; together they weigh `rate` of their number, so that neither kind drowns."""
    batch = made.parts().batch_at(0)
    batch = replace(batch, directions=torch.tensor([0.0, 1.0]).repeat(len(batch))[: len(batch)])
    model, objective = made.made.model.eval(), HiddenTokens(causal=0.5, rate=0.2)
    forward = batch.directions == 0
    with torch.no_grad():
        found = masked_words.loss(model, batch, objective)
        hidden = masked_words.loss(model, batch.take(~forward), replace(objective, causal=0.0))
        logits = model(batch.ids[forward], keep=batch.keep[forward], causal=torch.ones(int(forward.sum()), dtype=bool))
    after = batch.keep[forward][:, 1:]
    wanted = batch.ids[forward][:, 1:][after]
    nats = -logits[:, :-1][after].log_softmax(-1).gather(-1, wanted[:, None]).mean()
    count = round(0.2 * len(wanted))
    torch.testing.assert_close(found.total, hidden.total + count * nats)
    assert found.count == hidden.count + count


def test_a_batch_that_is_read_in_one_direction_only_has_a_loss(made):
    batch = made.parts().batch_at(0)
    for direction in (0.0, 1.0):
        one = replace(batch, directions=torch.full((len(batch),), direction))
        found = masked_words.loss(made.made.model, one, HiddenTokens(causal=0.5))
        found.total.backward()
        assert math.isfinite(float(found.total.detach()))
        assert found.count > 0


def test_what_is_hidden_comes_from_the_seed_alone_and_is_fixed_in_validation(made, recipe):
    collate = masked_words.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(8)]

    def hidden(seed):
        batch = collate(rows, seed)
        return torch.stack(masked_words.hide(batch, rate=0.15, masked=0.8, swapped=0.1, whole_words=True))

    assert torch.equal(hidden((1, 5, 0)), hidden((1, 5, 0)))
    assert not torch.equal(hidden((1, 5, 0)), hidden((1, 6, 0)))
    dev = made.prepared.dev
    together, alone = collate(dev[:4], ()), collate(dev[2:3], ())
    assert torch.equal(together.word_lots[2:3, : alone.ids.size(1)], alone.word_lots)
    shown, chosen = masked_words.hide(alone, rate=0.15, masked=0.8, swapped=0.1, whole_words=True)
    assert set(shown[chosen].tolist()) == {made.made.tokenizer.special_id("mask")}


def test_development_rows_hold_every_token_once(made, recipe):
    tokenizer = made.made.tokenizer
    read = [token for row in made.prepared.dev for token in row.tolist() if token != tokenizer.special_id("sep")]
    assert read == [token for ids in tokenizer.ids(made.prepared.held, add_special=False) for token in ids]
    batch = masked_words.collate(recipe.data, made.prepared.preprocessing)(made.prepared.dev, ())
    assert batch.ids.size(1) == recipe.data.max_length
    assert set(batch.ids[:, 0].tolist()) == {tokenizer.special_id("cls")}


@pytest.mark.parametrize(
    "vocabulary",
    [
        {"kind": "wordpiece", "vocab_size": 200},
        {"kind": "bpe", "vocab_size": 420},
        {"kind": "character", "vocab_size": 400},
        {"kind": "word", "vocab_size": 40},
    ],
    ids=lambda vocabulary: vocabulary["kind"],
)
@pytest.mark.parametrize("join", [True, False])
def test_every_kind_of_vocabulary_gets_a_mask_and_reads_a_gap_as_training_hid_one(vocabulary, join, recipe, tmp_path):
    plain = {"task": "masked-words", "model": recipe.model, "data": {"train": "prose.txt", "join": join}}
    plain["data"] |= {"max_length": 24, "vocabulary": vocabulary}
    made = assemble(parse_recipe(plain, "made"), tmp_path)
    filler = WordFiller(made.made)
    whole = "the red dog sees ."
    encoded = np.array(filler.encode([whole])[0].ids)
    starts = masked_words.Masking(filler.tokenizer).starts(encoded)
    words = np.cumsum(starts)
    place = words[1 + len(filler.tokenizer.ids(["the red"], add_special=False)[0])]  # the word behind "red"
    if vocabulary["kind"] != "character":  # there, a space stands alone and stays
        hidden = [*encoded[words < place].tolist(), filler.mask, *encoded[words > place].tolist()]
        [found] = filler.encode([whole.replace("dog", filler.gap)])
        assert list(found.ids) == hidden
        assert found.offsets[list(found.ids).index(filler.mask)] == (8, 8 + len(filler.gap))
    [guesses] = filler.fill(whole.replace("dog", "[MASK]"))
    assert len(guesses) == 5


# --- both directions --------------------------------------------------------------------------------------------------


def test_a_row_that_is_read_forward_cannot_see_the_future(made):
    """Change a later token: earlier logits stay, in that direction only."""
    model = made.made.model.eval()
    ids = made.parts().batch_at(0).ids[:2, :10].repeat(2, 1)  # the same two rows twice
    causal = torch.tensor([True, True, False, False])
    other = ids.clone()
    other[:, 7] = (other[:, 7] + 1) % made.made.config.vocab_size
    with torch.no_grad():
        one, two = model(ids, causal=causal), model(other, causal=causal)
    assert torch.equal(one[:2, :7], two[:2, :7])
    assert not torch.allclose(one[:2, 7:], two[:2, 7:])
    assert not torch.allclose(one[2:, :7], two[2:, :7])


def test_both_losses_fall_in_a_mixed_run(trained):
    looks = [record for record in read_records(trained / "metrics.jsonl") if record["kind"] == "validation"]
    for name in ("nats", "causal_nats", "loss"):
        assert looks[-1][name] < looks[0][name] - 0.1, name
    assert looks[-1]["accuracy"] > looks[0]["accuracy"]


# --- in use -----------------------------------------------------------------------------------------------------------


def test_a_thorough_score_hides_every_word_once_and_says_how(trained):
    (trained / "test.txt").write_text(prose(30, seed=5))
    scores = evaluate(trained / "model", [trained / "test.txt"])
    assert scores["words"] == sum(len(line.replace(".", " .").split()) for line in prose(30, seed=5).splitlines())
    assert scores["nats_low"] <= scores["nats"] <= scores["nats_high"]
    assert scores["accuracy_low"] <= scores["accuracy"] <= scores["accuracy_high"]
    assert scores["nats"] < math.log(30)  # ten words and a full stop, nearly as if they were drawn
    assert scores["unit"] == "masked word"
    assert scores["signature"].startswith("rows of 16 tokens, each word hidden once with all its pieces, 1 in 7")
    assert scores == evaluate(trained / "model", [trained / "test.txt"])


def test_an_imported_model_is_scored_line_by_line(tmp_path):
    """Its folder does not say how it was trained, so each line is a text by itself."""
    (tmp_path / "test.txt").write_text("two dogs play\n\nin the snow\n")
    scores = evaluate(make("bert language-model", tmp_path / "m"), [tmp_path / "test.txt"])
    assert scores["words"] == 6
    assert scores["nats_low"] <= scores["nats"] <= scores["nats_high"]


def test_a_look_during_training_is_short(made, recipe):
    judging = Judging(options=recipe.use, scoring=recipe.scoring, ranks=Ranks())
    scores = masked_words.score(WordFiller(made.made), made.prepared.held, judging)
    assert list(scores) == ["nats", "accuracy", "causal_nats"]


def test_a_trained_model_fills_a_gap(trained):
    [guesses] = cf.load(trained / "model").fill("the old dog sees a [MASK] .")
    assert guesses[0].probability > guesses[-1].probability


@pytest.mark.parametrize("write", [write_reviews, write_names])
def test_a_classifier_and_a_tagger_begin_with_it(write, trained, tmp_path):
    """Embeddings, layers and vocabulary are taken over; the head is new."""
    path = write(tmp_path)
    start = bundle.load(trained / "model")
    values = settings.read_toml(path)
    values["model"] = {"from": str(trained / "model")}
    recipe = parse_recipe(values, "made", base=tmp_path)
    made = assemble(recipe, tmp_path).made
    taken, given = weights_of(made.model), weights_of(start.model)
    shared = [name for name in taken if not name.startswith("head.")]
    assert len(shared) > 10
    assert all(torch.equal(taken[name], given[name]) for name in shared)
    assert made.tokenizer == start.preprocessing.sides[0]
    done = train.train(recipe, tmp_path / "run", base=tmp_path)
    assert (done / "model.safetensors").exists()


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_start_without_a_mask_is_refused(recipe, tmp_path):
    write_reviews(tmp_path / "other")
    values = settings.read_toml(tmp_path / "other" / "recipe.toml")
    values["data"]["vocabulary"] = {"kind": "character", "vocab_size": 400}
    start = train.train(parse_recipe(values, "made"), tmp_path / "start", base=tmp_path / "other")
    begun = replace(recipe, model={"from": str(start)})
    with pytest.raises(ValueError, match=r"model\.from has no token for hidden words; begin with another model"):
        assemble(begun, tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0.0}, r"objective\.rate is a share, between 0 and 1, not 0"),
        ({"rate": 1.5}, r"objective\.rate is a share"),
        ({"masked": 0.9, "swapped": 0.2}, r"objective\.masked and swapped are 0\.9 and 0\.2: together at most 1"),
        ({"causal": -0.1}, r"objective\.causal is a share"),
    ],
)
def test_settings_are_checked(values, message):
    with pytest.raises(ValueError, match=message):
        HiddenTokens(**values)


def test_the_folder_remembers_how_the_model_read(recipe):
    assert masked_words.facts(recipe) == {"data": "prose.txt", "max_length": 16, "joined": True, "causal": 0.25}

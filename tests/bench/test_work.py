"""Everybody gets the same ids in the same batches, and a model that writes exactly as much as is asked."""

import numpy as np
import pytest

from clearformer.bench import work
from clearformer.data.shards import Shards
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.data.tokenise import SIDES
from clearformer.folder import bundle
from clearformer.inference.translator import Translator
from clearformer.run.recipe import read_recipe

SMALL = {"preset": "tiny", "dim": 32, "hidden_dim": 32, "layers": 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> work.Work:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "BATCHES", 2)
        return work.made_up(tmp_path_factory.mktemp("work"), length=16, vocab_size=600)


def rows(made: work.Work, name: str, side: str) -> list[list[int]]:
    held = np.load(made.folder / name)
    return [row.tolist() for row in np.split(held[side], held[f"{side}_ends"][:-1])]


def test_made_up_sentences_are_as_long_as_asked(made):
    corpus = Shards(made.folder / "shards")
    assert {length + SPECIALS_PER_SIDE for side in SIDES for length in corpus.lengths(side).tolist()} == {16}
    assert made.target_length == 16.0


def test_the_arrays_hold_what_this_package_trains_on(made):
    corpus = Shards(made.folder / "shards")
    for side, name in enumerate(SIDES):
        assert rows(made, "batches.npz", name) == [corpus[row][side].tolist() for row in range(len(corpus))]


def test_every_sentence_is_in_one_batch_and_no_batch_is_too_large(made):
    held = np.load(made.folder / "batches.npz")
    batches = np.split(held["rows"], held["row_ends"][:-1])
    assert sorted(held["rows"].tolist()) == list(range(2 * (made.batch_tokens // 16)))
    assert all(len(batch) * 16 <= made.batch_tokens for batch in batches)


def test_sources_end_with_the_end_token(made):
    assert {row[-1] for row in rows(made, "sources.npz", "source")} == {made.eos}


def test_a_second_run_takes_what_is_there(made):
    before = (made.folder / "batches.npz").stat().st_mtime_ns
    assert work.made_up(made.folder.parent, length=16, vocab_size=600) == made
    assert (made.folder / "batches.npz").stat().st_mtime_ns == before


def test_everybody_has_the_batches_and_the_optimiser_that_the_bench_wants(made):
    recipe = read_recipe(made.folder / "recipe.toml")
    assert (made.batch_tokens, recipe.training.batch_tokens) == (4096, 4096)
    assert (recipe.training.optimiser.kind, recipe.training.optimiser.ema) == ("adam", 0)


def test_work_that_was_prepared_by_another_recipe_is_not_taken(made, monkeypatch):
    monkeypatch.setattr(work, "BATCHES", 2)
    monkeypatch.setattr(work, "ALIKE", (*work.ALIKE, "training.batch_tokens=512"))
    other = work.made_up(made.folder.parent, length=16, vocab_size=600)
    assert (other.folder == made.folder, other.batch_tokens) == (False, 512)


def test_the_job_names_the_sizes_of_the_model(made):
    job = work.training_job(made, "small", SMALL)
    assert job["model"] == {
        "layers": 2, "dim": 32, "hidden_dim": 32, "heads": 4, "dropout": 0.3, "vocab_size": made.vocab_size,
    }  # fmt: skip
    assert "model.dim=32" in job["changes"]


def test_training_counts_three_times_the_forward_pass(made):
    """A multiplication and an addition for each weight, and for each attention two products along 16 tokens."""
    config = work.configuration(made, SMALL)
    encoder, decoder = 4 + 2, 4 + 4 + 2  # matrices of 32 x 32 in a layer: attention has four, feed-forward two
    weights = 2 * (encoder + decoder) * 32 * 32 + made.vocab_size * 32
    attended = 2 * 3 * 2 * 16 * 32
    assert work.training_operations(made, config) == pytest.approx(3 * 2 * (weights + attended), rel=0.01)


def test_a_search_counts_the_source_once_and_the_decoder_for_every_row(made):
    config = work.configuration(made, SMALL)
    tokens = sum(map(len, rows(made, "sources.npz", "source"))) / len(rows(made, "sources.npz", "source"))
    a_matrix = 2 * 32 * 32
    source = tokens * 2 * (6 + 2) * a_matrix  # two layers: six matrices of the encoder's, two of the decoder's memory
    row = 2 * (6 + 2) * a_matrix + 2 * made.vocab_size * 32  # self-attention, feed-forward, and half of the other
    for beam in (1, 4):
        counted = work.decoding_operations(made, config, length=7, beam=beam)
        assert counted == pytest.approx(source + (1 + 6 * beam) * row, rel=0.06)  # biases and norms besides


@pytest.mark.parametrize("beam", [1, 4])
def test_every_translation_has_the_length_that_was_asked_for(made, beam):
    job = work.decoding_job(made, "small", SMALL, length=7)
    translator = Translator(bundle.load(work.Path(job["model_folder"])))
    texts = (made.folder / "train.a").read_text(encoding="utf-8").splitlines()[:100]
    found = translator.translate(texts, beam=beam)
    assert [len(one.ids) + 1 for one in found] == [7] * len(texts)
    assert len({one.ids for one in found}) > 1  # different sentences, different words


@pytest.mark.corpora
@pytest.mark.slow
def test_captions_are_prepared_like_the_recipe_says(tmp_path):
    made = work.multi30k(tmp_path)
    assert (made.vocab_size, made.batch_tokens) == (10_000, 4096)
    recipe = read_recipe(made.folder / "recipe.toml")
    assert (recipe.training.optimiser.kind, recipe.training.optimiser.ema) == ("adam", 0)
    assert len(rows(made, "sources.npz", "source")) == work.SENTENCES
    assert len(rows(made, "batches.npz", "source")) > 28_000

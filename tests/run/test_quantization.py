"""Eight bits are kept where the task's own score allows it, and otherwise nothing is written."""

from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.run.evaluation import evaluate
from clearformer.run.quantization import quantize_scored
from clearformer.run.recipe import parse_recipe
from clearformer.run.train import train
from support.toy_models import small, texts
from support.toy_readers import HEADS, LABELS, bert, saved


@pytest.fixture
def classifier(tmp_path: Path) -> tuple[Path, Path]:
    """A model folder, and a test set that it gets right for a part."""
    saved(tmp_path / "model", bert(dim=64, hidden_dim=128), HEADS["class"], data="toy")
    rows = [f"{text}\t{LABELS[number % 3]}" for number, text in enumerate(texts(30, seed=2))]
    (tmp_path / "test.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    return tmp_path / "model", tmp_path / "test.tsv"


def test_the_smaller_model_is_kept_with_both_scores(classifier, tmp_path: Path):
    model, test = classifier
    found = quantize_scored(model, tmp_path / "small", [test], limit=100)
    assert found.name == "accuracy"
    assert found.after.bytes < 0.5 * found.before.bytes
    assert found.before.score == pytest.approx(evaluate(model, [test])["accuracy"])
    assert found.after.score == pytest.approx(evaluate(tmp_path / "small", [test])["accuracy"])
    assert found.lost == pytest.approx(100 * (found.before.score - found.after.score))


def test_too_great_a_loss_leaves_nothing_behind(classifier, tmp_path: Path):
    model, test = classifier
    with pytest.raises(ValueError, match=r"int8 costs .* points of accuracy .* nothing was written. Raise --limit"):
        quantize_scored(model, tmp_path / "small", [test], limit=-101)
    assert not [path for path in tmp_path.iterdir() if "small" in path.name]


def test_a_folder_that_exists_is_never_replaced(classifier, tmp_path: Path):
    model, test = classifier
    with pytest.raises(ValueError, match="exists already; choose another name"):
        quantize_scored(model, tmp_path, [test])


@pytest.fixture
def writer(tmp_path: Path) -> tuple[Path, Path]:
    """A language model that was hardly trained, and a text."""
    (tmp_path / "text.txt").write_text("".join(f"{text}\n" for text in texts(60, seed=3)))
    recipe = {
        "task": "language-model",
        "name": "toy",
        "data": {"train": str(tmp_path / "text.txt"), "context": 32},
        "model": {"family": "llama", "dim": 64, "hidden_dim": 128, "layers": 2, "max_len": 64},
        "training": {"steps": 3, "batch_tokens": 256, "schedule": {"warmup": 1}},
    }
    train(parse_recipe(recipe, "toy"), tmp_path / "run")
    return tmp_path / "run" / "model", tmp_path / "text.txt"


def test_a_language_model_is_judged_by_its_perplexity(writer, tmp_path: Path):
    model, text = writer
    found = quantize_scored(model, tmp_path / "small", [text], limit=5)
    assert found.name == "perplexity"
    assert found.after.bytes < 0.6 * found.before.bytes
    assert found.after.score == pytest.approx(evaluate(tmp_path / "small", [text])["perplexity"])
    assert found.after.score != found.before.score
    assert found.lost == pytest.approx(100 * (found.after.score / found.before.score - 1))
    with pytest.raises(ValueError, match=r"int8 costs .* % of perplexity .* nothing was written"):
        quantize_scored(model, tmp_path / "smaller", [text], limit=-50)


def test_an_encoder_decoder_that_does_not_translate_is_refused_by_its_task(tmp_path: Path):
    bundle.save(replace(small(), task="summarization"), tmp_path / "model")
    (tmp_path / "test.jsonl").write_text('{"text": "two dogs play in the snow", "summary": "dogs play"}\n')
    with pytest.raises(ValueError, match="is for summarization, and models for that run in float32 alone"):
        quantize_scored(tmp_path / "model", tmp_path / "small", [tmp_path / "test.jsonl"])
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["model"]


def test_four_bits_are_for_models_that_continue_texts(writer, classifier, tmp_path: Path):
    model, text = writer
    found = quantize_scored(model, tmp_path / "four", [text], limit=100, bits=4)
    eight = quantize_scored(model, tmp_path / "eight", [text], limit=100)
    assert found.after.bytes < eight.after.bytes
    assert bundle.load(tmp_path / "four").kept == "int4"
    with pytest.raises(ValueError, match="text-classification, and four bits are for models that continue texts"):
        quantize_scored(classifier[0], tmp_path / "none", [classifier[1]], bits=4)

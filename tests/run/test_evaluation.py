"""The scores that belong to a model's task, for any task, from a folder and the files of a test set."""

import numpy as np
import pytest

from clearformer.evaluation.bleu import TranslationScore
from clearformer.folder import bundle
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import read_recipe, trainable
from clearformer.tasks import all_tasks
from flows.tiny_tasks import TINY, drawn, prose, write_idx
from run.assembled import assemble
from support.every_kind import make

TRAINED = [task.name for task in all_tasks() if task.training is not None]
WANTED = {
    "translation": {"bleu", "bleu_low", "bleu_high", "chrf", "perplexity", "signature"},
    "conversation": {"nats", "nats_low", "nats_high", "perplexity", "signature"},
    "language-model": {"nats", "nats_low", "nats_high", "perplexity", "signature"},
    "masked-language-model": {"nats", "nats_low", "nats_high", "accuracy", "accuracy_low", "accuracy_high"},
    "text-classification": {"accuracy", "accuracy_low", "accuracy_high", "signature"},
    "picture-classification": {"accuracy", "accuracy_low", "accuracy_high", "signature"},
    "painting": {"accuracy", "accuracy_low", "accuracy_high", "cas", "cas_low", "cas_high", "signature"},
    "autoencoding": {"mse", "mse_low", "mse_high", "psnr", "signature"},
    "summarization": {"rouge_1", "rouge_2", "rouge_l", "rouge_l_low", "rouge_l_high", "signature"},
    "denoising": {"nats", "nats_low", "nats_high", "accuracy", "signature"},
    "tagging": {"f1", "f1_low", "f1_high", "precision", "recall"},
    "transcription": {"wer", "wer_low", "wer_high", "cer", "exact", "signature"},
    "detection": {"ap50", "ap50_low", "ap50_high", "signature"},
    "segmentation": {"dice", "dice_low", "dice_high", "ap50", "signature"},
    "question-answering": {"exact", "exact_low", "exact_high", "f1", "f1_low", "f1_high"},
}


def files_of_a_test(task, folder):
    """A test set for each task, in files as people have them."""
    if task in ("language-model", "masked-language-model", "denoising"):
        (folder / "test.txt").write_text(prose(5, seed=9))
        return [folder / "test.txt"]
    if task in ("picture-classification", "painting", "autoencoding"):
        for name, values in zip(("test.idx", "labels.idx"), drawn(10, seed=9), strict=True):
            write_idx(folder / name, values)
        return [folder / "test.idx", folder / "labels.idx"]
    own = {
        "conversation": "turns.jsonl",
        "summarization": "mails.jsonl",
        "text-classification": "reviews.tsv",
        "tagging": "names.conll",
        "question-answering": "questions.json",
        "transcription": "spoken.tsv",
        "detection": "boxes.json",
        "segmentation": "discs",
    }
    if task in own:
        return [folder / own[task]]
    return [folder / "dev.words", folder / "dev.figures"]


@pytest.mark.parametrize("task", TRAINED)
def test_a_folder_is_scored_as_its_task_wants(task, tmp_path):
    recipe = read_recipe(TINY[task](tmp_path))
    bundle.save(assemble(recipe, tmp_path).made, tmp_path / "model")
    files = files_of_a_test(task, tmp_path)
    quick = {"samples": 6, "judge_steps": 2} if task == "painting" else None
    scores = evaluate(tmp_path / "model", files, scoring=quick)
    assert scores.keys() >= WANTED[task]
    assert evaluate(tmp_path / "model", files, scoring=quick) == scores


def test_a_model_that_is_open_already_is_asked_instead(tmp_path):
    recipe = read_recipe(TINY["picture-classification"](tmp_path))
    made = assemble(recipe, tmp_path)
    bundle.save(made.made, tmp_path / "model")

    class Perfect:
        def classify(self, pictures, options):
            assert len(pictures) == 10
            return [type("Found", (), {"label": str(label)}) for label in drawn(10, seed=9)[1]]

    scores = evaluate(tmp_path / "model", files_of_a_test("picture-classification", tmp_path), predictor=Perfect())
    assert scores["accuracy"] == 1.0


def test_settings_of_the_comparison_are_taken(tmp_path):
    recipe = read_recipe(TINY["translation"](tmp_path))
    bundle.save(assemble(recipe, tmp_path).made, tmp_path / "model")
    files = files_of_a_test("translation", tmp_path)
    _, training = trainable("translation")
    usual, own = (evaluate(tmp_path / "model", files, scoring=given) for given in (None, {"tokenise": "char"}))
    assert "tok:13a" in usual["signature"]
    assert "tok:char" in own["signature"]
    assert set(TranslationScore.__dataclass_fields__) <= usual.keys()
    assert training.scoring().tokenise is None


def test_a_task_without_training_has_no_scores_yet(tmp_path):
    with pytest.raises(ValueError, match="models for embedding can be imported but not trained yet"):
        evaluate(make("bert states", tmp_path / "m"), [])


def test_bytes_of_a_test_set_are_fitted_to_the_model(tmp_path):
    """A test picture of another size is cut and scaled as in training."""
    recipe = read_recipe(TINY["picture-classification"](tmp_path))
    bundle.save(assemble(recipe, tmp_path).made, tmp_path / "model")
    pictures, digits = drawn(6, seed=9)
    write_idx(tmp_path / "large.idx", np.kron(pictures, np.ones((1, 2, 2), dtype=np.uint8)))
    write_idx(tmp_path / "labels.idx", digits)
    assert evaluate(tmp_path / "model", [tmp_path / "large.idx", tmp_path / "labels.idx"])["examples"] == 6

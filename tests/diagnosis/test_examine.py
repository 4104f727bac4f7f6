"""A run or a model as a whole: real ones that are ill, and one that is not."""

import json
import os
import shutil
import signal

import pytest

from clearformer.diagnosis.examine import diagnose
from clearformer.foundation import storage
from clearformer.run.recipe import read_recipe
from clearformer.run.train import Interrupted, Watchers, train
from diagnosis.illness import make_run, sentences, write
from flows.tiny_tasks import TINY


def names(diagnosis):
    return {finding.name for finding in diagnosis.findings}


def test_a_healthy_run_has_nothing(healthy):
    found = diagnose(healthy)
    assert names(found) == set()
    assert found.measures["steps"] == 400
    assert found.measures["loss"] < 0.5 < found.measures["loss_of_wrong_sources"]


def test_fifty_sentences_two_hundred_times_are_learned_by_heart(by_heart):
    """Told once, with the evidence of the curve and of the gap."""
    [finding] = [finding for finding in diagnose(by_heart).findings if finding.name == "overfits"]
    assert finding.evidence["training_loss"] < 0.5 < finding.evidence["loss"]
    assert finding.evidence["last_dev_loss"] > finding.evidence["lowest_dev_loss"]


@pytest.mark.parametrize("task", ["text-classification", "language-model", "picture-classification"])
def test_a_run_of_every_task_has_its_records_judged(task, tmp_path):
    recipe = TINY[task](tmp_path)
    out = tmp_path / "run"
    short = ["training.steps=6", "training.validate_every=2", "training.log_every=1"]
    train(read_recipe(recipe, short), out, base=tmp_path)
    found = diagnose(out)
    assert found.measures["steps"] == 6
    assert found.measures["last_dev_loss"] > 0
    assert ("classes" in found.measures) == (out / "report.json").exists()
    source, reference = write(tmp_path, "given", [("x", "y"), ("z", "u")])
    with pytest.raises(ValueError, match=f"is one of {task}, and --source and --reference are for translators"):
        diagnose(out, source=source, reference=reference)


def test_five_steps_are_too_few(too_short_a_run):
    assert "too-few-steps" in names(diagnose(too_short_a_run))


def test_too_high_a_rate_is_told_first(too_hot):
    assert diagnose(too_hot).findings[0].name == "rate-too-high"


def test_targets_shuffled_against_sources(shuffled):
    assert "ignores-the-source" in names(diagnose(shuffled))


def test_a_development_set_from_the_training_text(run, dev):
    assert "dev-overlaps-training" in names(diagnose(run(dev, dev, training__steps=1)))


def test_a_run_that_was_stopped_is_judged_by_its_last_checkpoint(tmp_path, dev):
    def stop(report):
        if report.progress.step == 30:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        make_run(tmp_path, sentences(200), dev, watchers=Watchers(train=stop))
    [finding] = [finding for finding in diagnose(tmp_path).findings if finding.name == "too-few-steps"]
    assert "stopped at step 30 of 400" in finding.says


def test_a_model_without_its_run_needs_sentences(healthy, tmp_path, dev):
    source, reference = write(tmp_path, "some", dev)
    assert names(diagnose(healthy / "model", source=source, reference=reference)) == set()
    with pytest.raises(ValueError, match=r"is a model alone: give .*, or sentences"):
        diagnose(healthy / "model")


def test_sentences_in_another_script_are_told_by_their_characters(healthy, tmp_path):
    source, reference = write(tmp_path, "zh", [("红色的狗", "rot Hund"), ("蓝色的猫", "blau Katze")] * 3)
    found = diagnose(healthy, source=source, reference=reference)
    assert {"missing-pieces", "vocabulary-mismatch"} <= names(found)
    evidence = {finding.name: finding.evidence for finding in found.findings}
    assert "色" in evidence["missing-pieces"]["characters"]


def test_another_models_vocabulary_is_told(healthy, by_heart, tmp_path):
    """Also where somebody made the manifest fit: the model remembers which vocabulary it was trained with."""
    model = tmp_path / "model"
    shutil.copytree(healthy / "model", model)
    shutil.copy(by_heart / "model" / "tokenizer.json", model)
    assert names(diagnose(model)) == {"damaged"}
    manifest = storage.read_json(model / storage.MANIFEST)
    content = (model / "tokenizer.json").read_bytes()
    manifest["files"]["tokenizer.json"] = {"bytes": len(content), "sha256": storage.sha256(model / "tokenizer.json")}
    storage.write_json(model / storage.MANIFEST, manifest)
    [finding] = diagnose(model).findings
    assert finding.name == "vocabulary-mismatch"
    assert "not the tokenizer this model was trained with" in finding.says


def test_a_diagnosis_is_plain_enough_for_json(too_short_a_run):
    found = diagnose(too_short_a_run)
    read_back = json.loads(json.dumps(found.as_plain()))
    assert [finding["name"] for finding in read_back["findings"]] == [finding.name for finding in found.findings]
    assert all(finding["evidence"] and finding["remedy"] for finding in read_back["findings"])


@pytest.mark.parametrize(
    ("lines", "reason"),
    [((["a"], ["b", "c"]), "has 1 lines but"), ((["a", ""], ["b", "c"]), "have fewer than 2 pairs")],
)
def test_sentences_that_cannot_be_compared_get_a_sentence(healthy, tmp_path, lines, reason):
    for name, text in zip(("s", "r"), lines, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in text))
    with pytest.raises(ValueError, match=reason):
        diagnose(healthy, source=tmp_path / "s", reference=tmp_path / "r")
    with pytest.raises(ValueError, match="--source and --reference belong together"):
        diagnose(healthy, source=tmp_path / "s")

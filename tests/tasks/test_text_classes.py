"""Classes of texts: from a table to a classifier, from scratch or from another model's weights."""

import json
import random
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.text_readers import Classifier
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import parse_recipe
from clearformer.run.train import Interrupted, Watchers, train
from clearformer.tasks import text_classes
from run.assembled import assemble
from support.stopping import StopsAt

GOOD, BAD = ("fine", "lovely", "great"), ("dull", "awful", "poor")
FILLERS = ("the", "film", "was", "really", "a", "story", "with", "music", "and", "actors")


def write_table(path, rows, seed=1):
    """One word decides about each sentence."""
    draw = random.Random(seed)
    lines = ["label\tsentence"]
    for number in range(rows):
        words = draw.choices(FILLERS, k=draw.randint(3, 9))
        label = number % 2
        words.insert(draw.randrange(len(words)), draw.choice((BAD, GOOD)[label]))
        lines.append(f"{('bad', 'good')[label]}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def recipe(changes=None, **model):
    plain = {
        "task": "text-classification",
        "data": {"train": "train.tsv", "max_length": 24, "vocabulary": {"kind": "wordpiece", "vocab_size": 300}},
        "model": {
            "family": "bert", "dim": 32, "hidden_dim": 64, "layers": 1, "max_len": 24, "attention": {"heads": 2},
            "head": {"pool": "mean"}, "dropout": {"embedding": 0.1, "residual": 0.1},
        } if "from" not in model else model,
        "training": {
            "steps": 60, "save_every": 20, "validate_every": 20, "log_every": 10, "batch_tokens": 400,
            "schedule": {"kind": "cosine", "peak": 0.01, "warmup": 0.1},
        },
    }  # fmt: skip
    for key, value in (changes or {}).items():
        section, name = key.split(".")
        plain[section][name] = value
    return parse_recipe(plain, "test")


@pytest.fixture
def folder(tmp_path):
    write_table(tmp_path / "train.tsv", 400)
    write_table(tmp_path / "test.tsv", 100, seed=2)
    return tmp_path


def test_one_word_decides_and_is_learned(folder):
    model = train(recipe(), folder / "run", base=folder)
    scores = evaluate(model, [folder / "test.tsv"])
    assert scores["accuracy"] > 0.95
    assert scores["accuracy_low"] < scores["accuracy"] <= scores["accuracy_high"]
    classifier = cf.load(model)
    assert isinstance(classifier, Classifier)
    found = classifier.classify(["the film was lovely", "the film was awful"])
    assert [one.label for one in found] == ["good", "bad"]


def test_alone_and_in_company_a_text_has_the_same_class(folder):
    classifier = cf.load(train(recipe({"training.steps": 20}), folder / "run", base=folder))
    texts = ["the film was lovely", "awful", "the story was really a great story with actors"]
    together = classifier.classify(texts)
    for text, found in zip(texts, together, strict=True):
        assert classifier.classify(text)[0].scores == pytest.approx(found.scores, abs=1e-6)


def test_a_text_longer_than_the_model_reads_is_read_in_windows(folder):
    classifier = cf.load(train(recipe(), folder / "run", base=folder))
    long = "the film was a story " * 30 + "lovely great fine " * 30
    assert classifier.classify(long)[0].label == "good"
    assert sum(classifier.classify(long)[0].scores.values()) == pytest.approx(1.0, abs=1e-5)


def test_a_stopped_and_resumed_run_ends_with_the_same_bits(folder, monkeypatch):
    changes = {"data.word_dropout": 0.2}
    whole = train(recipe(changes), folder / "whole", base=folder)
    monkeypatch.setattr("clearformer.run.train.Stop", lambda: StopsAt(27))
    with pytest.raises(Interrupted):
        train(recipe(changes), folder / "parts", base=folder)
    monkeypatch.undo()
    parts = train(recipe(changes), folder / "parts", base=folder, resume=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


def test_a_model_begins_with_another_s_weights_and_a_new_head(folder):
    first = train(recipe({"training.steps": 20}), folder / "first", base=folder)
    lines = (folder / "train.tsv").read_text().replace("good\t", "fine\t").splitlines()
    third = [f"neutral\t{line.split(chr(9))[1]}" for line in lines[1:40]]
    (folder / "train.tsv").write_text("\n".join([*lines, *third]) + "\n")
    made = assemble(recipe(**{"from": str(first), "dropout": {"residual": 0.0}}), folder)
    before = bundle.load(first).model.state_dict()
    for name, weight in made.made.model.state_dict().items():
        assert torch.equal(weight, before[name]) != name.startswith("head.classify"), name
    assert made.made.labels == ("bad", "fine", "neutral")
    assert made.made.tokenizer == bundle.load(first).tokenizer


def test_hidden_words_are_a_function_of_the_seed(folder):
    made = assemble(recipe({"data.word_dropout": 0.5}), folder)
    collate = text_classes.collate(made.recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(20)]
    once, again, other = collate(rows, (1, 2)), collate(rows, (1, 2)), collate(rows, (1, 3))
    assert torch.equal(once.ids, again.ids)
    assert not torch.equal(once.ids, other.ids)
    plain = collate(rows, ())
    given = np.concatenate([row[0] for row in rows]).astype(np.int64)
    assert torch.equal(plain.ids[plain.keep], torch.from_numpy(given))
    tokenizer = made.made.tokenizer
    markers = torch.tensor([tokenizer.special_id("cls"), tokenizer.special_id("sep")])
    assert torch.equal(torch.isin(plain.ids, markers), torch.isin(once.ids, markers))  # markers are never hidden


def write_uneven(path, rows=300):
    """One text of ten is of the rare class."""
    draw = random.Random(3)
    lines = ["label\tsentence"]
    for number in range(rows):
        label = "good" if number % 10 == 0 else "bad"
        words = draw.choices(FILLERS, k=6)
        words.insert(draw.randrange(6), draw.choice(GOOD if label == "good" else BAD))
        lines.append(f"{label}\t{' '.join(words)} {number}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_where_classes_are_uneven_macro_f1_is_shown_and_chooses(tmp_path):
    write_uneven(tmp_path / "train.tsv")
    made = assemble(recipe(), tmp_path)
    scores = made.validation()(made.made.model, 0)
    assert {"accuracy", "macro_f1"} <= scores.keys()
    training = text_classes.TASK.training
    always_bad = {"accuracy": 0.9, "macro_f1": 0.47, "loss": 1.0}
    both = {"accuracy": 0.85, "macro_f1": 0.7, "loss": 1.0}
    assert training.better(both) > training.better(always_bad)


def test_even_classes_are_judged_by_accuracy_alone(folder):
    made = assemble(recipe(), folder)
    assert "macro_f1" not in made.validation()(made.made.model, 0)


def test_a_finished_run_says_what_it_gets_wrong(folder):
    table = (folder / "train.tsv").read_text().splitlines()
    table[7] = f"{'good' if table[7].startswith('bad') else 'bad'}\t{table[7].split(chr(9))[1]}"  # one label is wrong
    (folder / "dev.tsv").write_text("\n".join(table[:60]) + "\n")
    said = []
    train(recipe({"data.dev": "dev.tsv"}), folder / "run", base=folder, watchers=Watchers(report=said.append))
    [report] = said
    assert report.mistakes[0].place == f"{folder / 'dev.tsv'}:8"
    assert report.mistakes[0].probability > 0.8
    assert {one.name for one in report.classes} == {"good", "bad"}
    assert sum(map(sum, report.confusion.counts)) == 59
    written = json.loads((folder / "run" / "report.json").read_text(encoding="utf-8"))
    assert written["part"] == "dev"
    assert written["mistakes"][0]["found"] == report.mistakes[0].found
    assert written["scores"]["accuracy_low"] < written["scores"]["accuracy"]
    ElementTree.parse(folder / "run" / "confusion.svg")


def test_probabilities_are_calibrated_and_the_folder_knows_it(folder, caplog):
    """A model that has learned by heart is too sure of labels that are drawn by lot; the temperature says so."""
    draw = random.Random(5)
    lines = (folder / "train.tsv").read_text().splitlines()[:200]
    noisy = [f"{draw.choice(('bad', 'good'))}\t{line.split(chr(9))[1]}" for line in lines[1:]]
    (folder / "dev.tsv").write_text("\n".join([lines[0], *noisy]) + "\n")
    with caplog.at_level("INFO"):
        model = train(recipe({"data.dev": "dev.tsv"}), folder / "run", base=folder)
    classifier = cf.load(model)
    assert classifier.outcome.temperature > 1.5
    assert "expected calibration error on dev" in caplog.text
    cooled = bundle.load(model)
    plain = Classifier(replace(cooled, preprocessing=replace(cooled.preprocessing, outcome=Outcome())))
    texts = ["the film was lovely", "awful music"]
    for mild, sure in zip(classifier.classify(texts), plain.classify(texts), strict=True):
        assert mild.label == sure.label
        assert mild.probability < sure.probability


def test_a_label_that_training_never_saw_is_named(folder):
    (folder / "dev.tsv").write_text("label\tsentence\nbad\tawful film\nugly\tthe film\n")
    with pytest.raises(ValueError, match=r"dev\.tsv:3: the label 'ugly' does not occur in training, which has bad"):
        assemble(recipe({"data.dev": "dev.tsv"}), folder)


@pytest.mark.parametrize(
    "told", [{"data.names": "names.txt"}, {"data.classes": ["worth it", "not worth it"]}], ids=["file", "recipe"]
)
def test_numbered_classes_are_called_by_their_names(folder, told):
    """In training, in use, and where a test file has the numbers; a number without a name is refused by its line."""
    for part in ("train", "test"):
        text = (folder / f"{part}.tsv").read_text(encoding="utf-8")
        (folder / f"{part}.tsv").write_text(text.replace("bad\t", "1\t").replace("good\t", "0\t"), encoding="utf-8")
    (folder / "names.txt").write_text("worth it\nnot worth it\n", encoding="utf-8")
    made = train(recipe(told), folder / "run", base=folder)
    assert evaluate(made, [folder / "test.tsv"])["accuracy"] > 0.95
    assert {one.label for one in cf.load(made).classify(["a lovely film", "a dull film"])} == {
        "worth it",
        "not worth it",
    }
    with (folder / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("2\tthe film\n")
    with pytest.raises(ValueError, match=r"test\.tsv, line 102: the label '2' is no number of one of 2 class names"):
        evaluate(made, [folder / "test.tsv"])


def test_pairs_are_told_apart_and_what_they_share_is_told(tmp_path):
    """The class is whether the second text has the first's word: found only by looking at both."""
    draw = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in "aeiou"]
    lines = ["sentence1\tsentence2\tlabel"]
    for number in range(600):
        first, *rest = draw.sample(words, 6)
        rest = [*rest[:3], first] if number % 2 else rest[:4]
        draw.shuffle(rest)
        lines.append(f"{first}\t{' '.join(rest)}\t{('no', 'yes')[number % 2]}")
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = train(recipe({"data.overlap": True}), tmp_path / "run", base=tmp_path)
    classifier = cf.load(made)
    assert classifier.bundle.config.embedding.types == 4
    pairs = [("ba", "do ba ki"), ("ba", "do ke ki lu")]
    together = classifier.classify(pairs)
    assert [one.label for one in together] == ["yes", "no"]
    for pair, found in zip(pairs, together, strict=True):
        assert classifier.classify([pair])[0].probability == pytest.approx(found.probability, abs=1e-5)
    assert classifier.why([pairs[0]])[0].attributions


def test_a_pair_is_read_with_its_segments(tmp_path):
    """Exchanging the types of two texts changes what a model of pairs says."""
    (tmp_path / "train.tsv").write_text(
        "sentence1\tsentence2\tlabel\n" + "".join(f"a {n}\tb {n}\t{'xy'[n % 2]}\n" for n in range(60)), encoding="utf-8"
    )
    classifier = cf.load(train(recipe({"training.steps": 2}), tmp_path / "run", base=tmp_path))
    [window] = classifier.cut(("a 1", "b 1")).windows
    assert set(window.types) == {0, 1}
    told = classifier.run([window.ids], types=classifier.rectangle([window.types], pad=0).tokens)
    torch.testing.assert_close(classifier.logits([("a 1", "b 1")])[0], told)
    assert not torch.allclose(classifier.run([window.ids]), told)

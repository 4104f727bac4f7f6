"""Import from the command line: a folder that works, a certificate, and nothing overwritten."""

import json
import shlex
from dataclasses import replace

import pytest

from clearformer.cli.import_ import rows
from clearformer.cli.main import VERBS, main
from clearformer.folder import bundle
from clearformer.interop.hf import bert
from clearformer.model.config import HeadConfig
from interop.folders import bert_folder, gpt2_folder


def test_a_published_folder_becomes_one_of_ours(tmp_path, capsys):
    bert_folder(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours"), "--json"]) == 0
    certificate = json.loads(capsys.readouterr().out)
    assert certificate["checked"]
    assert all(number is None or number < 1e-4 for number in certificate["largest_difference"].values())
    assert bundle.load(tmp_path / "ours").provenance["certificate"] == certificate


def test_an_existing_folder_is_left_alone(tmp_path, capsys):
    bert_folder(tmp_path / "published")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "mine.txt").write_text("precious")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "ours").iterdir()] == ["mine.txt"]


def test_a_folder_that_is_no_checkpoint_is_named(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["import", str(tmp_path / "empty"), str(tmp_path / "ours")]) == 1
    assert "empty" in capsys.readouterr().err
    assert not (tmp_path / "ours").exists()


def test_what_was_not_checked_is_said():
    assert rows({"checked": False, "reason": "no transformers here"}) == [
        ("parity", "not checked: no transformers here")
    ]


HEADS = {
    "BertModel": (HeadConfig(kind="states", pooler=True), "embeds texts", "embed"),
    "BertForSequenceClassification": (
        HeadConfig(kind="class", labels=2, pooler=True),
        "finds the class of a text or picture",
        "classify",
    ),
    "BertForTokenClassification": (HeadConfig(kind="tags", labels=2), "tags the words of a text", "tag"),
    "BertForQuestionAnswering": (HeadConfig(kind="span"), "finds the answer to a question", "answer"),
    "BertForMaskedLM": (HeadConfig(transform=True, bias=True), "fills in masked words", "fill"),
}


@pytest.mark.parametrize("architecture", HEADS)
def test_the_last_lines_say_what_it_is_and_what_to_type(architecture, tmp_path, capsys):
    head, does, verb = HEADS[architecture]
    bert_folder(tmp_path / "published", head, architecture)
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "our model")]) == 0
    lines = capsys.readouterr().out.splitlines()
    family, parameters, use, following = (line.split(maxsplit=1)[1] for line in lines[-4:])
    assert (family, use) == ("bert, encoder", does)
    made = bundle.load(tmp_path / "our model").model
    assert parameters == f"{sum(one.numel() for one in made.parameters()):,}, kept in float32"
    program, word, *rest = shlex.split(following)
    assert (program, word) == ("clearformer", verb if verb in VERBS else "inspect")
    assert str(tmp_path / "our model") in rest, "quoted, so that it can be pasted"


@pytest.mark.parametrize(
    ("write", "verb"), [(gpt2_folder, "generate"), (lambda folder: bert_folder(folder, *CLASSES), "classify")]
)
def test_the_command_that_it_names_works(write, verb, tmp_path, capsys):
    write(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    _, *command = shlex.split(capsys.readouterr().out.splitlines()[-1].split(maxsplit=1)[1])
    assert command[0] == verb
    assert main(command) == 0


CLASSES = (HeadConfig(kind="class", labels=2, pooler=True), "BertForSequenceClassification")


def test_without_a_vocabulary_no_verb_is_named(tmp_path, capsys):
    gpt2_folder(tmp_path / "published")
    (tmp_path / "published" / "vocab.json").unlink()
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    *_, said, following = capsys.readouterr().out.splitlines()
    assert "reads ids" in said
    assert "clearformer inspect" in following


def test_a_model_that_does_not_agree_ends_with_1_and_a_sentence(tmp_path, capsys, monkeypatch):
    bert_folder(tmp_path / "published")
    right = bert.read_config
    monkeypatch.setattr(bert, "read_config", lambda keys: replace(right(keys), activation="relu"))
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 1
    assert "not the published one" in capsys.readouterr().err
    assert not (tmp_path / "ours").exists()


def test_a_name_on_the_hub_is_fetched_and_imported(hub, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gpt2_folder(tmp_path / "published")
    hub.put("somebody/tiny", tmp_path / "published")
    assert main(["import", "somebody/tiny", "mine"]) == 0
    out, err = capsys.readouterr()
    assert f"there is no folder somebody/tiny here; looking for it on {hub.url}" in err
    assert 'next                             clearformer generate "Once upon a time" --model mine' in out
    facts = bundle.load(tmp_path / "mine").provenance
    assert (facts["imported_from"], facts["commit"]) == ("somebody/tiny", hub.repos["somebody/tiny"].commit)
    hub.close()
    assert main(["generate", "two dogs", "--model", "mine", "--max-new", "3"]) == 0


def test_a_folder_here_comes_before_a_name_on_the_hub(hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bert_folder(tmp_path / "somebody" / "tiny")
    assert main(["import", "somebody/tiny", "mine"]) == 0
    assert hub.asked == []


def test_a_name_that_nobody_has_is_one_sentence(hub, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["import", "somebody/nothing", "mine"]) == 1
    assert "has no model somebody/nothing" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "mine").exists()

"""What is printed when a model is finished can be pasted into a shell, for every kind of model."""

import shlex

import pytest

from clearformer.cli.main import main
from clearformer.cli.try_it import try_command
from clearformer.folder import bundle
from clearformer.tasks.verbs import VERBS
from support.every_kind import KINDS, make
from support.toy_models import small

TRIED = ["bert class", "bert span", "bert language-model", "gpt2", "transformer", "vit class", "vit masks", "dit"]


@pytest.mark.parametrize("name", [*TRIED, "whisper"])
def test_the_command_works_as_it_stands(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make(name, tmp_path / "a model")  # a space, because a shell would cut there
    given = shlex.split(try_command(model, VERBS[KINDS[name].method]))
    few = ["--max-new", "2"] if name in ("gpt2", "whisper") else []
    assert given[0] == "clearformer"
    assert main([*given[1:], *few]) == 0, capsys.readouterr().err


def test_a_translator_is_given_a_sentence_that_it_reads(tmp_path):
    made = small()
    for language, begins in (("zh", "两只狗"), ("de", "Zwei Hunde"), ("xx", "Two dogs")):
        made.provenance["source_language"] = language
        bundle.save(made, tmp_path / language)
        assert begins in try_command(tmp_path / language, VERBS["translate"])
    made.provenance["columns"] = {"second": "b"}
    bundle.save(made, tmp_path / "pairs")
    assert "|||" in try_command(tmp_path / "pairs", VERBS["classify"])


def test_words_of_the_data_are_quoted_and_never_options(tmp_path):
    asked = try_command(tmp_path, VERBS["answer"], ("Who?", "It was 'Ada'."))
    assert shlex.split(asked)[-2:] == ["Who?", "It was 'Ada'."]
    assert shlex.split(try_command(tmp_path, VERBS["generate"], "- he said"))[-2:] == ["--", "- he said"]

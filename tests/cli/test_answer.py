"""Answers from the command line: a passage of the context, never of the question."""

import json

import pytest

from clearformer.cli.main import main
from cli.readers import reader


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("span"), "span")


def test_the_answer_stands_in_the_context(model, capsys):
    context = "two dogs play in the snow."
    capsys.readouterr()
    assert main(["answer", "dogs play ?", context, "--model", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == context[found["start"] : found["end"]] != ""


def test_a_long_context_is_read_in_windows(model, tmp_path, capsys):
    (tmp_path / "context.txt").write_text("two dogs play in the snow . " * 20)
    capsys.readouterr()
    assert main(["answer", "dogs ?", "--input", str(tmp_path / "context.txt"), "--model", model]) == 0
    assert capsys.readouterr().out.strip() in "two dogs play in the snow . " * 20


def test_a_list_of_questions_is_answered_in_order(model, tmp_path, capsys):
    asked = [("dogs ?", "two dogs play"), ("snow ?", "in the snow .")]
    lines = [json.dumps({"question": question, "context": context}) for question, context in asked]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    common = ["answer", "--model", model, "--json"]
    capsys.readouterr()
    for question, context in asked:
        assert main([*common, question, context]) == 0
    expected = capsys.readouterr().out
    assert main([*common, "--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")]) == 0
    assert (tmp_path / "out.jsonl").read_text() == expected
    assert [json.loads(line)["question"] for line in expected.splitlines()] == ["dogs ?", "snow ?"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not JSON", 'in.jsonl:2 should be a JSON object {"question": …, "context": …}'),
        ('{"question": "who?"}', "in.jsonl:2 should be a JSON object"),
        ('["who?", "he"]', "in.jsonl:2 should be a JSON object"),
        ('{"question": 1, "context": "he"}', "in.jsonl:2: question and context should be texts"),
        ('{"question": "who?", "context": " "}', "in.jsonl:2: the context has no words to answer with"),
    ],
)
def test_a_line_that_is_no_question_is_named(model, tmp_path, capsys, line, reason):
    (tmp_path / "in.jsonl").write_text('{"question": "who ?", "context": "two dogs"}\n' + line + "\n")
    assert main(["answer", "--model", model, "--input", str(tmp_path / "in.jsonl")]) == 1
    assert reason in capsys.readouterr().err


def test_one_context_please(model, capsys):
    assert main(["answer", "dogs ?", "--model", model]) == 2
    assert "give a context" in capsys.readouterr().err


def test_both_engines_find_the_same_answer(model, capsys):
    found = {}
    for engine in ("torch", "ctranslate2", "auto"):
        capsys.readouterr()
        asked = ["answer", "dogs ?", "two dogs play in the snow", "--model", model, "--json", "--engine", engine]
        assert main(asked) == 0
        found[engine] = json.loads(capsys.readouterr().out)
    assert found["auto"] == found["torch"]
    for number in ("score", "probability"):
        assert found["torch"].pop(number) == pytest.approx(found["ctranslate2"].pop(number), abs=1e-4)
    assert found["torch"] == found["ctranslate2"]


def test_of_several_contexts_the_best_passage_is_given_and_named(model, tmp_path, capsys):
    contexts = ["two dogs play", "in the snow .", "the dogs"]
    alone = []
    for context in contexts:
        capsys.readouterr()
        assert main(["answer", "dogs ?", context, "--model", model, "--json"]) == 0
        alone.append(json.loads(capsys.readouterr().out))
    best = max(range(3), key=lambda number: alone[number]["score"])
    assert main(["answer", "dogs ?", *contexts, "--model", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["context"] == f"context {best + 1}"
    assert found["text"] == alone[best]["text"] == contexts[best][found["start"] : found["end"]]
    assert 0 < found["probability"] <= 1
    files = []
    for number, context in enumerate(contexts):
        (tmp_path / f"{number}.txt").write_text(context)
        files.append(str(tmp_path / f"{number}.txt"))
    assert main(["answer", "dogs ?", "--input", *files, "--model", model]) == 0
    assert capsys.readouterr().out == f"{found['text']}\t{files[best]}\n"
    (tmp_path / "in.jsonl").write_text(json.dumps({"question": "dogs ?", "context": contexts}) + "\n")
    assert main(["answer", "--input", str(tmp_path / "in.jsonl"), "--model", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_the_longest_answer_is_as_long_as_asked_for(model, capsys):
    capsys.readouterr()
    assert main(["answer", "dogs ?", "two dogs play in the snow", "--model", model, "--longest", "1", "--always"]) == 0
    assert len(capsys.readouterr().out.split()) == 1
    assert main(["answer", "dogs ?", "two dogs", "--model", model, "--longest", "0"]) == 2
    assert "--longest" in capsys.readouterr().err


def test_two_models_decide_together(model, capsys):
    """With itself, a model answers as it does alone; what looks inside one model is wrong usage."""
    common = ["answer", "dogs ?", "two dogs play in the snow .", "--model", model]
    capsys.readouterr()
    assert main(common) == main([*common, "--with", model]) == 0
    alone, together = capsys.readouterr().out.splitlines()
    assert alone == together
    assert main([*common, "--with", model, "--why", "rollout"]) == 2
    assert "--why looks inside one model" in capsys.readouterr().err


def test_an_empty_question_is_refused(model, capsys):
    assert main(["answer", " ", "two dogs play", "--model", model]) == 1
    assert "the question is empty" in capsys.readouterr().err

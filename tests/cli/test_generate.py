"""Texts are continued from the command line: greedily by default, drawn by a seed, and as JSON."""

import json

import pytest

from clearformer.cli.main import main
from interop.folders import bert_folder, gpt2_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    gpt2_folder(folder / "published")
    assert main(["import", str(folder / "published"), str(folder / "ours")]) == 0
    return str(folder / "ours")


def said(capsys, *arguments):
    capsys.readouterr()
    assert main(["generate", *arguments]) == 0
    return capsys.readouterr().out


def test_the_prompt_comes_first_and_greedy_is_repeatable(model, capsys):
    one = said(capsys, "two dogs", "--model", model, "--max-new", "6")
    assert one.startswith("two dogs")
    assert one == said(capsys, "two dogs", "--model", model, "--max-new", "6")


def test_a_seed_decides_what_is_drawn(model, capsys):
    def draw(seed):
        return said(capsys, "two", "--model", model, "--max-new", "12", "--temperature", "1.5", "--seed", str(seed))

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(4)}) > 1


def test_json_has_a_log_probability_for_each_token(model, capsys):
    entry = json.loads(said(capsys, "two", "--model", model, "--max-new", "5", "--json"))
    assert entry["prompt"] == "two"
    assert len(entry["tokens"]) == len(entry["log_probs"]) == 5
    assert all(number <= 0 for number in entry["log_probs"])


def test_a_model_that_only_reads_is_refused(tmp_path, capsys):
    bert_folder(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    assert main(["generate", "two", "--model", str(tmp_path / "ours")]) == 1
    assert "this model is an encoder that embeds texts, not one that continues texts; use `clearformer embed`" in (
        capsys.readouterr().err
    )


def test_json_generates_once_and_says_what_is_printed_otherwise(model, capsys, monkeypatch):
    """The same seed draws the same text, whether it is streamed or put together from the tokens of the JSON."""
    from clearformer.inference.text_generator import TextGenerator

    asked, choices = [], TextGenerator.choices
    monkeypatch.setattr(TextGenerator, "choices", lambda *words, **more: asked.append(1) or choices(*words, **more))
    drawn = ["two dogs", "--model", model, "--max-new", "9", "--temperature", "1.2", "--seed", "4"]
    entry = json.loads(said(capsys, *drawn, "--json"))
    assert len(asked) == 1
    assert said(capsys, *drawn) == f"two dogs{entry['text']}\n"


def test_lines_of_a_file_are_continued_in_order(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two dogs\nthe snow\n")
    common = ["--model", model, "--max-new", "4"]
    assert main(["generate", "--input", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out"), *common]) == 0
    alone = [said(capsys, text, *common) for text in ("two dogs", "the snow")]
    assert (tmp_path / "out").read_text() == "\n".join(alone)
    found = [json.loads(line) for line in said(capsys, "two dogs", "the snow", "--json", *common).splitlines()]
    assert [entry["prompt"] + entry["text"] + "\n" for entry in found] == alone


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--max-new", "0"], "--max-new must be at least 1, not 0"),
        (["--temperature", "-1"], "--temperature must be at least 0"),
        (["--top-k", "3"], "--top-k and --top-p choose among"),
        (["--top-p", "2", "--temperature", "1"], "--top-p must be at most 1"),
    ],
)
def test_settings_out_of_bounds_are_wrong_usage(model, capsys, options, reason):
    assert main(["generate", "two", "--model", model, *options]) == 2
    assert reason in capsys.readouterr().err


def test_a_prompt_that_is_too_long_is_named_by_its_line(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two\n" + "dogs " * 500 + "\n")
    assert main(["generate", "--input", str(tmp_path / "in.txt"), "--model", model, "--max-new", "2"]) == 1
    assert f"{tmp_path / 'in.txt'}:2 has " in capsys.readouterr().err

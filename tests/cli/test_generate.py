"""Texts are continued from the command line: greedily by default, drawn by a seed, and as JSON."""

import json
import subprocess
import sys

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
    assert (tmp_path / "out").read_bytes().decode() == "\n".join(alone)
    found = [json.loads(line) for line in said(capsys, "two dogs", "the snow", "--json", *common).splitlines()]
    assert [entry["prompt"] + entry["text"] + "\n" for entry in found] == alone


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--max-new", "0"], "--max-new must be at least 1, not 0"),
        (["--temperature", "-1"], "--temperature must be at least 0"),
        (["--top-k", "3"], "--top-k and --top-p and --min-p choose among"),
        (["--samples", "3"], "--samples above 1 would all be the same text; set temperature above 0"),
        (["--stop-text", ""], "--stop-text is empty"),
        (["--pattern", "a(?=b)"], "pattern, character 2: looking ahead cannot be honoured"),
        (["--pattern", "a", "--choices", "a,b"], "--choices and pattern are two forms for one text"),
        (["--choices", "a,"], "one of the choices is empty"),
        (["--prompt-file", "book.txt"], "give texts, --input or --prompt-file, not several of them"),
        (["--top-p", "2", "--temperature", "1"], "--top-p must be at most 1"),
    ],
)
def test_settings_out_of_bounds_are_wrong_usage(model, capsys, options, reason):
    assert main(["generate", "two", "--model", model, *options]) == 2
    assert reason in capsys.readouterr().err


def test_a_prompt_that_is_too_long_is_named_by_its_line(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two\n" + "dogs " * 500 + "\n")
    assert main(["generate", "--input", str(tmp_path / "in.txt"), "--model", model, "--max-new", "2"]) == 1
    printed = capsys.readouterr()
    assert f"{tmp_path / 'in.txt'}:2 has " in printed.err
    assert "dogs dogs" not in printed.out


def test_samples_are_the_texts_of_their_seeds(model, capsys):
    drawn = ["two", "--model", model, "--max-new", "9", "--temperature", "1.2"]
    alone = [said(capsys, *drawn, "--seed", str(seed)) for seed in (5, 6, 7)]
    assert said(capsys, *drawn, "--seed", "5", "--samples", "3") == "\n".join(alone)
    entries = [
        json.loads(line) for line in said(capsys, *drawn, "--seed", "5", "--samples", "3", "--json").splitlines()
    ]
    assert [entry["seed"] for entry in entries] == [5, 6, 7]
    assert [f"two{entry['text']}\n" for entry in entries] == alone


def test_a_stop_text_and_how_a_text_ended(model, capsys):
    drawn = ["two", "--model", model, "--max-new", "20", "--temperature", "1.2", "--json"]
    free = json.loads(said(capsys, *drawn))
    assert free["ended"] == "length"
    letter = next(letter for letter in free["text"][2:] if letter.isascii() and not letter.isspace())
    stopped = json.loads(said(capsys, *drawn, "--stop-text", "never", "--stop-text", letter))
    assert stopped["ended"] == "stop"
    assert stopped["text"] == free["text"].partition(letter)[0]


def test_a_whole_file_is_one_prompt(model, tmp_path, capsys):
    (tmp_path / "book.txt").write_text("two\n\ndogs\n", encoding="utf-8")
    common = ["--model", model, "--max-new", "4"]
    expected = said(capsys, "two\n\ndogs", *common)
    assert said(capsys, "--prompt-file", str(tmp_path / "book.txt"), *common) == expected
    (tmp_path / "latin.txt").write_bytes("zwölf\n".encode("latin-1"))
    assert main(["generate", "--prompt-file", str(tmp_path / "latin.txt"), *common]) == 1
    assert "latin.txt:1" in capsys.readouterr().err


def test_an_empty_prompt_begins_a_text(model, capsys):
    assert said(capsys, "", "--model", model, "--max-new", "4").endswith("\n")


def test_whoever_closes_the_pipe_has_seen_enough(model):
    """A real pipe whose reader goes away: no traceback, no endless writing."""
    command = [sys.executable, "-m", "clearformer", "generate", "two", "--model", model, "--max-new", "100000"]
    command += ["--temperature", "1"]  # the likeliest tokens may say nothing for long
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(5)
        process.stdout.close()
        assert process.stderr.read().count(b"Traceback") == 0
        assert process.wait(60) == 1


def test_choices_patterns_and_schemas(model, tmp_path, capsys):
    common = ["two ", "--model", model, "--max-new", "20"]
    assert said(capsys, *common, "--choices", "dogs,cats") in ("two dogs\n", "two cats\n")
    given = (capsys, *common, "--choices", "dogs", "--choices", "cats")  # the first counts as well
    assert said(*given) == said(capsys, *common, "--choices", "dogs,cats")
    assert said(capsys, *common, "--pattern", "(no ){3}snow") == "two no no no snow\n"
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"enum": ["雪"]}, "minItems": 1}', "utf-8")
    entry = json.loads(said(capsys, *common, "--schema", str(tmp_path / "schema.json"), "--json"))
    assert set(json.loads(entry["text"])) == {"雪"}
    assert len(entry["log_probs"]) == len(entry["tokens"])


def test_a_schema_that_cannot_be_used_is_wrong_usage(model, tmp_path, capsys):
    (tmp_path / "schema.json").write_text('{"not": {}}')
    common = ["generate", "two", "--model", model, "--schema"]
    assert main([*common, str(tmp_path / "schema.json")]) == 2
    assert "schema: the keyword 'not' cannot be honoured; leave it out" in capsys.readouterr().err
    assert main([*common, str(tmp_path / "nowhere.json")]) == 1
    assert "nowhere.json: No such file" in capsys.readouterr().err

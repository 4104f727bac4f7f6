"""A text goes on from the command line: greedy by default, drawn by a seed, and whole as JSON."""

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
    assert "does not go on with texts" in capsys.readouterr().err

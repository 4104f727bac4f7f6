"""Gaps from the command line: guesses best first, a line per text, and a text without a gap refused by its place."""

import json

import pytest
import torch
import transformers as hf

from clearformer.cli.main import main
from cli.readers import reader
from interop.folders import WORDS


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fill")
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = hf.BertConfig(vocab_size=len(WORDS), max_position_embeddings=24, initializer_range=0.5, **sizes)
    hf.BertForMaskedLM(config).save_pretrained(folder / "published")
    (folder / "published" / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    assert main(["import", str(folder / "published"), str(folder / "ours")]) == 0
    return str(folder / "ours")


def test_each_text_gets_its_best_guesses_in_a_line(model, capsys):
    capsys.readouterr()
    assert main(["fill", "two [MASK] play .", "the [MASK]", "--model", model]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line in lines:
        guesses = [guess.rsplit(" ", 1) for guess in line.split(", ")]
        assert len(guesses) == 5
        assert all(word in WORDS for word, _ in guesses)
        assert [float(share) for _, share in guesses] == sorted((float(share) for _, share in guesses), reverse=True)


def test_json_says_where_the_gap_is(model, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("two [MASK] play .\n[MASK]\n")
    found = []
    for batch in ("1", "4"):
        capsys.readouterr()
        assert main(["fill", "--input", str(tmp_path / "in.txt"), "--model", model, "--json", "--batch", batch]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    for one, other in zip(*found, strict=True):
        for guess, again in zip(one["guesses"], other["guesses"], strict=True):
            assert one["text"][guess["start"] : guess["end"]] == "[MASK]"
            assert guess["text"] == again["text"]
            assert guess["probability"] == pytest.approx(again["probability"], abs=1e-5)


def test_a_text_without_a_gap_is_refused_by_its_place(model, tmp_path, capsys):
    assert main(["fill", "the [MASK]", "two dogs", "--model", model]) == 1
    assert "text 2 has no gap; write [MASK] where a word is missing" in capsys.readouterr().err
    (tmp_path / "in.txt").write_text("the [MASK]\n\ntwo dogs\n")
    assert main(["fill", "--input", str(tmp_path / "in.txt"), "--model", model]) == 1
    assert "in.txt:3 has no gap" in capsys.readouterr().err


def test_a_model_for_another_task_is_refused(tmp_path, capsys):
    assert main(["fill", "[MASK] dogs", "--model", reader(tmp_path, "tags")]) == 1
    assert "tags words, not one that" in capsys.readouterr().err

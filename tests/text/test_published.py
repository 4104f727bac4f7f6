"""BERT's and GPT-2's vocabularies give the ids those models were trained with."""

import json
import os
from pathlib import Path

import pytest

from clearformer.text.published import from_gpt2, from_wordpiece_vocab


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(os.environ["CLEARFORMER_DATA"]) / "tokenizers"


@pytest.fixture(scope="module")
def golden(folder) -> dict:
    return json.loads((folder / "golden.json").read_text(encoding="utf-8"))


@pytest.mark.corpora
def test_bert_reproduces_the_reference_ids(folder, golden):
    bert = from_wordpiece_vocab(folder / "bert-base-uncased" / "vocab.txt")
    for case in golden["bert_base_uncased"]:
        encoding = bert.encode(case["text"])
        assert (list(encoding.ids), list(encoding.pieces)) == (case["ids"], case["tokens"]), case["text"]


@pytest.mark.corpora
def test_i_love_nlp(folder):
    bert = from_wordpiece_vocab(folder / "bert-base-uncased" / "vocab.txt")
    assert bert.encode("I love NLP").ids == (101, 1045, 2293, 17953, 2361, 102)
    assert (bert.pad_id, bert.special_id("mask")) == (0, 103)


@pytest.mark.corpora
def test_gpt2_reproduces_the_reference_ids_and_loses_nothing(folder, golden):
    gpt2 = from_gpt2(folder / "gpt2" / "vocab.json", folder / "gpt2" / "merges.txt")
    for case in golden["gpt2"]:
        encoding = gpt2.encode(case["text"])
        assert list(encoding.ids) == case["ids"], case["text"]
        assert gpt2.decode(encoding.ids) == case["text"]
    assert gpt2.eos_id == gpt2.bos_id == 50256


# --- small files made here -------------------------------------------------------------------------------------------

BERT_LINES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "a", "é", "A"]


def test_longest_piece_first(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(BERT_LINES) + "\n", encoding="utf-8")
    tokenizer = from_wordpiece_vocab(path)
    assert tokenizer.encode("Unaffable [MASK] x").pieces == (
        "[CLS]",
        "un",
        "##aff",
        "##able",
        "[MASK]",
        "[UNK]",
        "[SEP]",
    )


def test_case_and_accents_stay_when_asked(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\r\n".join(BERT_LINES), encoding="utf-8", newline="")
    assert from_wordpiece_vocab(path, lowercase=False).encode("A é", add_special=False).pieces == ("A", "é")
    assert from_wordpiece_vocab(path, lowercase=True).encode("A é", add_special=False).pieces == ("a", "[UNK]")


def test_broken_vocabularies_are_refused_at_their_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*BERT_LINES, "un"]))
    with pytest.raises(ValueError, match=r"vocab.txt, line 12: 'un' is already on line 6"):
        from_wordpiece_vocab(path)
    path.write_text("a\nb\n")
    with pytest.raises(ValueError, match=r"has no line for \[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]"):
        from_wordpiece_vocab(path)


def test_broken_gpt2_files_are_refused_at_their_line(tmp_path):
    vocabulary, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocabulary.write_text(json.dumps({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}))
    merges.write_text("#version: 0.2\na b\n")
    assert from_gpt2(vocabulary, merges).encode("ab").pieces == ("ab",)
    merges.write_text("#version: 0.2\na b\nb a\n")
    with pytest.raises(ValueError, match=r"merges.txt, line 3: 'b a' is not a merge"):
        from_gpt2(vocabulary, merges)
    vocabulary.write_text("{}")
    with pytest.raises(ValueError, match=r"no piece '<\|endoftext\|>'"):
        from_gpt2(vocabulary, merges)
    vocabulary.write_text("{")
    with pytest.raises(ValueError, match=r"vocab.json is not JSON"):
        from_gpt2(vocabulary, merges)

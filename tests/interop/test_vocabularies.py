"""Vocabularies of published folders: the same ids as the published tokenizers, on a thousand mixed texts."""

import json
import os
import shutil
import warnings
from pathlib import Path

import pytest
import sentencepiece
import tokenizers
import transformers as hf

from clearformer.interop.vocabularies import read, surroundings
from clearformer.model.families import FAMILIES
from interop.folders import WORDS, wordpiece
from interop.spm import train, train_marian
from interop.texts import mixed_texts

TEXTS = mixed_texts()


def texts_of(folder, family, **plain):
    """Our reading of a folder; model_type makes theirs find the right class."""
    described = {"model_type": family, "decoder_start_token_id": 0, **plain}
    (folder / "config.json").write_text(json.dumps(described))
    return read(folder, described, FAMILIES[family](vocab_size=5000))


def theirs(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sacremoses is recommended
        return hf.AutoTokenizer.from_pretrained(folder)


def assert_equal(ours, reference):
    for text in TEXTS:
        assert list(ours.encode(text).ids) == reference(text)["input_ids"], text


@pytest.fixture(scope="module")
def byte_level():
    found = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]
    found.train_from_iterator(TEXTS[:600], vocab_size=500, special_tokens=special, show_progress=False)
    return found


@pytest.mark.parametrize("family", ["gpt2", "roberta", "bart"])
def test_bytes_in_pairs(family, byte_level, tmp_path):
    byte_level.save_model(str(tmp_path))
    ours = texts_of(tmp_path, family).source
    assert_equal(ours, theirs(tmp_path))
    for text in TEXTS[:50]:
        assert ours.decode(ours.encode(text).ids) == text


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_word_pieces(family, lower, tmp_path):
    trained = tokenizers.BertWordPieceTokenizer(lowercase=lower)
    trained.train_from_iterator(TEXTS[:600], vocab_size=500, show_progress=False)
    trained.save_model(str(tmp_path))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    assert_equal(texts_of(tmp_path, family).source, theirs(tmp_path))


def test_t5(tmp_path):
    train(tmp_path / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    found = texts_of(tmp_path, "t5", pad_token_id=0)
    assert_equal(found.source, theirs(tmp_path))
    assert found.source.id("<extra_id_0>") == found.source.vocab_size - 1
    assert (found.markers.start, found.markers.after_source) == (0, (found.source.eos_id,))


def test_albert(tmp_path):
    marks = ["[CLS]", "[SEP]", "[MASK]"]
    train(tmp_path / "spiece.model", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=marks)
    assert_equal(texts_of(tmp_path, "albert").source, theirs(tmp_path))


def test_deberta(tmp_path):
    """As SentencePiece itself cuts, whose file says how a text is normalised; transformers 5 leaves that out."""
    marks = {"pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}
    train(tmp_path / "spm.model", pad_id=0, bos_id=1, eos_id=2, unk_id=3, **marks)
    found = texts_of(tmp_path, "deberta").source
    reference = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spm.model"))
    for text in TEXTS:
        assert list(found.encode(text).ids) == [1, *reference.encode(text), 2], text
    assert found.id("[MASK]") == reference.get_piece_size()
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "split_by_punct": True}))
    folded = texts_of(tmp_path, "deberta").source
    assert folded.encode("MiXeD;A").ids == folded.encode("mixed;a").ids
    assert folded.encode("a--b").pieces.count("-") == 2


def test_a_vocabulary_without_deberta_s_marks_is_refused(tmp_path):
    train(tmp_path / "spm.model")
    with pytest.raises(ValueError, match=r"has no piece \[PAD\]"):
        texts_of(tmp_path, "deberta")


def test_marian(tmp_path):
    """Each side cuts with its own pieces and numbers them by one file; the target decodes what either side has."""
    train_marian(tmp_path)
    found, reference = texts_of(tmp_path, "marian"), theirs(tmp_path)
    assert_equal(found.source, reference)
    for text in TEXTS:
        ids = reference(text_target=text)["input_ids"]
        assert list(found.target.encode(text).ids) == ids, text
        assert found.target.decode(ids) == reference.decode(ids, skip_special_tokens=True)
    source_only = [found.source.encode(text, add_special=False).ids for text in TEXTS[:100]]
    assert [found.target.decode(ids) for ids in source_only] == [
        reference.decode(ids, skip_special_tokens=True) for ids in source_only
    ]


def test_tokenizer_json_is_taken_as_it_is_without_padding_and_cutting(tmp_path):
    engine = wordpiece()
    engine.enable_padding(length=64)
    engine.enable_truncation(3)
    engine.save(str(tmp_path / "tokenizer.json"))
    found = texts_of(tmp_path, "bert").source
    assert found.encode("two dogs [MASK] in the snow").pieces[1:-1] == ("two", "dogs", "[MASK]", "in", "the", "snow")
    assert found.special.mask == "[MASK]"


def test_what_stands_around_a_text():
    from clearformer.text.special import BERT
    from clearformer.text.tokenizer import Tokenizer

    found = Tokenizer.from_engine(wordpiece(), kind="wordpiece", special=BERT)
    assert surroundings(found) == ((WORDS.index("[CLS]"),), (WORDS.index("[SEP]"),))


def test_a_folder_without_vocabulary_says_so(tmp_path):
    found = texts_of(tmp_path, "bert")
    assert found.source is None
    assert "no vocabulary" in found.notes[0]


def test_pieces_that_are_numbered_otherwise_are_refused(tmp_path):
    train(tmp_path / "sentencepiece.bpe.model")
    with pytest.raises(ValueError, match="roberta assigns other ids to its pieces"):
        texts_of(tmp_path, "roberta")


def test_a_start_outside_the_vocabulary(tmp_path):
    train(tmp_path / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    with pytest.raises(ValueError, match="decoder_start_token_id must be an id"):
        texts_of(tmp_path, "t5", decoder_start_token_id=99_999)


# --- the vocabularies that BERT and GPT-2 were published with, and the ids that they give ----------------------------


def published(name, family, vocab_size, tmp_path):
    """One of the published vocabularies in a folder of its own, and the ids that the published program gives."""
    shared = Path(os.environ["CLEARFORMER_DATA"]) / "tokenizers"
    for file in (shared / name).glob("*.*"):
        shutil.copy(file, tmp_path)
    described = {"model_type": family}
    golden = json.loads((shared / "golden.json").read_text(encoding="utf-8"))
    return read(tmp_path, described, FAMILIES[family](vocab_size=vocab_size)).source, golden


@pytest.mark.corpora
def test_bert_reproduces_the_reference_ids(tmp_path):
    bert, golden = published("bert-base-uncased", "bert", 30_522, tmp_path)
    for case in golden["bert_base_uncased"]:
        encoding = bert.encode(case["text"])
        assert (list(encoding.ids), list(encoding.pieces)) == (case["ids"], case["tokens"]), case["text"]


@pytest.mark.corpora
def test_i_love_nlp(tmp_path):
    bert, _ = published("bert-base-uncased", "bert", 30_522, tmp_path)
    assert bert.encode("I love NLP").ids == (101, 1045, 2293, 17953, 2361, 102)
    assert (bert.pad_id, bert.special_id("mask")) == (0, 103)


@pytest.mark.corpora
def test_gpt2_reproduces_the_reference_ids_and_loses_nothing(tmp_path):
    gpt2, golden = published("gpt2", "gpt2", 50_257, tmp_path)
    for case in golden["gpt2"]:
        encoding = gpt2.encode(case["text"])
        if "<|endoftext|>" in case["text"]:  # OpenAI's program reads the marker as text, Hugging Face's as the marker
            assert gpt2.eos_id in encoding.ids
            continue
        assert list(encoding.ids) == case["ids"], case["text"]
        assert gpt2.decode(encoding.ids) == case["text"]

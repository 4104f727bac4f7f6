"""CLIP and SigLIP cut texts as their published programs do: small letters, other scripts, emoji, signs and spaces."""

import json
from dataclasses import replace

import pytest
import transformers as hf

from clearformer.interop import sentencepiece, vocabularies
from clearformer.interop.pair_vocabularies import in_small_letters, siglip_engine
from interop import spm
from interop.texts import PARTS, mixed_texts
from model.specimens import PAIRS
from support.pair_folders import clip_vocabulary, siglip_vocabulary

TEXTS = [
    "a photo of a cat", "A Photo, of a CAT's   tail!", "他在河边看见一只白色的鸟。", "日本語 ＦＵＬＬ　ｗｉｄｔｈ！",
    "emoji 🙂 and 👩\u200d👩\u200d👧, é e\u0301 ﬁ ½", "ΟΔΟΣ ΣΑΣ Σ İstanbul ẞ", "tabs\tand\nlines\x1chere\u2028there",
    "under_score (x) [y] {z} #1 ~^`|\\", "▁odd▁ ▁", "…", "it's we're I'll they'd", "a</w>b", *PARTS, *mixed_texts(80),
]  # fmt: skip
FILLED = [text for text in TEXTS if text.strip()]


def of_texts(family, rows=2000):
    return replace(PAIRS[family].of_texts, vocab_size=rows)


def test_clip_cuts_as_published(tmp_path):
    theirs = clip_vocabulary(tmp_path)
    ours = vocabularies.read(tmp_path, {}, of_texts("clip")).source
    assert {text: list(ours.encode(text).ids) for text in TEXTS} == {text: theirs(text)["input_ids"] for text in TEXTS}
    assert ours.decode(ours.encode("A photo of a CAT").ids) == "a photo of a cat"
    assert ours.special_ids == {"bos": theirs.bos_token_id} | dict.fromkeys(("eos", "pad", "unk"), theirs.eos_token_id)


def test_clip_cuts_the_same_from_one_file(tmp_path):
    theirs = clip_vocabulary(tmp_path)
    theirs.save_pretrained(tmp_path / "one")
    ours = vocabularies.read(tmp_path / "one", {}, of_texts("clip")).source
    assert [list(ours.encode(text).ids) for text in TEXTS] == theirs(TEXTS)["input_ids"]


@pytest.mark.parametrize("choices", [{}, {"normalization_rule_name": "identity"}, {"add_dummy_prefix": False}])
def test_siglip_cuts_as_published(tmp_path, choices):
    spm.train(tmp_path / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, **choices)
    theirs = hf.SiglipTokenizer(str(tmp_path / "spiece.model"))
    (tmp_path / "tokenizer.json").write_text("{}")  # their program reads the other file
    ours = vocabularies.read(tmp_path, {}, of_texts("siglip")).source
    found = {text: list(ours.encode(text).ids) for text in FILLED}
    assert found == {text: theirs(text)["input_ids"] for text in FILLED}
    assert ours.special_ids == {"pad": 1, "eos": 1, "unk": 2}


def test_siglip_with_capitals(tmp_path):
    siglip_vocabulary(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    theirs = hf.SiglipTokenizer(str(tmp_path / "spiece.model"), do_lower_case=False)
    ours = vocabularies.read(tmp_path, {}, of_texts("siglip")).source
    assert list(ours.encode("MiXeD Words").ids) == theirs("MiXeD Words")["input_ids"]


def test_a_sentencepiece_model_of_merges_is_refused(tmp_path):
    spm.train(tmp_path / "spiece.model", model_type="bpe")
    with pytest.raises(ValueError, match="not a unigram model"):
        siglip_engine(sentencepiece.read_proto(tmp_path / "spiece.model"), small=True)


def test_one_class_makes_letters_small_before_its_file_does_anything(tmp_path):
    ids = {"<pad>": 0, "<eos>": 1, "<bos>": 2, "<unk>": 3, "<mask>": 4, "▁": 5, "a": 6, "b": 7, "A": 8}
    theirs = hf.Siglip2Tokenizer(vocab=ids, merges=[])
    theirs.save_pretrained(tmp_path / "two")
    (tmp_path / "two" / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "Siglip2Tokenizer"}))
    with pytest.raises(ValueError, match="filled up on the left"):  # the class's own side
        vocabularies.read(tmp_path / "two", {}, of_texts("siglip"))
    told = {"tokenizer_class": "Siglip2Tokenizer", "padding_side": "right"}
    (tmp_path / "two" / "tokenizer_config.json").write_text(json.dumps(told))
    ours = vocabularies.read(tmp_path / "two", {}, of_texts("siglip")).source
    assert list(ours.encode("A b").ids)[:3] == theirs("A b")["input_ids"][:3] == [6, 5, 7]
    assert in_small_letters(ours).encode("A").ids == ours.encode("A").ids

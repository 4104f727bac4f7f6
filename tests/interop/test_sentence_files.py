"""Sentence encoders as others publish them: pooling, prompts and lengths are read, written back, or refused by name."""

import json

import pytest
import torch
import transformers as hf

from clearformer.folder import bundle
from clearformer.folder.preprocessing import VectorFacts
from clearformer.inference.text_readers import Embedder
from clearformer.interop.importer import read_checkpoint
from clearformer.interop.sentence_files import read_vector_facts
from clearformer.interop.to_hugging_face import export
from interop.references import BERT, reference

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh")]
MEAN, FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
QUERY = {"prompts": {"query": "a b ", "document": ""}, "default_prompt_name": None}


def published(folder, *, pooling, steps=("Transformer", "Pooling", "Normalize"), **files):
    """A tiny BERT with the files of a sentence encoder beside it."""
    config = hf.BertConfig(**BERT | {"vocab_size": len(WORDS), "pad_token_id": 0})
    reference("BertModel", config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true, "tokenizer_class": "BertTokenizer"}')
    paths = {"Pooling": "1_Pooling", "Dense": "2_Dense", "Normalize": "2_Normalize"}
    listed = [{"type": f"sentence_transformers.models.{step}", "path": paths.get(step, "")} for step in steps]
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **pooling}))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def vectors_of_theirs(folder, rows, *, first):
    """The published program's states, pooled by hand."""
    model, tokenizer = hf.AutoModel.from_pretrained(folder).eval(), hf.AutoTokenizer.from_pretrained(folder)
    found = []
    for text in rows:
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        found.append(states[0] if first else states.mean(dim=0))
    return torch.nn.functional.normalize(torch.stack(found), dim=-1)


@pytest.mark.parametrize("pooling", [{MEAN: True, FIRST: False}, {FIRST: True}, {"pooling_mode": "cls"}])
def test_states_are_pooled_as_the_files_say(pooling, tmp_path):
    folder = published(tmp_path / "theirs", pooling=pooling)
    texts = ["a b c", "h", "abc def"]
    mine = Embedder(read_checkpoint(folder).bundle).embed(texts)
    expected = vectors_of_theirs(folder, texts, first=MEAN not in pooling)
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-5)


def test_a_prompt_stands_before_the_text_it_is_for(tmp_path):
    folder = published(tmp_path / "theirs", pooling={MEAN: True}, config_sentence_transformers=QUERY)
    embedder = Embedder(read_checkpoint(folder).bundle)
    asked = embedder.embed(["c d"], prompt="query")
    assert torch.equal(asked, embedder.embed(["a b c d"]))
    assert not torch.equal(asked, embedder.embed(["c d"]))
    assert (embedder.purpose("query"), embedder.purpose("document")) == ("query", None)
    with pytest.raises(ValueError, match="no prompt named 'poem'; it has query"):
        embedder.embed(["c d"], prompt="poem")


def test_a_usual_prompt_is_used_where_none_is_named(tmp_path):
    always = QUERY | {"default_prompt_name": "query"}
    folder = published(tmp_path / "theirs", pooling={MEAN: True}, config_sentence_transformers=always)
    embedder = Embedder(read_checkpoint(folder).bundle)
    assert torch.equal(embedder.embed(["c d"]), embedder.embed(["c d"], prompt="query"))


def test_a_long_text_is_read_in_windows_of_the_published_length(tmp_path):
    length = {"max_seq_length": 8, "do_lower_case": True}
    folder = published(tmp_path / "theirs", pooling={MEAN: True}, sentence_bert_config=length)
    embedder = Embedder(read_checkpoint(folder).bundle)
    assert embedder.longest == 8
    assert not torch.equal(embedder.embed(["a b c d e f g h"]), embedder.embed(["a b c d e f"]))  # nothing is cut off


def test_the_facts_survive_our_folder_and_an_export(tmp_path):
    files = {"config_sentence_transformers": QUERY, "sentence_bert_config": {"max_seq_length": 16}}
    found = read_checkpoint(published(tmp_path / "theirs", pooling={FIRST: True}, **files)).bundle
    facts = VectorFacts(pool="first", longest=16, prompts={"query": "a b "})
    assert found.preprocessing.vectors == facts
    bundle.save(found, tmp_path / "ours")
    assert bundle.load(tmp_path / "ours").preprocessing.vectors == facts
    export(tmp_path / "ours", tmp_path / "back")
    assert read_vector_facts(tmp_path / "back", found.tokenizer) == facts
    again = Embedder(read_checkpoint(tmp_path / "back").bundle).embed(["a b c"])
    torch.testing.assert_close(again, Embedder(found).embed(["a b c"]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": ("Transformer", "Pooling", "Dense")}, r"makes vectors by Transformer \+ Pooling \+ Dense"),
        ({"steps": ("Transformer",)}, "makes vectors by Transformer; only"),
        ({"pooling": {"pooling_mode_max_tokens": True}}, "pooled by pooling_mode_max_tokens"),
        ({"pooling": {MEAN: True, FIRST: True}}, "pooled by pooling_mode_mean_tokens"),
        ({"pooling": {MEAN: True, "include_prompt": False}}, "include_prompt is false"),
        ({"pooling": {"pooling_mode": "max"}}, "pooled by 'max'"),
        ({"config_sentence_transformers": {"prompts": {"query": 3}}}, "a text for each name"),
        ({"config_sentence_transformers": {"default_prompt_name": "poem"}}, "none of its prompts"),
        ({"sentence_bert_config": {"max_seq_length": 0}}, "max_seq_length must be a number of tokens"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change, sentence, tmp_path):
    folder = published(tmp_path / "theirs", **{"pooling": {MEAN: True}, **change})
    with pytest.raises(ValueError, match=sentence):
        read_checkpoint(folder)


def test_modules_that_are_no_list_and_a_pooling_that_is_not_there(tmp_path):
    folder = published(tmp_path / "theirs", pooling={MEAN: True})
    (folder / "1_Pooling" / "config.json").unlink()
    with pytest.raises(ValueError, match=r"1_Pooling/config\.json is missing"):
        read_vector_facts(folder, None)
    (folder / "modules.json").write_text("{}")
    with pytest.raises(ValueError, match="must hold a list of steps"):
        read_vector_facts(folder, None)

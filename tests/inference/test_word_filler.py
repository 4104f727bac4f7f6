"""Which words fit at a gap: the published library's answers, at the right place, in any company."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers as hf

from clearformer.inference.text_readers import Classifier
from clearformer.inference.word_filler import WordFiller
from clearformer.interop.importer import read_checkpoint, read_hugging_face
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.text.unusable import UnusableTextError
from interop.folders import WORDS, bert_folder, gpt2_folder, wordpiece

TEXTS = ["two [MASK] play in the snow .", "[MASK]", "the dog [MASK] [MASK] ."]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A random masked language model as the library writes it."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = hf.BertConfig(
        vocab_size=len(WORDS), max_position_embeddings=24, initializer_range=0.5, pad_token_id=0, **sizes
    )
    hf.BertForMaskedLM(config).eval().save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return folder


@pytest.fixture(scope="module")
def filler(published):
    return WordFiller(read_hugging_face(published).bundle)


def test_the_best_five_are_those_of_the_published_library(published, filler):
    theirs = hf.pipeline(
        "fill-mask",
        model=hf.BertForMaskedLM.from_pretrained(published),
        tokenizer=hf.PreTrainedTokenizerFast(tokenizer_object=wordpiece(), mask_token="[MASK]", unk_token="[UNK]"),
        top_k=5,
    )
    for text in TEXTS[:2]:
        [mine] = filler.fill(text)
        expected = theirs(text)
        assert [guess.text for guess in mine] == [one["token_str"] for one in expected]
        assert [guess.probability for guess in mine] == pytest.approx([one["score"] for one in expected], abs=1e-5)


def test_company_and_batches_change_nothing(filler):
    together = filler.fill(TEXTS)
    for batch in (1, 2):
        for alone, beside in zip(filler.fill(TEXTS, batch=batch), together, strict=True):
            assert [guess.text for guess in alone] == [guess.text for guess in beside]
            assert [guess.probability for guess in alone] == pytest.approx(
                [guess.probability for guess in beside], abs=1e-5
            )


def test_a_guess_stands_at_the_first_gap(filler):
    for text, guesses in zip(TEXTS, filler.fill(TEXTS), strict=True):
        assert {text[guess.start : guess.end] for guess in guesses} == {"[MASK]"}
        assert {guess.start for guess in guesses} == {text.index("[MASK]")}
        shares = [guess.probability for guess in guesses]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1 + 1e-5


def test_a_text_without_a_gap_is_named_by_its_number(filler):
    with pytest.raises(UnusableTextError, match=r"text 2 has no gap; write \[MASK\] where a word is missing"):
        filler.fill(["[MASK] dogs", "two dogs"])


def test_rows_that_the_vocabulary_has_no_piece_for_are_never_guessed(filler):
    grown = replace(filler.bundle.config, vocab_size=len(WORDS) + 8)
    model = build(grown)
    with torch.no_grad():
        model.head.table[len(WORDS) :] *= 50
    [guesses] = WordFiller(replace(filler.bundle, config=grown, model=model)).fill("two [MASK]")
    assert {guess.text for guess in guesses} <= set(WORDS)
    assert len(guesses) == 5


def test_what_writes_from_left_to_right_cannot_fill_a_gap(tmp_path):
    gpt2_folder(tmp_path)
    with pytest.raises(ValueError, match="continues texts, not one that fills in masked words; use `clearformer gen"):
        WordFiller(read_hugging_face(tmp_path).bundle)


def test_a_filler_is_no_classifier(tmp_path, filler):
    with pytest.raises(
        ValueError, match="fills in masked words, not one that classifies texts; use `clearformer fill`"
    ):
        Classifier(filler.bundle)
    bert_folder(tmp_path, HeadConfig(kind="class", labels=2, pooler=True), "BertForSequenceClassification")
    with pytest.raises(ValueError, match="classifies texts, not one that"):
        WordFiller(read_hugging_face(tmp_path).bundle)


@pytest.mark.corpora
def test_a_trained_model_knows_the_atom_that_a_reaction_carries_over():
    """Published weights and a reaction from their golden.json: the sulphur of the product comes from the reactant."""
    folder = Path(os.environ["CLEARFORMER_DATA"]) / "pretrained" / "albert-rxn"
    pattern = r"\[[^\]]+\]|Br|Cl|>>|%[0-9]{2}|."
    filler = WordFiller(read_checkpoint(folder, split=pattern).bundle)
    reaction = "CC(C)S.CN(C)C=O.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)[MASK]c1ncccc1F"
    [[best, *_]] = filler.fill(reaction)
    assert best.text == "S"
    assert best.probability > 0.5

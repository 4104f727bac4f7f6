"""BERT beside its published implementation, with every head."""

import pytest
import transformers as hf

from clearformer.inference.text_readers import Embedder
from clearformer.interop.importer import import_checkpoint
from interop.references import BERT, check, reference
from support.registry_weights import weights

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"Bert{head}", hf.BertConfig(**BERT | labels)), tmp_path)


@pytest.mark.network
@pytest.mark.slow
def test_sentences_that_mean_the_same_are_near(tmp_path):
    """MiniLM, six real layers: the other half of each pair is the nearest sentence."""
    made = import_checkpoint(weights("minilm"), tmp_path / "ours")
    certificate = made.provenance["certificate"]
    assert max(certificate["largest_difference"].values()) < 1e-5
    assert certificate["tokens_equal"] == [True] * 5
    pairs = [
        ("A man is eating food.", "Someone eats a meal."),
        ("A cheetah runs behind its prey.", "A big cat chases an animal."),
        ("How do I reset my password?", "I forgot my login and need a new one."),
        ("The train leaves at noon.", "Departure of the railway service is at 12."),
    ]
    first, second = (Embedder(made).embed(side) for side in zip(*pairs, strict=True))
    assert (first @ second.mT).argmax(-1).tolist() == [0, 1, 2, 3]

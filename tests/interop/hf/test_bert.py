"""BERT beside its published implementation, with every head."""

import pytest
import torch
import transformers as hf

from clearformer.inference.text_readers import Classifier, Embedder
from clearformer.interop.importer import import_checkpoint
from interop.references import BERT, check, reference
from support.registry_weights import weights

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


@pytest.mark.parametrize("head", HEADS)
def test_agrees(head, tmp_path):
    labels = {"num_labels": 2} if head == "ForQuestionAnswering" else {}
    check(reference(f"Bert{head}", hf.BertConfig(**BERT | labels)), tmp_path)


def test_a_checkpoint_with_one_output_gives_numbers_of_texts_and_pairs(tmp_path):
    """As those that were trained on STS-B, which judge how alike two sentences are; many do not name their problem."""
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "two",
        "dogs",
        "play",
        "in",
        "the",
        "snow",
        "cat",
        "##s",
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    torch.manual_seed(1)
    config = hf.BertConfig(**BERT | {"num_labels": 1, "vocab_size": len(vocabulary), "initializer_range": 0.3})
    model = hf.BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path / "theirs")
    tokenizer = hf.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    tokenizer.save_pretrained(tmp_path / "theirs")
    ours = Classifier(import_checkpoint(tmp_path / "theirs", tmp_path / "ours"))
    given = ["two dogs play", ("two dogs play", "the cats play in the snow"), ("snow", "snow")]
    for text, found in zip(given, ours.estimate(given), strict=True):
        read = tokenizer(*([text] if isinstance(text, str) else text), return_tensors="pt")
        with torch.inference_mode():
            assert found.number == pytest.approx(float(model(**read).logits), abs=1e-5)


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


@pytest.mark.network
@pytest.mark.slow
def test_vectors_are_those_of_the_published_model(tmp_path):
    """The mean over real tokens, of length one, from the reference implementation: short texts, one at a time."""
    published = weights("minilm")
    texts = ["How do I resume a run?", "Two dogs play in the snow.", "雪", "word " * 300]
    tokenizer, model = hf.AutoTokenizer.from_pretrained(published), hf.BertModel.from_pretrained(published).eval()
    found = Embedder(import_checkpoint(published, tmp_path / "ours")).embed(texts)
    for text, ours in zip(texts, found, strict=True):
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        theirs = torch.nn.functional.normalize(states.mean(dim=0), dim=0)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)

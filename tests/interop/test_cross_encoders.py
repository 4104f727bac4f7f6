"""Cross-encoders: the score of a pair goes through the function that the folder names."""

import json

import pytest
import torch
import transformers as hf

from clearformer.folder.preprocessing import Outcome
from clearformer.inference.text_readers import Classifier
from clearformer.interop.cross_encoders import scored
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.to_hugging_face import export
from interop.folders import WORDS, edit_json, wordpiece
from interop.references import BERT

SIGMOID, IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"
NUMBER = Outcome(kind="number")
PAIRS = [("two dogs play", "dogs in the snow"), ("snow", "two dogs")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("published")
    torch.manual_seed(3)
    config = hf.BertConfig(**BERT | {"num_labels": 1, "vocab_size": len(WORDS), "initializer_range": 0.4})
    hf.BertForSequenceClassification(config).eval().save_pretrained(made)
    wordpiece().save(str(made / "tokenizer.json"))
    return made


def replace_keys(plain, keys):
    for key in ("sbert_ce_default_activation_function", "sentence_transformers"):
        plain.pop(key, None)
    plain.update(keys)


@pytest.mark.parametrize(
    ("keys", "function"),
    [
        ({}, torch.nn.Identity()),
        ({"sbert_ce_default_activation_function": IDENTITY}, torch.nn.Identity()),
        ({"sbert_ce_default_activation_function": SIGMOID}, torch.nn.Sigmoid()),
        ({"sentence_transformers": {"activation_fn": IDENTITY, "version": "5.1.0"}}, torch.nn.Identity()),
        ({"sentence_transformers": {"version": "5.1.0"}}, torch.nn.Sigmoid()),
    ],
)
def test_scores_are_those_of_the_network_through_the_named_function(keys, function, folder, tmp_path):
    edit_json(folder / "config.json", lambda plain: replace_keys(plain, keys))
    ours = Classifier(import_checkpoint(folder, tmp_path / "ours"))
    theirs = hf.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    for pair, found in zip(PAIRS, ours.estimate(PAIRS), strict=True):
        with torch.inference_mode():
            logit = theirs(**tokenizer(*pair, return_tensors="pt", return_token_type_ids=True)).logits
        assert found.number == pytest.approx(float(function(logit)), abs=1e-5)
    export(tmp_path / "ours", tmp_path / "back")
    written = json.loads((tmp_path / "back" / "config.json").read_text())
    assert scored(NUMBER, written) == ours.outcome


def test_classes_stay_classes():
    """As those for entailment, contradiction and neither; the usual function leaves them as they are."""
    assert scored(Outcome(), {"sbert_ce_default_activation_function": IDENTITY}) == Outcome()
    assert scored(Outcome(), {"sentence_transformers": {"version": "5.1.0"}}) == Outcome()


@pytest.mark.parametrize(
    ("outcome", "plain", "message"),
    [
        (NUMBER, {"sbert_ce_default_activation_function": "os.system"}, "is 'os.system'; known are torch.nn"),
        (NUMBER, {"sentence_transformers": {"activation_fn": 3}}, "sentence_transformers.activation_fn is 3"),
        (NUMBER, {"sentence_transformers": "yes"}, "must be a table, not 'yes'"),
        (Outcome(), {"sbert_ce_default_activation_function": SIGMOID}, "takes each class for itself"),
    ],
)
def test_what_is_refused(outcome, plain, message):
    with pytest.raises(ValueError, match=message):
        scored(outcome, plain)

"""ELECTRA beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.electra import read_config
from interop.references import BERT, DIM, check, reference


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        ("ElectraModel", 16),
        ("ElectraForMaskedLM", 16),
        ("ElectraForSequenceClassification", DIM),
        ("ElectraForTokenClassification", 16),
    ],
)
def test_agrees(kind, width, tmp_path):
    check(reference(kind, hf.ElectraConfig(**BERT, embedding_size=width, summary_last_dropout=0.0)), tmp_path)


def test_a_discriminator_is_imported_without_its_head_only():
    plain = {**BERT, "model_type": "electra", "embedding_size": 16, "type_vocab_size": 2}
    plain["architectures"] = ["ElectraForPreTraining"]
    with pytest.raises(ValueError, match="write ElectraModel there"):
        read_config(Keys(plain))

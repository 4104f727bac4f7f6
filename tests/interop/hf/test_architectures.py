"""The word in `architectures` decides which head is read."""

import pytest

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import head_kind, refuse_heads, task_head


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("BertModel", "states"),
        ("BertForMaskedLM", "language-model"),
        ("GPT2LMHeadModel", "language-model"),
        ("MarianMTModel", "language-model"),
        ("ViTForImageClassification", "class"),
        ("RobertaForTokenClassification", "tags"),
        ("DistilBertForQuestionAnswering", "span"),
    ],
)
def test_endings(named, kind):
    assert head_kind(Keys({"architectures": [named]})) == kind


def test_without_a_word_it_is_the_model_alone():
    assert head_kind(Keys({})) == "states"


@pytest.mark.parametrize("named", ["BertForMultipleChoice", "Strange"])
def test_unknown_tasks_are_named(named):
    with pytest.raises(ValueError, match=named):
        head_kind(Keys({"architectures": [named]}))


@pytest.mark.parametrize("named", ["BertModel", ["A", "B"], [3]])
def test_it_must_be_one_name(named):
    with pytest.raises(ValueError, match="must name one class"):
        head_kind(Keys({"architectures": named}))


def test_a_head_that_a_family_does_not_have():
    with pytest.raises(ValueError, match="BartForSequenceClassification has a head for class"):
        refuse_heads(Keys({"architectures": ["BartForSequenceClassification"]}), "language-model")


def test_as_many_classes_as_names():
    keys = Keys({"id2label": {"0": "no", "1": "yes", "2": "maybe"}})
    assert task_head(keys, "class", pooler=True).labels == 3

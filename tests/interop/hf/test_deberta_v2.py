"""DeBERTa 2 and 3 beside their published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.deberta_v2 import read_config
from interop.references import BERT, check, reference

SMALL = {key: value for key, value in BERT.items() if key != "classifier_dropout"} | {"model_type": "deberta-v2"}
THIRD = {  # as DeBERTa 3 is published
    "relative_attention": True, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "pos_att_type": "p2c|c2p", "max_relative_positions": -1, "position_biased_input": False,
}  # fmt: skip
OTHER = {
    "relative_attention": True, "max_relative_positions": 5, "pos_att_type": ["c2p"], "type_vocab_size": 2,
    "hidden_act": "relu", "pooler_hidden_act": "tanh", "cls_dropout": 0.0, "layer_norm_eps": 0.01,
}  # fmt: skip


@pytest.mark.parametrize("more", [THIRD, OTHER], ids=["as published", "otherwise"])
@pytest.mark.parametrize(
    "kind", ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]
)
def test_agrees(kind, more, tmp_path):
    given = SMALL | more | ({"num_labels": 2} if kind == "ForQuestionAnswering" else {})
    check(reference(f"DebertaV2{kind}", hf.DebertaV2Config(**given)), tmp_path)


@pytest.mark.parametrize("words", [None, "c2p", "p2c|c2p"])
def test_scores_without_distances_keep_their_scale(words, tmp_path):
    """The published code counts the products of pos_att_type even where relative_attention is off."""
    given = SMALL | {"relative_attention": False, "pos_att_type": words}
    check(reference("DebertaV2ForMaskedLM", hf.DebertaV2Config(**given)), tmp_path)


def test_the_newer_head_for_masked_words(tmp_path):
    check(reference("DebertaV2ForMaskedLM", hf.DebertaV2Config(**SMALL, **THIRD, legacy=False)), tmp_path)


def test_a_head_in_the_other_spelling_is_refused():
    plain = SMALL | THIRD | {"architectures": ["DebertaV2ForMaskedLM"]}
    newer = {"lm_predictions.lm_head.dense.weight": (32, 32)}
    with pytest.raises(ValueError, match=r"legacy is true, .* write the other value there"):
        read_config(Keys(plain, tensors=newer))
    assert read_config(Keys(plain | {"legacy": False}, tensors=newer)).head.transform


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"conv_kernel_size": 3}, "a convolution beside the first layer"),
        ({"embedding_size": 16}, "embedding_size is 16, and only 32"),
        ({"pos_att_type": "p2p|c2p"}, "pos_att_type is 'p2p|c2p'; known are c2p, p2c"),
        ({"position_buckets": 1}, "position.buckets must be 0, or at least 2"),
        ({"position_buckets": 100}, "position.max_distance must be at least 52"),
        ({"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd is 'batch_norm'"),
    ],
)
def test_what_is_refused(more, message):
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        read_config(Keys(SMALL | THIRD | more))

"""ModernBERT beside its published implementation."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.modernbert import read_config
from interop.references import BERT, check, reference

SMALL = {key: BERT[key] for key in BERT if "dropout" not in key} | {
    "num_hidden_layers": 4, "bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0, "sep_token_id": 2,
}  # fmt: skip
OTHER = {
    "norm_bias": True, "attention_bias": True, "mlp_bias": True, "classifier_bias": True, "decoder_bias": False,
    "classifier_activation": "relu", "hidden_activation": "silu", "classifier_pooling": "mean", "local_attention": 4,
}  # fmt: skip


@pytest.mark.parametrize("more", [{"local_attention": 6}, OTHER], ids=["as published", "otherwise"])
@pytest.mark.parametrize(
    "kind", ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]
)
def test_agrees(kind, more, tmp_path):
    given = SMALL | more | ({"num_labels": 2} if kind == "ForQuestionAnswering" else {})
    check(reference(f"ModernBert{kind}", hf.ModernBertConfig(**given)), tmp_path)


def test_untied_tables_and_a_list_of_layers(tmp_path):
    kinds = ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]
    config = hf.ModernBertConfig(**SMALL, tie_word_embeddings=False, layer_types=kinds, local_attention=4)
    check(reference("ModernBertForMaskedLM", config), tmp_path)


def test_files_of_the_first_release_say_the_same_in_other_keys():
    plain = {**SMALL, "model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"]}
    old = {"global_attn_every_n_layers": 2, "global_rope_theta": 5e4, "local_rope_theta": 1e3, "local_attention": 8}
    found = read_config(Keys({**plain, **old, "reference_compile": None, "layer_norm_eps": 1e-5}))
    assert (found.attention.window, found.attention.wide) == (4, (0, 2))
    assert (found.position.base, found.position.local_base) == (5e4, 1e3)


def test_scaled_angles_are_refused():
    scaling = {"rope_type": "linear", "factor": 2.0}
    with pytest.raises(ValueError, match="would scale the angles of all layers"):
        read_config(Keys({**SMALL, "model_type": "modernbert", "rope_scaling": scaling}))

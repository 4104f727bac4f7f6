"""Marian beside its published implementation, and the 2017 model handed over as one."""

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from clearformer.interop.hf.marian import as_marian
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.tensor_files import WHOLE
from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig
from clearformer.model.families import transformer
from clearformer.model.weights import put_weights, weights_of
from interop.references import BART, VOCAB, batch, check, close, reference

MARIAN = BART | {"scale_embedding": True, "activation_function": "swish", "forced_eos_token_id": 2}


def test_agrees(tmp_path):
    check(reference("MarianMTModel", hf.MarianConfig(**MARIAN)), tmp_path)


def test_pegasus_has_the_norms_in_front(tmp_path):
    check(reference("PegasusForConditionalGeneration", hf.PegasusConfig(**MARIAN)), tmp_path)


@torch.no_grad()
def test_a_table_for_each_side(tmp_path):
    config = hf.MarianConfig(**MARIAN, share_encoder_decoder_embeddings=False, decoder_vocab_size=VOCAB - 3)
    theirs = reference("MarianMTModel", config)
    theirs.save_pretrained(tmp_path)
    found = read_hugging_face(tmp_path).bundle
    assert (found.config.vocab_size, found.config.target_vocab_size) == (VOCAB, VOCAB - 3)
    (source, keep), (target, _) = batch(12), batch(8)
    target = target.clamp(max=VOCAB - 4)
    expected = theirs(input_ids=source, attention_mask=keep.long(), decoder_input_ids=target).logits
    close(found.model(source, target, source_keep=keep), expected)


def test_waves_that_are_none_are_refused(tmp_path):
    theirs = reference("MarianMTModel", hf.MarianConfig(**MARIAN))
    theirs.save_pretrained(tmp_path)
    tensors = load_file(tmp_path / WHOLE)
    waves = theirs.model.encoder.embed_positions.weight.detach().clone()
    save_file(tensors | {"model.encoder.embed_positions.weight": waves}, tmp_path / WHOLE)
    assert read_hugging_face(tmp_path).aside == {}
    save_file(tensors | {"model.encoder.embed_positions.weight": waves + 0.1}, tmp_path / WHOLE)
    with pytest.raises(ValueError, match=r"encoder\.embed_positions\.weight is not what this family computes"):
        read_hugging_face(tmp_path)


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "output"])
def test_the_2017_model_is_a_marian_with_its_features_reordered(tie):
    config = transformer(
        vocab_size=VOCAB, dim=16, hidden_dim=24, layers=2, heads=4, embedding=EmbeddingConfig(scale=True, tie=tie)
    )
    model = build(config).eval()
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    changed, weights = as_marian(config, weights_of(model))
    assert (changed.position.kind, changed.head.bias) == ("split-sinusoidal", True)
    other = build(changed).eval()
    put_weights(other, weights)
    (source, keep), (target, _) = batch(12), batch(8)
    close(other(source, target, source_keep=keep), model(source, target, source_keep=keep))

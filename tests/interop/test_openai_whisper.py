"""OpenAI's own file of a Whisper: the same model as its copy in the published library, through the closed converter."""

import pytest
import tokenizers
import torch
import transformers as hf

from clearformer.interop.importer import read_checkpoint
from clearformer.interop.openai_whisper import VOCABULARY
from interop.references import reference

VOCAB, FRAMES = 300, 24
MARKS = ("endoftext", "startoftranscript", "en", "translate", "transcribe", "startoflm", "startofprev", "nospeech")
THEIRS = {  # the published library's words, in OpenAI's
    "self_attn.q_proj": "attn.query", "self_attn.k_proj": "attn.key", "self_attn.v_proj": "attn.value",
    "self_attn.out_proj": "attn.out", "self_attn_layer_norm": "attn_ln", "encoder_attn.q_proj": "cross_attn.query",
    "encoder_attn.k_proj": "cross_attn.key", "encoder_attn.v_proj": "cross_attn.value",
    "encoder_attn.out_proj": "cross_attn.out", "encoder_attn_layer_norm": "cross_attn_ln", "fc1": "mlp.0",
    "fc2": "mlp.2", "final_layer_norm": "mlp_ln", "layers.": "blocks.", "embed_tokens": "token_embedding",
    "embed_positions.weight": "positional_embedding", "encoder.layer_norm": "encoder.ln_post",
    "decoder.layer_norm": "decoder.ln",
}  # fmt: skip


def published():
    return reference(
        "WhisperForConditionalGeneration",
        hf.WhisperConfig(
            vocab_size=VOCAB, d_model=128, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=96, decoder_ffn_dim=96,
            encoder_attention_heads=2, decoder_attention_heads=2, num_mel_bins=6, max_source_positions=FRAMES // 2,
            max_target_positions=20, pad_token_id=0, bos_token_id=0, eos_token_id=0, decoder_start_token_id=1,
        ),
        noise=0.05,
    )  # fmt: skip


def written(folder, theirs, *, vocabulary=True, without=""):
    state = {}
    for name, tensor in theirs.model.state_dict().items():
        for word, other in THEIRS.items():
            name = name.replace(word, other)
        if name != without:
            state[name] = tensor.half()
    torch.save({"dims": {"n_mels": 6, "n_audio_head": 2}, "model_state_dict": state}, folder / "tiny.en.pt")
    if vocabulary:
        engine = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={}, merges=[]))
        engine.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        engine.decoder = tokenizers.decoders.ByteLevel()
        engine.train_from_iterator(
            ["a"], tokenizers.trainers.BpeTrainer(initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
        )
        engine.add_special_tokens([f"<|{mark}|>" for mark in (*MARKS, "notimestamps")])
        engine.save(str(folder / VOCABULARY))
    return folder


@torch.no_grad()
def test_the_file_is_the_model(tmp_path):
    theirs = published()
    found = read_checkpoint(written(tmp_path, theirs)).bundle
    theirs.load_state_dict({name: tensor.half().float() for name, tensor in theirs.state_dict().items()})
    frames, target = torch.randn(2, FRAMES, 6), torch.randint(VOCAB, (2, 9))
    expected = theirs(input_features=frames.mT, decoder_input_ids=target).logits
    # Its waves are computed, not read, so they are not rounded to half precision here.
    torch.testing.assert_close(found.model(frames, target), expected, rtol=2e-3, atol=2e-3)
    sound, known = found.preprocessing.sound, found.tokenizer.marks()
    assert known["<|startoftranscript|>"] in sound.never
    assert found.tokenizer.encode("(", add_special=False).ids[0] in sound.never
    assert found.tokenizer.encode("a", add_special=False).ids[0] not in sound.never
    assert sound.never_first[-1] == known["<|endoftext|>"]
    assert sound.tongues == ()


def test_without_its_vocabulary_it_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"tiny\.en\.pt is a Whisper of OpenAI's.*put the tokenizer\.json"):
        read_checkpoint(written(tmp_path, published(), vocabulary=False))


def test_a_tensor_that_is_missing_is_named(tmp_path):
    folder = written(tmp_path, published(), without="decoder.blocks.1.mlp.2.weight")
    with pytest.raises(ValueError, match=r"the weights lack decoder\.blocks\.1\.mlp\.2\.weight"):
        read_checkpoint(folder)


def test_other_tensors_under_its_name_are_refused(tmp_path):
    torch.save({"state_dict": {"w": torch.zeros(2)}}, tmp_path / "base.pt")
    (tmp_path / VOCABULARY).write_text("{}")
    with pytest.raises(ValueError, match="has the name of a Whisper of OpenAI's, but other tensors"):
        read_checkpoint(tmp_path)

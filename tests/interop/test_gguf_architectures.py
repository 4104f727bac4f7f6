"""GGUF files of several architectures say what the same weights say in the published program."""

from pathlib import Path

import gguf as package
import pytest
import torch
import transformers

from clearformer.interop import gguf
from clearformer.interop.gguf_architectures import ARCHITECTURES

VOCAB, DIM, LAYERS = 40, 32, 2
LLAMA = {
    "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": 48, "num_hidden_layers": LAYERS,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
WIDE = {"head_dim": 16}  # not the model's width divided by its heads
CONFIGS = {
    "qwen2": ("Qwen2", LLAMA | {"rms_norm_eps": 1e-4}),
    "qwen3": ("Qwen3", LLAMA | WIDE | {"tie_word_embeddings": True}),
    "gemma": ("Gemma", LLAMA | WIDE),
    "gemma2": ("Gemma2", LLAMA | WIDE | {"query_pre_attn_scalar": 16, "sliding_window": 4}),
    "gpt2": ("GPT2", {"vocab_size": VOCAB, "n_embd": DIM, "n_layer": LAYERS, "n_head": 4, "n_positions": 64}),
}
IDS = [[1, 7, 30, 2, 9, 9, 4, 39, 12]]


def published(arch: str) -> torch.nn.Module:
    """A model of the published program, with no number at its default."""
    torch.manual_seed(11)
    name, sizes = CONFIGS[arch]
    config = getattr(transformers, f"{name}Config")(**sizes, attn_implementation="eager")
    kind = "GPT2LMHeadModel" if arch == "gpt2" else f"{name}ForCausalLM"
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def write(path: Path, arch: str, model: torch.nn.Module, **more) -> Path:
    """As llama.cpp's converter writes it: names of the package's own table, norms and projections as stored."""
    config, out = model.config, package.GGUFWriter(path, arch)
    out.add_context_length(config.max_position_embeddings)
    out.add_embedding_length(config.hidden_size)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(48 if arch != "gpt2" else 4 * DIM)
    out.add_head_count(config.num_attention_heads)
    if arch == "gpt2":
        out.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        out.add_head_count_kv(config.num_key_value_heads)
        out.add_layer_norm_rms_eps(config.rms_norm_eps)
        out.add_key_length(getattr(config, "head_dim", None) or DIM // 4)
        out.add_value_length(getattr(config, "head_dim", None) or DIM // 4)
        out.add_rope_freq_base(10_000.0)
    if arch == "gemma2":
        out.add_attn_logit_softcapping(config.attn_logit_softcapping)
        out.add_final_logit_softcapping(config.final_logit_softcapping)
        out.add_sliding_window(config.sliding_window)
    for method, value in more.items():
        getattr(out, method)(*value)
    names = package.get_tensor_name_map(package.MODEL_ARCH[arch.upper()], LAYERS)
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    for name, value in model.state_dict().items():
        if name.startswith("lm_head") and tied:
            continue
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            value = value + 1
        if arch == "gpt2" and value.dim() == 2 and ".h." in name:
            value = value.T
        out.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), value.contiguous().numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


@pytest.mark.parametrize("arch", CONFIGS)
def test_the_same_weights_say_the_same(arch, tmp_path):
    model = published(arch)
    found = gguf.read(write(tmp_path / "m.gguf", arch, model))
    assert found.aside == {}
    with torch.inference_mode():
        ours, theirs = found.bundle.model(torch.tensor(IDS)), model(torch.tensor(IDS)).logits
    torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4)


def test_every_architecture_is_compared():
    assert CONFIGS.keys() == ARCHITECTURES.keys()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"add_rope_scaling_type": (package.RopeScalingType.YARN,)}, "rope.scaling.type is 'yarn'"),
        ({"add_expert_count": (8,)}, "qwen2.expert_count, which is not known for qwen2 here"),
        ({"add_rope_dimension_count": (4,)}, "rope.dimension_count is 4, and only 8 is read"),
        ({"add_head_count": (0,)}, "at least one head"),
    ],
)
def test_what_is_not_known_is_refused_by_name(more, sentence, tmp_path):
    model = published("qwen2")
    if "add_head_count" in more:
        model.config.num_attention_heads = 0
        more = {}
    with pytest.raises(ValueError, match=sentence):
        gguf.read(write(tmp_path / "m.gguf", "qwen2", model, **more))


@pytest.mark.parametrize("arch", ["gemma3", "falcon", "phi3", "bloom", "starcoder2", "gptneox", "bert", "mamba"])
def test_an_architecture_that_is_not_read_is_named_with_a_remedy(arch, tmp_path):
    out = package.GGUFWriter(tmp_path / "m.gguf", arch)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.close()
    with pytest.raises(ValueError, match=f"holds a '{arch}'; read from GGUF are llama, qwen2, .*own checkpoint"):
        gguf.read(tmp_path / "m.gguf")


def test_a_tensor_that_is_too_much_is_named(tmp_path):
    import numpy as np

    path = write(tmp_path / "m.gguf", "qwen2", published("qwen2"), add_tensor=("blk.0.odd.weight", np.ones((2, 2))))
    with pytest.raises(ValueError, match=r"blk\.0\.odd\.weight too many"):
        gguf.read(path)

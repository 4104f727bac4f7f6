"""GGUF files of other architectures than llama: their facts and tensors under the names of the published checkpoint.

What a family's mathematics is, `interop/hf` says already; here stands what a GGUF file calls each part, and what its
writer changed in the numbers: norms of Gemma are stored one higher, and GPT-2's projections the other way round.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.model_types import family_of, prefix_of
from clearformer.interop.imported import assemble
from clearformer.interop.renaming import Shape
from clearformer.model.config import ModelConfig

_LLAMA_SIZES = {
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "context_length": "max_position_embeddings",
    "rope.freq_base": "rope_theta",
}
_LLAMA_ENDS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_LLAMA_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_SANDWICH = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_GEMMA2_LAYERS_OF_THE_LARGEST = 46  # 27B divides its scores by the width of a head as the model's width gives it


class _TensorFile(Protocol):
    """What is needed of a GGUF file."""

    path: Path
    facts: dict[str, Any]

    @property
    def shapes(self) -> Mapping[str, Shape]: ...

    def read(self, name: str) -> Tensor: ...


def _unchanged(name: str, value: Tensor) -> Tensor:
    return value


def _norms_from_one(name: str, value: Tensor) -> Tensor:
    return value - 1 if name.endswith("norm.weight") else value


def _other_way_round(name: str, value: Tensor) -> Tensor:
    return value.mT if value.dim() == 2 and name.startswith("h.") else value


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """What a GGUF file calls the parts of a family.

    sizes: its keys and the published ones. ends, layer: its tensors, without .weight and .bias. under: where the
    published layers stand. said: what the published configuration says and the file does not. undo: takes back what the
    writer of the file changed in a tensor.
    """

    model_type: str
    name: str  # of the published class
    sizes: Mapping[str, str]
    ends: Mapping[str, str] = field(default_factory=lambda: _LLAMA_ENDS)
    layer: Mapping[str, str] = field(default_factory=lambda: _LLAMA_LAYER)
    under: str = "model.layers"
    said: Mapping[str, Any] = field(default_factory=dict)
    undo: Callable[[str, Tensor], Tensor] = _unchanged


_GEMMA = _LLAMA_SIZES | {"attention.key_length": "head_dim"}
ARCHITECTURES = {
    "qwen2": Architecture(model_type="qwen2", name="Qwen2ForCausalLM", sizes=_LLAMA_SIZES),
    "qwen3": Architecture(
        model_type="qwen3",
        name="Qwen3ForCausalLM",
        sizes=_LLAMA_SIZES | {"attention.key_length": "head_dim"},
        layer=_LLAMA_LAYER | {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"},
    ),
    "gemma": Architecture(
        model_type="gemma",
        name="GemmaForCausalLM",
        sizes=_GEMMA,
        said={"hidden_act": "gelu_pytorch_tanh", "rope_theta": 10_000.0},
        undo=_norms_from_one,
    ),
    "gemma2": Architecture(
        model_type="gemma2",
        name="Gemma2ForCausalLM",
        sizes=_GEMMA
        | {
            "attn_logit_softcapping": "attn_logit_softcapping",
            "final_logit_softcapping": "final_logit_softcapping",
            "attention.sliding_window": "sliding_window",
        },
        layer=_LLAMA_LAYER | _SANDWICH,
        said={"hidden_activation": "gelu_pytorch_tanh", "rope_theta": 10_000.0},
        undo=_norms_from_one,
    ),
    "gpt2": Architecture(
        model_type="gpt2",
        name="GPT2LMHeadModel",
        sizes={
            "embedding_length": "n_embd",
            "block_count": "n_layer",
            "feed_forward_length": "n_inner",
            "attention.head_count": "n_head",
            "attention.layer_norm_epsilon": "layer_norm_epsilon",
            "context_length": "n_positions",
        },
        ends={"token_embd": "wte", "position_embd": "wpe", "output_norm": "ln_f", "output": "lm_head"},
        layer={
            "attn_norm": "ln_1",
            "attn_qkv": "attn.c_attn",
            "attn_output": "attn.c_proj",
            "ffn_norm": "ln_2",
            "ffn_up": "mlp.c_fc",
            "ffn_down": "mlp.c_proj",
        },
        under="h",
        said={"activation_function": "gelu_new"},
        undo=_other_way_round,
    ),
}
READ = ("llama", *ARCHITECTURES)


def read(file: _TensorFile) -> tuple[ModelConfig, nn.Module, dict[str, str]]:
    """The configuration, the model, and the tensors that it does not use, with the reason."""
    kind = file.facts.get("general.architecture")
    if kind not in ARCHITECTURES:
        raise ValueError(
            f"{file.path} holds a {kind!r}; read from GGUF are {', '.join(READ)}; take the model's own checkpoint, "
            "safetensors with config.json"
        )
    told, store = ARCHITECTURES[kind], _Renamed(file, ARCHITECTURES[kind])
    plain = _published(file, kind, told)
    family = family_of(plain)
    config = family.read_config(Keys(plain, str(file.path), store.shapes))
    model, aside = assemble(config, family.names(config), store, prefix_of(family, config.family))
    return config, model, aside


def _published(file: _TensorFile, kind: str, told: Architecture) -> dict[str, Any]:
    """The file's facts as a published config.json says them; a fact that nobody knows is refused."""
    begin = f"{kind}."
    facts = {key.removeprefix(begin): value for key, value in file.facts.items() if key.startswith(begin)}
    table = file.shapes.get("token_embd.weight", ())
    if len(table) != 2:
        raise ValueError(f"{file.path} has no matrix token_embd.weight, which every model has")
    plain = {theirs: facts.pop(ours) for ours, theirs in told.sizes.items() if ours in facts}
    wanted = [ours for ours, theirs in told.sizes.items() if theirs not in plain and theirs not in _MAY_LACK]
    if wanted:
        raise ValueError(f"{file.path} does not say {begin}{wanted[0]}; download it again")
    heads = _head_width(plain, table[1])
    for key, only in {"attention.key_length": heads, "attention.value_length": heads, "rope.dimension_count": heads,
                      "vocab_size": table[0], "rope.scaling.type": "none"}.items():  # fmt: skip
        if (value := facts.pop(key, only)) != only:
            raise ValueError(f"{file.path}: {begin}{key} is {value!r}, and only {only!r} is read")
    if facts:
        raise ValueError(f"{file.path} says {begin}{next(iter(facts))}, which is not known for {kind} here")
    if kind == "gemma2":
        largest = plain["num_hidden_layers"] == _GEMMA2_LAYERS_OF_THE_LARGEST
        plain["query_pre_attn_scalar"] = table[1] // plain["num_attention_heads"] if largest else heads
    return {
        **told.said,
        **plain,
        "model_type": told.model_type,
        "architectures": [told.name],
        "vocab_size": table[0],
        "tie_word_embeddings": "output.weight" not in file.shapes,
    }


_MAY_LACK = ("num_key_value_heads", "head_dim", "rope_theta", "sliding_window", "n_inner",
             "attn_logit_softcapping", "final_logit_softcapping")  # fmt: skip


def _head_width(plain: Mapping[str, Any], dim: int) -> int:
    """How wide a head is: as the file says, or as many features as each gets."""
    heads = plain.get("num_attention_heads", plain.get("n_head"))
    if not isinstance(heads, int) or heads < 1:
        raise ValueError(f"a model has at least one head, not {heads!r}; download the file again")
    return int(plain.get("head_dim") or dim // heads)


class _Renamed:
    """The tensors of a GGUF file under their published names."""

    def __init__(self, file: _TensorFile, told: Architecture) -> None:
        self._file, self._told = file, told
        self._theirs = {self._name(name): name for name in file.shapes}

    @property
    def shapes(self) -> Mapping[str, Shape]:
        turned = self._told.undo is _other_way_round
        return {
            name: shape[::-1] if turned and len(shape) == 2 and name.startswith("h.") else shape
            for name, shape in ((name, self._file.shapes[theirs]) for name, theirs in self._theirs.items())
        }

    def read(self, name: str) -> Tensor:
        return self._told.undo(name, self._file.read(self._theirs[name]))

    def _name(self, name: str) -> str:
        """A tensor that has no other name keeps its own, so that an error can say it."""
        stem, dot, kind = name.rpartition(".")
        if stem.startswith("blk.") and stem.count(".") == 2:
            _, number, part = stem.split(".")
            known = self._told.layer.get(part)
            return name if known is None else f"{self._told.under}.{number}.{known}{dot}{kind}"
        return f"{self._told.ends[stem]}{dot}{kind}" if stem in self._told.ends else name

"""Random configurations of every family: not the ones that somebody thought of, but any that the library accepts.

A family is a function from a generator of chance to the name of a class of theirs and its configuration. Sizes are
tiny; every choice that a published configuration has is drawn, those that change the mathematics mostly away from their
defaults.
"""

import random
from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

from interop.references import PAD, VOCAB

LIMIT = 32
Drawn = tuple[str, Any]
ACTIVATIONS = ("relu", "gelu", "gelu_new", "silu", "gelu_pytorch_tanh")


def sizes(chance: random.Random) -> dict[str, Any]:
    """Heads that may be shared, wide or narrow; uneven widths."""
    heads, groups = chance.choice([(2, 1), (2, 2), (4, 2), (3, 1), (4, 1), (3, 3)])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * chance.choice([4, 6, 8]), "num_attention_heads": heads,
        "num_key_value_heads": groups, "intermediate_size": chance.choice([7, 12, 20]),
        "num_hidden_layers": chance.choice([1, 2, 3, 5]), "max_position_embeddings": LIMIT, "pad_token_id": PAD,
        "tie_word_embeddings": chance.random() < 0.5, "rms_norm_eps": chance.choice([1e-6, 1e-3, 0.1]),
        "bos_token_id": 0, "eos_token_id": 2,
    }  # fmt: skip


def rope(chance: random.Random, *kinds: str) -> dict[str, Any]:
    """Angles of one of these kinds."""
    kind = chance.choice(kinds or ("default", "linear", "llama3"))
    table: dict[str, Any] = {"rope_type": kind, "rope_theta": chance.choice([100.0, 10_000.0, 500_000.0])}
    if kind != "default":
        table["factor"] = chance.choice([1.5, 2.0, 8.0])
    if kind == "llama3":
        low = chance.choice([0.5, 1.0, 2.0])
        table |= {"low_freq_factor": low, "high_freq_factor": low * chance.choice([2.0, 4.0])}
        table["original_max_position_embeddings"] = chance.choice([4, 8, 16])
    return table


def layer_types(chance: random.Random, layers: int) -> list[str]:
    return [chance.choice(["sliding_attention", "full_attention"]) for _ in range(layers)]


def llama(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"hidden_act": chance.choice(ACTIVATIONS), "rope_parameters": rope(chance)}
    given |= {"attention_bias": chance.random() < 0.5, "mlp_bias": chance.random() < 0.5}
    if chance.random() < 0.4:
        given["head_dim"] = chance.choice([4, 8, 10])
    return task(chance, "Llama"), hf.LlamaConfig(**given, num_labels=3)


def mistral(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"hidden_act": chance.choice(ACTIVATIONS), "rope_parameters": rope(chance)}
    return task(chance, "Mistral"), hf.MistralConfig(
        **given, sliding_window=chance.choice([None, 1, 3, 6]), head_dim=chance.choice([None, 4, 8]), num_labels=3
    )


def in_fours(given: dict[str, Any]) -> dict[str, Any]:
    """The library multiplies the matrices of all experts at once, by a kernel that takes widths in fours."""
    width = given["num_attention_heads"] * 4
    return given | {"hidden_size": width * -(-given["hidden_size"] // width), "intermediate_size": 12}


def mixtral(chance: random.Random) -> Drawn:
    given = in_fours(sizes(chance)) | {"hidden_act": chance.choice(ACTIVATIONS), "rope_parameters": rope(chance)}
    given |= {"num_local_experts": chance.choice([2, 3, 5, 8]), "num_experts_per_tok": chance.choice([1, 2])}
    return task(chance, "Mixtral"), hf.MixtralConfig(
        **given, sliding_window=chance.choice([None, 1, 4]), head_dim=chance.choice([None, 4, 8]), num_labels=3
    )


def qwen3_moe(chance: random.Random) -> Drawn:
    given = in_fours(sizes(chance)) | {"hidden_act": chance.choice(ACTIVATIONS), "rope_parameters": rope(chance)}
    given |= {"num_experts": chance.choice([2, 3, 6]), "num_experts_per_tok": chance.choice([1, 2])}
    given |= {"moe_intermediate_size": chance.choice([8, 12]), "norm_topk_prob": chance.random() < 0.5}
    given |= {"head_dim": chance.choice([4, 8, 12]), "attention_bias": chance.random() < 0.5}
    given |= {"use_sliding_window": chance.random() < 0.5, "sliding_window": chance.choice([1, 3, 5])}
    return task(chance, "Qwen3Moe"), hf.Qwen3MoeConfig(**given, num_labels=3)


def qwen2(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"rope_parameters": rope(chance), "hidden_act": chance.choice(ACTIVATIONS)}
    return task(chance, "Qwen2"), hf.Qwen2Config(**given | windows(chance, given["num_hidden_layers"]), num_labels=3)


def qwen3(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"rope_parameters": rope(chance), "hidden_act": chance.choice(ACTIVATIONS)}
    given |= {"head_dim": chance.choice([4, 8, 12]), "attention_bias": chance.random() < 0.5}
    return task(chance, "Qwen3"), hf.Qwen3Config(**given | windows(chance, given["num_hidden_layers"]), num_labels=3)


def windows(chance: random.Random, layers: int) -> dict[str, Any]:
    given: dict[str, Any] = {"use_sliding_window": chance.random() < 0.7, "sliding_window": chance.choice([1, 3, 5])}
    given["max_window_layers"] = chance.randint(0, layers)
    if given["use_sliding_window"] and chance.random() < 0.4:
        given["layer_types"] = layer_types(chance, layers)
    return given


def gemma(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"head_dim": chance.choice([4, 8, 12]), "rope_parameters": rope(chance)}
    given |= {"hidden_act": chance.choice(ACTIVATIONS), "attention_bias": chance.random() < 0.3}
    return "GemmaForCausalLM", hf.GemmaConfig(**given)


def gemma2(chance: random.Random) -> Drawn:
    return "Gemma2ForCausalLM", hf.Gemma2Config(**_later_gemma(chance), rope_parameters=rope(chance))


def gemma3(chance: random.Random) -> Drawn:
    both = {"full_attention": rope(chance), "sliding_attention": rope(chance, "default")}
    given = _later_gemma(chance) | {"attn_logit_softcapping": None}  # set, the library ignores it; we refuse
    if "layer_types" not in given and chance.random() < 0.5:
        given["sliding_window_pattern"] = chance.choice([2, 3])
    return "Gemma3ForCausalLM", hf.Gemma3TextConfig(**given, rope_parameters=both)


def _later_gemma(chance: random.Random) -> dict[str, Any]:
    given = sizes(chance) | {
        "head_dim": chance.choice([4, 8, 12]), "hidden_activation": chance.choice(ACTIVATIONS),
        "attention_bias": chance.random() < 0.3, "query_pre_attn_scalar": chance.choice([3, 8, 30]),
        "sliding_window": chance.choice([1, 3, 5]), "attn_logit_softcapping": chance.choice([None, 0.7, 5.0]),
        "final_logit_softcapping": chance.choice([None, 0.9, 4.0]),
    }  # fmt: skip
    return given | ({"layer_types": layer_types(chance, given["num_hidden_layers"])} if chance.random() < 0.5 else {})


def smollm3(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"hidden_act": chance.choice(ACTIVATIONS), "rope_parameters": rope(chance)}
    given |= {"attention_bias": chance.random() < 0.5, "mlp_bias": chance.random() < 0.5}
    given |= {"use_sliding_window": chance.random() < 0.5, "sliding_window": chance.choice([2, 4])}
    given["no_rope_layer_interval"] = chance.choice([1, 2, 3])
    if chance.random() < 0.4:
        given["no_rope_layers"] = [chance.randint(0, 1) for _ in range(given["num_hidden_layers"])]
    return task(chance, "SmolLM3"), hf.SmolLM3Config(**given, num_labels=3)


def phi3(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"hidden_act": chance.choice(ACTIVATIONS)}
    angles = rope(chance, "default") | {"partial_rotary_factor": chance.choice([1.0, 0.5])}
    width = given["hidden_size"] // given["num_attention_heads"]
    if angles["partial_rotary_factor"] == 0.5 and width % 4:
        angles["partial_rotary_factor"] = 1.0
    return task(chance, "Phi3"), hf.Phi3Config(
        **given, rope_parameters=angles, sliding_window=chance.choice([None, 2, 5]), num_labels=3
    )


def gpt_neox(chance: random.Random) -> Drawn:
    given = sizes(chance)
    del given["num_key_value_heads"], given["rms_norm_eps"]
    width = given["hidden_size"] // given["num_attention_heads"]
    angles = rope(chance) | {"partial_rotary_factor": chance.choice([2, width]) / width}
    return chance.choice(["GPTNeoXForCausalLM", "GPTNeoXModel", "GPTNeoXForTokenClassification"]), hf.GPTNeoXConfig(
        **given, rope_parameters=angles, layer_norm_eps=chance.choice([1e-5, 0.1]), num_labels=3,
        use_parallel_residual=chance.random() < 0.6, attention_bias=chance.random() < 0.6,
        hidden_act=chance.choice(ACTIVATIONS),
    )  # fmt: skip


def opt(chance: random.Random) -> Drawn:
    given, kind = sizes(chance), chance.choice(["OPTForCausalLM", "OPTModel"])
    narrow = kind == "OPTForCausalLM" and chance.random() < 0.5
    width = chance.choice([3, 5, 40]) if narrow else given["hidden_size"]
    return kind, hf.OPTConfig(
        vocab_size=VOCAB, hidden_size=given["hidden_size"], word_embed_proj_dim=width,
        ffn_dim=given["intermediate_size"], num_hidden_layers=given["num_hidden_layers"],
        num_attention_heads=given["num_attention_heads"], max_position_embeddings=LIMIT, pad_token_id=PAD,
        do_layer_norm_before=chance.random() < 0.6, enable_bias=chance.random() < 0.6, dropout=0.0,
        activation_function=chance.choice(ACTIVATIONS), tie_word_embeddings=given["tie_word_embeddings"],
    )  # fmt: skip


def bloom(chance: random.Random) -> Drawn:
    heads = chance.choice([1, 2, 3, 5, 6, 8])
    return chance.choice(["BloomForCausalLM", "BloomModel", "BloomForTokenClassification"]), hf.BloomConfig(
        vocab_size=VOCAB, hidden_size=heads * chance.choice([4, 5]), n_layer=chance.choice([1, 2, 4]), n_head=heads,
        layer_norm_epsilon=chance.choice([1e-5, 0.1]), tie_word_embeddings=chance.random() < 0.5, num_labels=3,
        pad_token_id=PAD,
    )  # fmt: skip


def modernbert(chance: random.Random) -> Drawn:
    given = sizes(chance)
    for key in ("num_key_value_heads", "rms_norm_eps"):
        del given[key]
    near = {"rope_type": "default", "rope_theta": chance.choice([50.0, 10_000.0])}
    given["rope_parameters"] = {"full_attention": rope(chance), "sliding_attention": near}
    for key in ("norm_bias", "attention_bias", "mlp_bias", "classifier_bias", "decoder_bias"):
        given[key] = chance.random() < 0.5
    given |= {"local_attention": chance.choice([2, 3, 4, 8]), "norm_eps": chance.choice([1e-5, 0.1])}
    given |= {"hidden_activation": chance.choice(ACTIVATIONS), "classifier_activation": chance.choice(ACTIVATIONS)}
    given |= {"classifier_pooling": chance.choice(["cls", "mean"]), "cls_token_id": 0, "sep_token_id": 2}
    if chance.random() < 0.5:
        given["layer_types"] = layer_types(chance, given["num_hidden_layers"])
    kind = chance.choice(["ForMaskedLM", "ForMaskedLM", "Model", "ForTokenClassification", "ForQuestionAnswering"])
    return f"ModernBert{kind}", hf.ModernBertConfig(**given, num_labels=2)


def deberta(chance: random.Random) -> Drawn:
    given = sizes(chance)
    for key in ("num_key_value_heads", "rms_norm_eps", "tie_word_embeddings"):
        del given[key]
    words = chance.choice([["c2p"], ["p2c"], ["p2c", "c2p"], ["c2p", "p2c"], "p2c|c2p", "C2P", None, []])
    given |= {"pos_att_type": words, "relative_attention": chance.random() < 0.85}
    given |= {"hidden_act": chance.choice(ACTIVATIONS), "layer_norm_eps": chance.choice([1e-7, 1e-3, 0.1])}
    given |= {"position_buckets": chance.choice([-1, 0, 2, 3, 4, 7, 8]), "share_att_key": chance.random() < 0.6}
    given |= {"max_relative_positions": chance.choice([-1, 0, 8, 12, 40]), "type_vocab_size": chance.choice([0, 1, 2])}
    given |= {"norm_rel_ebd": chance.choice(["none", "layer_norm"]), "position_biased_input": chance.random() < 0.5}
    given |= {"pooler_hidden_act": chance.choice(ACTIVATIONS), "legacy": chance.random() < 0.5, "num_labels": 2}
    ends = ["ForMaskedLM", "ForMaskedLM", "Model", "ForTokenClassification", "ForQuestionAnswering"]
    return f"DebertaV2{chance.choice([*ends, 'ForSequenceClassification'])}", hf.DebertaV2Config(**given)


def task(chance: random.Random, start: str) -> str:
    """Mostly a language model; sometimes without a head, or with another."""
    ends = ["ForCausalLM"] * 4 + ["Model", "ForTokenClassification"]
    return start + chance.choice(ends)


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {
    one.__name__: one
    for one in (
        *(llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gemma2, gemma3, smollm3, phi3, gpt_neox, opt, bloom),
        *(modernbert, deberta),
    )
}


def drawn(family: str, number: int) -> Any:
    """A model of theirs by its number: the same one every time, with no weight at its default."""
    return made(FAMILIES[family], f"{family} {number}", number)


@torch.no_grad()
def made(draw: Callable[[random.Random], Drawn], seed: str, number: int) -> Any:
    """The first configuration by this seed that the library accepts, with random weights, norms and biases too."""
    chance = random.Random(seed)
    while True:
        try:
            kind, config = draw(chance)
            break
        except ValueError:  # the library refuses this one
            continue
    config.architectures = [kind]
    torch.manual_seed(number)
    model = getattr(hf, kind)(config).eval()
    for parameter in filter(lambda one: one.requires_grad, model.parameters()):  # fixed waves stay what they are
        parameter.add_(chance.choice([0.2, 0.4]) * torch.randn_like(parameter))
    return model

"""Every family beside its published implementation: the same weights, the same numbers to 1e-5, with padding.

A family is two configurations and one table of names, ours to theirs. `*` is the number of a layer, `[i]` the i-th
third of a joint projection. Every tensor of both models must be used, so no table can be silently incomplete.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig, FrontConfig, HeadConfig, ModelConfig, PositionConfig
from clearformer.model.families import FAMILIES

hf.logging.set_verbosity_error()

VOCAB, DIM, HIDDEN, LAYERS, HEADS, LIMIT, PAD, MELS = 29, 32, 48, 2, 4, 40, 1, 6
OURS = {"vocab_size": VOCAB, "dim": DIM, "hidden_dim": HIDDEN, "layers": LAYERS, "heads": HEADS, "max_len": LIMIT}
BERT = {
    "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "max_position_embeddings": LIMIT, "pad_token_id": PAD,
}  # fmt: skip
BART = {
    "vocab_size": VOCAB, "d_model": DIM, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_ffn_dim": HIDDEN,
    "decoder_ffn_dim": HIDDEN, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "pad_token_id": PAD,
    "max_position_embeddings": LIMIT, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip
T5 = {
    "vocab_size": VOCAB, "d_model": DIM, "d_kv": 12, "d_ff": HIDDEN, "num_layers": LAYERS, "num_heads": HEADS,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12, "pad_token_id": PAD,
}  # fmt: skip
ROBERTA = BERT | {"max_position_embeddings": LIMIT + 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
ALBERT = BERT | {"embedding_size": 16}
DISTILBERT = {
    "vocab_size": VOCAB, "dim": DIM, "hidden_dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS,
    "max_position_embeddings": LIMIT, "pad_token_id": PAD,
}  # fmt: skip
VIT = BERT | {"image_size": 8, "patch_size": 4, "num_labels": 5}
GPT2 = {
    "vocab_size": VOCAB, "n_embd": DIM, "n_inner": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_positions": LIMIT,
    "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip
STRETCHED = {"rope_type": "linear", "factor": 4.0, "rope_theta": 5000.0}
WHISPER = BART | {"num_mel_bins": MELS, "max_source_positions": 12, "max_target_positions": LIMIT}
NARROW = EmbeddingConfig(dim=16, types=2, norm=True)
MASKED_WORDS = HeadConfig(transform=True, bias=True)
T5_OURS = OURS | {"head_dim": 12, "position": PositionConfig(kind="buckets", buckets=8, max_distance=12)}

# ---- names ----------------------------------------------------------------------------------------------------------


def under(prefixes: tuple[str, str], names: dict[str, str]) -> dict[str, str]:
    """The same table one level further down on both sides."""
    ours, theirs = prefixes
    return {f"{ours}.{mine}": f"{theirs}.{name}" for mine, name in names.items()}


def attention(ours: str, theirs: str, q: str, k: str, v: str, out: str) -> dict[str, str]:
    return under((ours, theirs), {"q_proj": q, "k_proj": k, "v_proj": v, "out_proj": out})


BERT_LAYER = {
    **attention("self_attn", "attention", "self.query", "self.key", "self.value", "output.dense"),
    "self_attn_residual.after": "attention.output.LayerNorm",
    "ffn.up_proj": "intermediate.dense",
    "ffn.down_proj": "output.dense",
    "ffn_residual.after": "output.LayerNorm",
}
BERT_FRONT = {
    "encoder.front.embed": "embeddings.word_embeddings",
    "encoder.front.type_embed": "embeddings.token_type_embeddings",
    "encoder.front.norm": "embeddings.LayerNorm",
}
BERT_POSITIONS = {"encoder.front.position.table": "embeddings.position_embeddings"}
BERT_BODY = BERT_FRONT | BERT_POSITIONS | under(("encoder.layers.*", "encoder.layer.*"), BERT_LAYER)
DISTILBERT_LAYER = {
    **attention("self_attn", "attention", "q_lin", "k_lin", "v_lin", "out_lin"),
    "self_attn_residual.after": "sa_layer_norm",
    "ffn.up_proj": "ffn.lin1",
    "ffn.down_proj": "ffn.lin2",
    "ffn_residual.after": "output_layer_norm",
}
ALBERT_LAYER = {
    **attention("self_attn", "attention", "query", "key", "value", "dense"),
    "self_attn_residual.after": "attention.LayerNorm",
    "ffn.up_proj": "ffn",
    "ffn.down_proj": "ffn_output",
    "ffn_residual.after": "full_layer_layer_norm",
}
ALBERT_BODY = {
    **BERT_FRONT,
    **BERT_POSITIONS,
    "encoder.front.widen": "encoder.embedding_hidden_mapping_in",
    **under(("encoder.layers.*", "encoder.albert_layer_groups.0.albert_layers.0"), ALBERT_LAYER),
}
VIT_LAYER = {
    **attention("self_attn", "attention", "q_proj", "k_proj", "v_proj", "o_proj"),
    "self_attn_residual.before": "layernorm_before",
    "ffn.up_proj": "mlp.fc1",
    "ffn.down_proj": "mlp.fc2",
    "ffn_residual.before": "layernorm_after",
}
GPT2_LAYER = {
    **attention("self_attn", "attn", "c_attn[0]", "c_attn[1]", "c_attn[2]", "c_proj"),
    "self_attn_residual.before": "ln_1",
    "ffn.up_proj": "mlp.c_fc",
    "ffn.down_proj": "mlp.c_proj",
    "ffn_residual.before": "ln_2",
}
LLAMA_LAYER = {
    **attention("self_attn", "self_attn", "q_proj", "k_proj", "v_proj", "o_proj"),
    "self_attn_residual.before": "input_layernorm",
    **under(("ffn", "mlp"), {name: name for name in ("gate_proj", "up_proj", "down_proj")}),
    "ffn_residual.before": "post_attention_layernorm",
}
LLAMA = {
    "decoder.front.embed": "model.embed_tokens",
    **under(("decoder.layers.*", "model.layers.*"), LLAMA_LAYER),
    "decoder.norm": "model.norm",
    "head.table": "lm_head.weight",
}


def fairseq_layers(slot: str) -> dict[str, str]:
    """BART, Marian and Whisper name their layers alike; the slot is where the norm stands."""
    layer = {
        "self_attn": "self_attn", f"self_attn_residual.{slot}": "self_attn_layer_norm", "ffn.up_proj": "fc1",
        "ffn.down_proj": "fc2", f"ffn_residual.{slot}": "final_layer_norm",
    }  # fmt: skip
    cross = {"cross_attn": "encoder_attn", f"cross_attn_residual.{slot}": "encoder_attn_layer_norm"}
    return under(("encoder.layers.*", "model.encoder.layers.*"), layer) | under(
        ("decoder.layers.*", "model.decoder.layers.*"), layer | cross
    )


def both_stacks(ours: str, theirs: str) -> dict[str, str]:
    return {f"{stack}.{ours}": f"model.{stack}.{theirs}" for stack in ("encoder", "decoder")}


def t5_names(ffn: dict[str, str]) -> dict[str, str]:
    names = {"encoder.front.embed": "shared", "decoder.front.embed": "shared", "head.table": "lm_head.weight"}
    for stack, last in (("encoder", 1), ("decoder", 2)):
        first = f"{stack}.block.0.layer.0"
        layer = {
            **attention("self_attn", "layer.0.SelfAttention", "q", "k", "v", "o"),
            "self_attn_residual.before": "layer.0.layer_norm",
            **under(("ffn", f"layer.{last}.DenseReluDense"), ffn),
            "ffn_residual.before": f"layer.{last}.layer_norm",
        }
        if stack == "decoder":
            layer |= attention("cross_attn", "layer.1.EncDecAttention", "q", "k", "v", "o")
            layer |= {"cross_attn_residual.before": "layer.1.layer_norm"}
        names |= under((f"{stack}.layers.*", f"{stack}.block.*"), layer)
        names |= {f"{stack}.layers.*.self_attn.position.table": f"{first}.SelfAttention.relative_attention_bias"}
        names |= {f"{stack}.norm": f"{stack}.final_layer_norm"}
    return names


# ---- families -------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Their model, our configuration, and the names of one in the other."""

    theirs: Callable[[], nn.Module]
    ours: ModelConfig
    names: dict[str, str]


def ours(family: str, **choices: Any) -> ModelConfig:
    return FAMILIES[family](**OURS | choices)


PAIRS = {
    "bert": Pair(
        lambda: hf.BertModel(hf.BertConfig(**BERT)),
        ours("bert"),
        BERT_BODY | {"head.pooler": "pooler.dense"},
    ),
    "bert, masked words": Pair(
        lambda: hf.BertForMaskedLM(hf.BertConfig(**BERT)),
        ours("bert", head=MASKED_WORDS),
        {name: f"bert.{theirs}" for name, theirs in BERT_BODY.items()}
        | under(("head.transform", "cls.predictions.transform"), {"0": "dense", "2": "LayerNorm"})
        | {"head.table": "cls.predictions.decoder.weight", "head.bias": "cls.predictions.bias"},
    ),
    "roberta": Pair(
        lambda: hf.RobertaModel(hf.RobertaConfig(**ROBERTA)),
        ours("roberta"),
        BERT_BODY | {"head.pooler": "pooler.dense"},
    ),
    "distilbert": Pair(
        lambda: hf.DistilBertModel(hf.DistilBertConfig(**DISTILBERT)),
        ours("distilbert"),
        {"encoder.front.embed": "embeddings.word_embeddings", "encoder.front.norm": "embeddings.LayerNorm"}
        | BERT_POSITIONS
        | under(("encoder.layers.*", "transformer.layer.*"), DISTILBERT_LAYER),
    ),
    "albert": Pair(
        lambda: hf.AlbertModel(hf.AlbertConfig(**ALBERT)),
        ours("albert", embedding=NARROW),
        ALBERT_BODY | {"head.pooler": "pooler"},
    ),
    "albert, masked words": Pair(
        lambda: hf.AlbertForMaskedLM(hf.AlbertConfig(**ALBERT)),
        ours("albert", embedding=NARROW, head=MASKED_WORDS),
        {name: f"albert.{theirs}" for name, theirs in ALBERT_BODY.items()}
        | under(("head.transform", "predictions"), {"0": "dense", "2": "LayerNorm"})
        | {"head.table": "predictions.decoder.weight", "head.bias": "predictions.bias"},
    ),
    "roformer": Pair(
        lambda: hf.RoFormerModel(hf.RoFormerConfig(**BERT)),
        ours("roformer", head=HeadConfig(kind="states")),
        BERT_FRONT | under(("encoder.layers.*", "encoder.layer.*"), BERT_LAYER),
    ),
    "vit": Pair(
        lambda: hf.ViTForImageClassification(hf.ViTConfig(**VIT)),
        ours("vit", front=FrontConfig(kind="patches", picture=8, patch=4), head=HeadConfig(kind="class", labels=5)),
        {
            "encoder.front.class_token": "vit.embeddings.cls_token",
            "encoder.front.position.table.weight": "vit.embeddings.position_embeddings",
            "encoder.front.patch_proj": "vit.embeddings.patch_embeddings.projection",
            **under(("encoder.layers.*", "vit.layers.*"), VIT_LAYER),
            "encoder.norm": "vit.layernorm",
            "head.classify": "classifier",
        },
    ),
    "gpt2": Pair(
        lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**GPT2)),
        ours("gpt2"),
        {
            "decoder.front.embed": "transformer.wte",
            "decoder.front.position.table": "transformer.wpe",
            **under(("decoder.layers.*", "transformer.h.*"), GPT2_LAYER),
            "decoder.norm": "transformer.ln_f",
            "head.table": "lm_head.weight",
        },
    ),
    "llama": Pair(lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**BERT, rms_norm_eps=1e-5)), ours("llama"), LLAMA),
    "llama, grouped queries and stretched positions": Pair(
        lambda: hf.LlamaForCausalLM(
            hf.LlamaConfig(**BERT, rms_norm_eps=1e-5, num_key_value_heads=2, rope_parameters=STRETCHED)
        ),
        ours("llama", kv_heads=2, position=PositionConfig(kind="rotary", base=5000.0, scaling="linear", factor=4.0)),
        LLAMA,
    ),
    "bart": Pair(
        lambda: hf.BartForConditionalGeneration(hf.BartConfig(**BART)),
        ours("bart"),
        both_stacks("front.embed", "embed_tokens")
        | both_stacks("front.position.table", "embed_positions")
        | both_stacks("front.norm", "layernorm_embedding")
        | fairseq_layers("after")
        | {"head.table": "lm_head.weight", "head.bias": "final_logits_bias"},
    ),
    "marian": Pair(
        lambda: hf.MarianMTModel(hf.MarianConfig(**BART, activation_function="swish", scale_embedding=True)),
        ours("marian"),
        both_stacks("front.embed", "embed_tokens")
        | fairseq_layers("after")
        | {"head.table": "lm_head.weight", "head.bias": "final_logits_bias"},
    ),
    "t5": Pair(
        lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5)),
        FAMILIES["t5"](**T5_OURS),
        t5_names({"up_proj": "wi", "down_proj": "wo"}),
    ),
    "t5 1.1, gated and untied": Pair(
        lambda: hf.T5ForConditionalGeneration(
            hf.T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
        ),
        FAMILIES["t5"](
            **T5_OURS, gated=True, activation="gelu-tanh", embedding=EmbeddingConfig(tie="inputs"), head=HeadConfig()
        ),
        t5_names({"gate_proj": "wi_0", "up_proj": "wi_1", "down_proj": "wo"}),
    ),
    "whisper": Pair(
        lambda: hf.WhisperForConditionalGeneration(hf.WhisperConfig(**WHISPER)),
        ours("whisper", front=FrontConfig(kind="sound", mels=MELS)),
        {
            "encoder.front.narrow": "model.encoder.conv1",
            "encoder.front.halve": "model.encoder.conv2",
            "decoder.front.embed": "model.decoder.embed_tokens",
            "decoder.front.position.table": "model.decoder.embed_positions",
            **fairseq_layers("before"),
            **both_stacks("norm", "layer_norm"),
            "head.table": "proj_out.weight",
        },
    ),
}


# ---- comparing ------------------------------------------------------------------------------------------------------


def find(names: dict[str, str], mine: str) -> str | None:
    """Their name for one of our tensors, by the longest rule that fits."""
    for rule in sorted(names, key=len, reverse=True):
        found = re.fullmatch(re.escape(rule).replace(r"\*", r"(\d+)") + r"(\..*)?", mine)
        if found:
            *layer, rest = found.groups()
            theirs = names[rule].replace("*", layer[0]) if layer else names[rule]
            part = re.search(r"\[\d\]", theirs)
            return theirs.replace(part[0], "") + (rest or "") + part[0] if part else theirs + (rest or "")
    return None


@torch.no_grad()
def twins(pair: Pair) -> tuple[nn.Module, nn.Module]:
    """Both models with the same random numbers, every one of them different from its default."""
    theirs, mine = pair.theirs().eval(), build(pair.ours).eval()
    values = theirs.state_dict()
    trained = {parameter.data_ptr() for parameter in theirs.parameters() if parameter.requires_grad}
    for name, tensor in values.items():
        if tensor.data_ptr() in trained or name == "final_logits_bias":  # fixed waves stay what they are
            tensor.add_(0.15 * torch.randn_like(tensor))
    transposed = {name for name, module in theirs.named_modules() if isinstance(module, hf.pytorch_utils.Conv1D)}
    used = set()
    for name, tensor in mine.state_dict().items():
        other = find(pair.names, name)
        assert other is not None, f"no name for our {name}"
        other, _, third = other.partition("[")
        value = values[other]
        used.add(value.data_ptr())
        value = value.mT if other.removesuffix(".weight") in transposed else value
        value = value.chunk(3)[int(third[0])] if third else value
        tensor.copy_(value.reshape(tensor.shape))
    unused = [name for name, tensor in values.items() if tensor.data_ptr() in trained - used]
    assert not unused, f"their {unused} were not copied"
    return mine, theirs


def batch(longest: int, side: str = "right") -> tuple[Tensor, Tensor]:
    """Sentences of three lengths, padded with PAD, which is no word."""
    tokens = torch.randint(3, VOCAB, (3, longest))
    keep = torch.arange(longest) < torch.tensor([[longest], [longest // 2], [1]])
    keep = keep.flip(1) if side == "left" else keep
    return tokens.masked_fill(~keep, PAD), keep


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def named(*beginnings: str) -> list[str]:
    return [name for name in PAIRS if name.startswith(beginnings)]


@torch.no_grad()
@pytest.mark.parametrize("name", named("bert", "roberta", "distilbert", "albert", "roformer"))
def test_encoders(name):
    mine, theirs = twins(PAIRS[name])
    tokens, keep = batch(20)
    kinds = PAIRS[name].ours.embedding.types
    types = torch.randint(kinds, tokens.shape) if kinds else None
    extra = {"token_type_ids": types} if kinds else {}
    expected = theirs(tokens, attention_mask=keep.long(), **extra)
    output = mine(tokens, keep=keep, types=types)
    close(output[keep], expected[0][keep])
    if "pooler_output" in expected:
        close(mine.head.pool(output, keep), expected.pooler_output)


@torch.no_grad()
def test_pictures():
    mine, theirs = twins(PAIRS["vit"])
    pictures = torch.randn(3, 3, 8, 8)
    close(mine(pictures), theirs(pictures).logits)


@torch.no_grad()
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", named("gpt2", "llama"))
def test_decoders(name, side):
    """Their positions are given by hand where padding stands to the left; ours follow from keep."""
    mine, theirs = twins(PAIRS[name])
    tokens, keep = batch(20, side)
    places = (keep.long().cumsum(1) - 1).clamp(min=0)
    expected = theirs(tokens, attention_mask=keep.long(), position_ids=places).logits
    close(mine(tokens, keep=keep)[keep], expected[keep])


@torch.no_grad()
@pytest.mark.parametrize("name", named("bart", "marian", "t5"))
def test_encoder_decoders(name):
    mine, theirs = twins(PAIRS[name])
    (source, source_keep), (target, target_keep) = batch(20), batch(15)
    expected = theirs(
        input_ids=source,
        attention_mask=source_keep.long(),
        decoder_input_ids=target,
        decoder_attention_mask=target_keep.long(),
    ).logits
    close(mine(source, target, source_keep=source_keep, target_keep=target_keep)[target_keep], expected[target_keep])


@torch.no_grad()
def test_sound():
    """Whisper hears thirty seconds at a time and masks nothing; here 24 frames."""
    mine, theirs = twins(PAIRS["whisper"])
    frames, (target, keep) = torch.randn(3, 24, MELS), batch(15)
    expected = theirs(input_features=frames.mT, decoder_input_ids=target, decoder_attention_mask=keep.long()).logits
    close(mine(frames, target, target_keep=keep)[keep], expected[keep])


@torch.no_grad()
def test_the_comparison_is_sharp():
    """GELU exact instead of GELU by tanh is the smallest mistake that a family can make; 1e-5 sees it."""
    pair = PAIRS["gpt2"]
    mine, theirs = twins(pair._replace(ours=replace(pair.ours, activation="gelu")))
    tokens, _ = batch(20)
    with pytest.raises(AssertionError, match="not close"):
        close(mine(tokens), theirs(tokens).logits)


def test_every_published_family_is_compared():
    compared = {pair.ours.family for pair in PAIRS.values()}
    elsewhere = {
        "transformer",
        "transformer-xl",
        "detr",
        "dit",
        "modernbert",
        "deberta",
        "wav2vec2",
    }  # in their own files, or in test_drawn*.py
    baselines = {"lstm", "convolution", "autoencoder"}
    assert compared | elsewhere | baselines == set(FAMILIES)

"""wav2vec 2.0 (Baevski et al., 2020) and HuBERT (Hsu et al., 2021): from samples to a label for each frame.

The two differ in how they were pretrained. What only the pretraining needed is left aside.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bert import ACTIVATIONS, prefixed
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model import families
from clearformer.model.config import (
    DropoutConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    SamplesConfig,
)

MODEL_TYPES = ("wav2vec2", "hubert")
PREFIXES = {name: f"{name}." for name in MODEL_TYPES}
NORMS = {"group": "first", "layer": "each"}
_PRETRAINED = "ForPreTraining"  # a class of theirs: the encoder, and what its pretraining needed

# What only pretraining, other heads or training without our loop read.
_ELSEWHERE = (
    "apply_spec_augment", "layerdrop", "ctc_zero_infinity", "use_weighted_layer_sum", "classifier_proj_size",
    "num_feat_extract_layers", "output_hidden_size", "adapter_kernel_size", "adapter_stride", "num_adapter_layers",
    "feat_quantizer_dropout", "num_codevectors_per_group", "num_codevector_groups", "contrastive_logits_temperature",
    "num_negatives", "codevector_dim", "proj_codevector_dim", "diversity_loss_weight", "tdnn_dim", "tdnn_kernel",
    "tdnn_dilation", "xvector_output_dim", "is_encoder_decoder", "chunk_size_feed_forward",
    *(f"mask_{kind}_{what}" for kind in ("time", "feature") for what in ("length", "min_masks")),
)  # fmt: skip

LAYER = pairs(
    {
        **{f"self_attn.{part}_proj": f"attention.{part}_proj" for part in ("q", "k", "v", "out")},
        "ffn.up_proj": "feed_forward.intermediate_dense",
        "ffn.down_proj": "feed_forward.output_dense",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore(*_ELSEWHERE)
    _refuse_adapters(keys)
    _read_mask_vector(keys)
    head = _head(keys)
    pre, drop = keys.flag("do_stable_layer_norm"), keys.rate("hidden_dropout")
    keys.rate("feat_proj_dropout")  # of training alone, where our front end has one rate
    config = families.wav2vec2(
        vocab_size=keys.size("vocab_size") if head.kind == "language-model" else 0,
        dim=keys.size("hidden_size"),
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        heads=keys.size("num_attention_heads"),
        activation=keys.choice("hidden_act", ACTIVATIONS),
        norm=NormConfig(place="pre" if pre else "post", eps=keys.not_negative("layer_norm_eps")),
        dropout=DropoutConfig(
            embedding=drop,
            residual=drop,
            attention=keys.rate("attention_dropout"),
            activation=keys.rate("activation_dropout"),
        ),
        front=FrontConfig(kind="samples", norm=not pre),
        samples=_samples(keys),
        head=head,
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return replace(config, family=str(keys.model_type))


def _samples(keys: Keys) -> SamplesConfig:
    hubert = keys.model_type == "hubert"
    if hubert:
        keys.must("conv_pos_batch_norm", False)
    return SamplesConfig(
        widths=keys.sizes("conv_dim"),
        kernels=keys.sizes("conv_kernel"),
        strides=keys.sizes("conv_stride"),
        bias=keys.flag("conv_bias"),
        norm=keys.choice("feat_extract_norm", NORMS),  # type: ignore[arg-type]  # one of two words
        activation=keys.choice("feat_extract_activation", ACTIVATIONS),
        projected_norm=keys.flag("feat_proj_layer_norm") if hubert else True,
        place_kernel=keys.size("num_conv_pos_embeddings"),
        place_groups=keys.size("num_conv_pos_embedding_groups"),
    )


def _head(keys: Keys) -> HeadConfig:
    """Labels of frames, or none: a model that was only pretrained is its encoder."""
    if (keys.architecture or "").endswith(_PRETRAINED):
        keys.ignore("vocab_size", "final_dropout")
        return HeadConfig(kind="states")
    if refuse_heads(keys, "language-model", "states") == "states":
        keys.ignore("vocab_size", "final_dropout")
        return HeadConfig(kind="states")
    keys.rate("final_dropout")
    return HeadConfig(kind="language-model", bias=True)


def _refuse_adapters(keys: Keys) -> None:
    if keys.model_type != "wav2vec2":
        return
    if keys.flag("add_adapter"):
        raise ValueError(f"{keys.where}: add_adapter asks for convolutions behind the encoder, which no model here has")
    keys.ignore("adapter_attn_dim")
    if keys.plain.get("adapter_attn_dim") is not None:
        raise ValueError(
            f"{keys.where}: adapter_attn_dim asks for small layers of each language (MMS), which no model here has"
        )


def _read_mask_vector(keys: Keys) -> None:
    """What stands for hidden frames in pretraining changes no result, but a file that says that it is there must have
    it."""
    hides = max(keys.number(f"mask_{kind}_prob") for kind in ("time", "feature")) > 0
    if hides and not keys.has("masked_spec_embed"):
        raise ValueError(
            f"{keys.where}: mask_time_prob and mask_feature_prob ask for masked_spec_embed, which the weights do not "
            "have; set both to 0"
        )


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    read = config.samples
    return {
        "model_type": config.family,
        "vocab_size": config.vocab_size or 32,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "hidden_act": spelt[config.activation],
        "hidden_dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "activation_dropout": config.dropout.activation,
        "layer_norm_eps": config.norm.eps,
        "do_stable_layer_norm": config.norm.place == "pre",
        "conv_dim": list(read.widths),
        "conv_kernel": list(read.kernels),
        "conv_stride": list(read.strides),
        "conv_bias": read.bias,
        "feat_extract_norm": {ours: theirs for theirs, ours in NORMS.items()}[read.norm],
        "feat_extract_activation": spelt[read.activation],
        "num_conv_pos_embeddings": read.place_kernel,
        "num_conv_pos_embedding_groups": read.place_groups,
        "initializer_range": config.init_std or 0.02,
        "mask_time_prob": 0.0,
        "mask_feature_prob": 0.0,
        **({"feat_proj_layer_norm": read.projected_norm} if config.family == "hubert" else {}),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    place, final = ("before", "encoder.norm") if config.norm.place == "pre" else ("after", "encoder.front.norm")
    front = pairs(
        {
            "convolutions.*.convolve": "feature_extractor.conv_layers.*.conv",
            "convolutions.*.norm": "feature_extractor.conv_layers.*.layer_norm",
            "projected_norm": "feature_projection.layer_norm",
            "project": "feature_projection.projection",
            "places.length": "encoder.pos_conv_embed.conv.parametrizations.weight.original0",
            "places.direction": "encoder.pos_conv_embed.conv.parametrizations.weight.original1",
            "places.bias": "encoder.pos_conv_embed.conv.bias",
        }
    )
    norms = pairs(
        {f"self_attn_residual.{place}": "layer_norm", f"ffn_residual.{place}": "final_layer_norm"},
    )
    body = [
        *(Rule(f"encoder.front.{rule.ours}", rule.theirs) for rule in front),
        *under("encoder.layers.*", "encoder.layers.*", [*LAYER, *norms]),
        Rule(final, "encoder.layer_norm"),
    ]
    prefix = "" if config.head.kind == "states" else PREFIXES.get(config.family, "")
    gone = "a part of the pretraining, which read masked frames"
    aside = dict.fromkeys(("*masked_spec_embed", "quantizer.*", "project_q.*", "project_hid.*"), gone)
    ours = [Rule("head.table", "lm_head.weight"), Rule("head.bias", "lm_head.bias")]
    return RenamingTable([*prefixed(prefix, body), *ours], aside=aside)

"""DeBERTa 2 and 3 (He et al., 2021): BERT with disentangled attention. Its head for masked words has two spellings."""

from typing import Any

from clearformer.interop.config_keys import MOST, Keys, shown
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, EMBEDDINGS, HEADS, MASKED_WORDS, copies, prefixed
from clearformer.interop.renaming import RenamingTable, pairs, under
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
    Sides,
)
from clearformer.model.families import deberta

MODEL_TYPES = ("deberta-v2",)
PREFIX = "deberta."
SIDES: dict[frozenset[str], Sides] = {
    frozenset(("c2p", "p2c")): "both",
    frozenset(("c2p",)): "queries",
    frozenset(("p2c",)): "keys",
}
_SPELT: dict[Activation, str] = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}

LAYER = pairs(
    {
        "self_attn.q_proj": "attention.self.query_proj",
        "self_attn.k_proj": "attention.self.key_proj",
        "self_attn.v_proj": "attention.self.value_proj",
        "self_attn.out_proj": "attention.output.dense",
        "self_attn.position.q_proj": "attention.self.pos_query_proj",
        "self_attn.position.k_proj": "attention.self.pos_key_proj",
        "self_attn_residual.after": "attention.output.LayerNorm",
        "ffn.up_proj": "intermediate.dense",
        "ffn.down_proj": "output.dense",
        "ffn_residual.after": "output.LayerNorm",
    }
)
DISTANCES = pairs(
    {
        "encoder.layers.0.self_attn.position.vectors.table": "encoder.rel_embeddings",
        "encoder.layers.0.self_attn.position.vectors.norm": "encoder.LayerNorm",
    }
)
# How the newer of the two heads for masked words spells what the older one has, too.
NEWER = {
    "lm_predictions.lm_head.dense": "cls.predictions.transform.dense",
    "lm_predictions.lm_head.LayerNorm": "cls.predictions.transform.LayerNorm",
    "lm_predictions.lm_head.bias": "cls.predictions.bias",
}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.padding()
    keys.must("is_decoder", False)
    keys.must("add_cross_attention", False)
    keys.must("tie_word_embeddings", True)
    keys.ignore("chunk_size_feed_forward", "is_encoder_decoder", "tie_encoder_decoder")
    if (kernel := _whole(keys, "conv_kernel_size", 0)) > 0:
        raise ValueError(
            f"{keys.where}: conv_kernel_size is {kernel}, a convolution beside the first layer (DeBERTa 2, xlarge and "
            "xxlarge), which no model here has; import a DeBERTa 3, which has none"
        )
    keys.ignore("conv_act", "conv_groups")
    position, parts = _position(keys)
    heads, dim = keys.size("num_attention_heads"), keys.size("hidden_size")
    for key, only in (("embedding_size", dim), ("attention_head_size", dim // heads)):
        _same(keys, key, only)
    alone = position.kind != "disentangled" and parts > 1
    drop = keys.rate("hidden_dropout_prob")
    config = deberta(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        heads=heads,
        attention=AttentionConfig(scale=(dim // heads * parts) ** -0.5 if alone else None),
        position=position,
        norm=NormConfig(eps=keys.not_negative("layer_norm_eps")),
        activation=keys.choice("hidden_act", ACTIVATIONS),
        dropout=DropoutConfig(embedding=drop, residual=drop, attention=keys.rate("attention_probs_dropout_prob")),
        embedding=EmbeddingConfig(types=_whole(keys, "type_vocab_size", 0, least=0), norm=True),
        head=_head(keys),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    place, head = config.position, config.head
    relative = place.kind == "disentangled"
    told = next(words for words, sides in SIDES.items() if sides == place.sides) if relative else ()
    return {
        "model_type": "deberta-v2",
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "max_position_embeddings": config.max_len,
        "type_vocab_size": config.embedding.types,
        "layer_norm_eps": config.norm.eps,
        "hidden_act": _SPELT[config.activation],
        "hidden_dropout_prob": config.dropout.residual,
        "attention_probs_dropout_prob": config.dropout.attention,
        "initializer_range": config.init_std or 0.02,
        "relative_attention": relative,
        "pos_att_type": sorted(told) if relative else _unmatched(config),
        "position_buckets": (place.buckets or -1) if relative else -1,
        "max_relative_positions": place.max_distance if relative else -1,
        "share_att_key": relative and not place.projected,
        "norm_rel_ebd": "layer_norm" if relative and place.normed else "none",
        "position_biased_input": place.added if relative else place.kind == "learned",
        "pooler_hidden_size": config.dim,
        "pooler_hidden_act": _SPELT[head.pooler_activation] if head.pooler else "gelu",
        "cls_dropout": head.dropout if head.kind == "class" else None,
        "legacy": True,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Masked words are written in the older spelling."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [*EMBEDDINGS, *DISTANCES, *under("encoder.layers.*", "encoder.layer.*", LAYER)]
    tops = pairs({"head.classify": "classifier", "head.mark": "qa_outputs", "head.pooler": "pooler.dense"})
    aside = {
        "*embeddings.position_ids": "the numbers 0, 1, 2, …",
        "*mask_predictions.*": "a head of the training of DeBERTa 3, which no program reads",
    }
    if config.position.kind != "disentangled":
        aside |= dict.fromkeys(("*rel_embeddings.weight", f"{prefix}encoder.LayerNorm.*"), "of distances, left unused")
    if not config.head.pooler:
        aside["*pooler.dense.*"] = "a pooler that this head does not use"
    if config.head.kind != "language-model":
        aside["*cls.predictions.*"] = "a head for masked words, which the model here does not have"
    return RenamingTable(
        [*prefixed(prefix, body), *MASKED_WORDS, *tops],
        copies=copies(config, prefix, "cls.predictions.decoder", "cls.predictions.bias"),
        aside=aside,
        spellings=NEWER,
    )


def _position(keys: Keys) -> tuple[PositionConfig, int]:
    """How positions enter, and of how many products a score is the sum: the published code counts those of
    pos_att_type even where they are switched off."""
    words = _words(keys, "pos_att_type", ("c2p", "p2c"))
    normed = "layer_norm" in _words(keys, "norm_rel_ebd", ("none", "layer_norm"))
    reach = _whole(keys, "max_relative_positions", -1)
    reach = reach if reach > 0 else keys.size("max_position_embeddings")
    buckets, added = _whole(keys, "position_buckets", -1), keys.flag("position_biased_input")
    shared = keys.flag("share_att_key") if "share_att_key" in keys.plain else False
    relative, dim = keys.flag("relative_attention"), keys.size("hidden_size")
    if not relative or not words:  # what the published code builds all the same, and does not use
        if relative:
            _unused(keys, "encoder.rel_embeddings.weight", 2 * (buckets if buckets > 0 else reach), dim)
        if normed:
            _unused(keys, "encoder.LayerNorm.weight", dim)
        return PositionConfig(kind="learned" if added else "none"), 1 + len(words)
    place = PositionConfig(
        kind="disentangled",
        buckets=max(buckets, 0),
        max_distance=reach,
        sides=SIDES[words],
        projected=not shared,
        normed=normed,
        added=added,
    )
    return place, 1 + len(words)


def _unused(keys: Keys, name: str, *shape: int) -> None:
    if not keys.has(name):
        raise ValueError(f"{keys.where} asks for {name}, which the weights do not have; do they belong together?")
    keys.shape(name, *shape)


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    keys.ignore("pooler_dropout", "pooler_hidden_act", "pooler_hidden_size", "cls_dropout", "legacy")
    drop = keys.rate("hidden_dropout_prob")
    if kind == "states":
        return HeadConfig(kind="states")
    if kind == "language-model":
        _check_spelling(keys)
        return HeadConfig(transform=True, bias=True)
    if kind != "class":
        return task_head(keys, kind, dropout=drop)
    _same(keys, "pooler_hidden_size", keys.size("hidden_size"))
    keys.rate("pooler_dropout")  # in training alone, before the pooler; every published one is 0
    if keys.plain.get("cls_dropout") is not None:
        drop = keys.rate("cls_dropout")
    activation = keys.choice("pooler_hidden_act", ACTIVATIONS)
    return task_head(keys, kind, pooler=True, pooler_activation=activation, dropout=drop)


def _check_spelling(keys: Keys) -> None:
    """The published code looks for one of the two spellings, and draws a random head where it finds the other."""
    spelt = ("cls.predictions.transform.dense.weight", "lm_predictions.lm_head.dense.weight")
    legacy = keys.flag("legacy")
    wanted, other = spelt if legacy else spelt[::-1]
    if keys.has(other) and not keys.has(wanted):
        raise ValueError(
            f"{keys.where}: legacy is {str(legacy).lower()}, which wants a head for masked words called {wanted}, but "
            f"the weights have {other}; write the other value there, or DebertaV2Model under architectures to import "
            "it without"
        )


def _words(keys: Keys, key: str, known: tuple[str, ...]) -> frozenset[str]:
    """A list of words, or a text with | between them."""
    keys.ignore(key)
    given = keys.plain.get(key, keys.defaults.get(key, known[0]))
    nothing = given is None and key in keys.defaults  # which published code takes for none of them
    listed = [] if nothing else given.lower().split("|") if isinstance(given, str) else given
    if not isinstance(listed, list) or any(word not in known for word in listed):
        raise ValueError(f"{keys.where}: {key} is {shown(given)}; known are {', '.join(known)}, with | between them")
    return frozenset(listed)


def _whole(keys: Keys, key: str, usual: int, least: int = -MOST) -> int:
    """A whole number that may be 0 or negative, which stands for none."""
    keys.ignore(key)
    value = keys.plain.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise ValueError(f"{keys.where}: {key} must be a whole number, not {shown(value)}")
    return value


def _same(keys: Keys, key: str, only: int) -> None:
    """A width that could be another one in the published code."""
    keys.ignore(key)
    if key in keys.plain and (keys.plain[key] != only or isinstance(keys.plain[key], bool)):
        raise ValueError(f"{keys.where}: {key} is {shown(keys.plain[key])}, and only {only} is supported")


def _unmatched(config: ModelConfig) -> list[str]:
    """What to list so that scores without distances have the same scale."""
    heads, width = config.attention, config.dim // config.attention.heads
    parts = 1 if heads.scale is None else round(1 / (heads.scale**2 * width))
    return ["c2p", "p2c"][: max(parts - 1, 0)]

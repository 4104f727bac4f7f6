"""What is described is what the model has: read again it builds the same model, and what is left out does nothing."""

import contextlib
import json
from dataclasses import fields, is_dataclass, replace
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import torch

from clearformer.foundation import settings
from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    ConditionConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.described import described
from clearformer.model.families import FAMILIES
from clearformer.model.presets import PRESETS, preset
from model.specimens import KINDS, MELS, PAIRS, VOCAB, configured

PICTURES = FrontConfig(kind="patches", picture=8, patch=4)
STEM = FrontConfig(kind="patches", picture=8, patch=4, stem="convolution")


TEXT_HEADS = {
    "masked words": HeadConfig(transform=True, bias=True),
    "states": HeadConfig(kind="states"),
    "class": HeadConfig(kind="class", labels=3, pool="mean", class_bias=False),
    "pooled class": HeadConfig(kind="class", labels=3, pooler=True, pooler_activation="relu", dropout=0.2),
    "tags": HeadConfig(kind="tags", labels=3, dropout=0.1),
    "span": HeadConfig(kind="span"),
}
PICTURE_HEADS = {
    "boxes": HeadConfig(kind="boxes", labels=3),
    "masks": HeadConfig(kind="masks", labels=3),
    "pixels": HeadConfig(kind="pixels"),
}
CODED = {"front": FrontConfig(), "head": HeadConfig(), "max_len": 24}
EVERY_MODEL = {
    **{family: configured(family) for family in FAMILIES},
    **{f"{family}, {kind}": configured(family, kind) for family in ("transformer", "gpt2") for kind in KINDS},
    **{f"lstm, {kind}": configured("lstm", kind) for kind in ("learned", "rotary")},
    **{f"bert, {name}": configured("bert", head=head) for name, head in TEXT_HEADS.items()},
    **{f"gpt2, {name}": configured("gpt2", head=head) for name, head in TEXT_HEADS.items()},
    **{f"vit, {name}": configured("vit", head=head) for name, head in PICTURE_HEADS.items()},
    **{f"vit with a stem, {name}": configured("vit", head=head, front=STEM) for name, head in PICTURE_HEADS.items()},
    "vit with a stem, masks by convolution": configured(
        "vit", head=HeadConfig(kind="masks", labels=3, decoder="convolution", narrowest=4), front=STEM
    ),
    "vit with registers": configured(
        "vit", front=replace(PICTURES, teacher_token=True, registers=3), layer_scale=0.1,
        head=HeadConfig(kind="class", labels=3, pool="first-and-patches"),
    ),
    "vit, taught": configured(
        "vit", front=replace(PICTURES, teacher_token=True), head=HeadConfig(kind="class", labels=3, taught=True)
    ),
    "vit on a grid": configured(
        "vit", front=PICTURES, position=PositionConfig(kind="grid", each=True),
        head=HeadConfig(kind="class", labels=3, pool="patches", pooled_norm=True),
    ),
    "vit without a class token": configured(
        "vit", front=replace(STEM, class_token=False), head=HeadConfig(kind="class", labels=3, pool="weighted")
    ),
    "lstm without attention": configured("lstm", attention=AttentionConfig(cross=False)),
    "lstm with a norm": configured("lstm", embedding=EmbeddingConfig(norm=True), head=HeadConfig(transform=True)),
    "autoencoder of pictures": configured("autoencoder", front=PICTURES),
    "captions": configured("transformer", front=PICTURES),
    "stretched": configured("llama", position=PositionConfig(kind="rotary", scaling="ntk", factor=2.0)),
    "two vocabularies": configured("bart", target_vocab_size=11, embedding=EmbeddingConfig(tie="output")),
    "codes from left to right": configured("dit", **CODED, condition=ConditionConfig(classes=3, causal=True)),
    "hidden codes": configured("dit", **CODED, position=PositionConfig(kind="buckets")),
    "noise through a stem": configured("dit", front=STEM),
    "window": configured("gpt2", attention=AttentionConfig(window=3)),
    "window in one layer": configured("llama", attention=AttentionConfig(heads=2, window=3, wide=(0,), norm=True),
        position=PositionConfig(kind="rotary", local_base=100.0, turned=2)),
    "window to both sides": configured("bert", attention=AttentionConfig(heads=2, window=2, wide=(1,))),
    "bent": configured("llama", attention=AttentionConfig(heads=2, cap=2.0), head=HeadConfig(cap=3.0),
        norm=NormConfig(kind="rms", place="sandwich")),
    "a narrow table": configured(
        "gpt2", embedding=EmbeddingConfig(dim=8, early=True), head=HeadConfig(narrow=True)),
    "experts": configured("llama", experts=3, chosen=2, rescaled=False),
    "side by side": configured("gpt2", parallel=True, norm=NormConfig(place="pre", bias=False)),
    "a vector": configured("gpt2", head=HeadConfig(kind="vector", pool="end", end=3, width=6)),
    "a vector at the highest token": configured("gpt2", head=HeadConfig(kind="vector", pool="end", width=6)),
    "a vector of a picture": configured("vit", front=PICTURES, head=HeadConfig(kind="vector", pool="attention")),
    "a pair": PAIRS["clip"],
    "a pair with a bias": PAIRS["siglip"],
    "one layer without places": configured("llama",
        position=PositionConfig(kind="rotary", scaling="llama3", factor=8.0, trained=16, absent=(1,))),
}  # fmt: skip


def read_again(config):
    return settings.parse(ModelConfig, json.loads(json.dumps(described(config))), "config.json")


def inputs_of(config):
    tokens = torch.randint(VOCAB, (2, 6), generator=torch.Generator().manual_seed(0))
    if config.pair is not None:
        return torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8), tokens
    given = {
        "tokens": tokens,
        "patches": torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8),
        "sound": torch.linspace(-1, 1, 2 * 12 * MELS).view(2, 12, MELS),
        "samples": torch.linspace(-1, 1, 2 * 60).view(2, 60),
    }[config.front.kind]
    pair = config.shape in ("encoder-decoder", "lstm", "convolution") and config.head.kind == "language-model"
    return (given, tokens % (config.target_vocab_size or VOCAB)) if pair else (given,)


def assert_same_model(one, other):
    """The same parameters from the same seed, and the same outputs."""
    models = []
    for config in (one, other):
        torch.manual_seed(0)
        models.append(build(config).eval())
    states = [model.state_dict() for model in models]
    assert list(states[0]) == list(states[1])
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    with torch.no_grad():
        assert torch.equal(*(model(*inputs_of(one)) for model in models))


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_a_description_builds_the_same_model(name):
    config = EVERY_MODEL[name]
    assert_same_model(config, read_again(config))
    assert described(read_again(config)) == described(config)


@pytest.mark.parametrize("name", PRESETS)
def test_a_described_preset_has_the_same_parameters(name):
    config = preset(name)
    with torch.device("meta"):
        states = [build(one).state_dict() for one in (config, read_again(config))]
    assert list(states[0]) == list(states[1])
    assert all(states[0][name].shape == states[1][name].shape for name in states[0])


NOT_ALONE = {"kind", "dim", "heads"}  # a kind decides about others; heads have to divide the width


def other_values(config, name):
    """What else a setting could be; nothing where it is not given at all."""
    if getattr(config, name) is None:
        return []
    kind, value = get_type_hints(type(config))[name], getattr(config, name)
    choices = [choice for part in (kind, *get_args(kind)) if get_origin(part) is Literal for choice in get_args(part)]
    if choices:
        return [choice for choice in choices if choice != value]
    if isinstance(value, tuple):
        return [(0,)]
    if isinstance(value, bool):
        return [not value]
    return [value + 1] if isinstance(value, int) else [0.5 if value > 1 else value / 2 + 0.1]


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_what_is_left_out_does_nothing(name):
    """Every setting that is not described is changed, one by one: the model stays the same, as does its description."""
    config = EVERY_MODEL[name]
    told = described(config)
    candidates = [candidate for field in fields(config) for candidate in changed_otherwise(config, field.name, told)]
    assert candidates  # every model leaves something out
    for candidate in candidates:
        assert described(candidate) == told
        assert_same_model(config, candidate)


def changed_otherwise(config, name, told):
    """The configuration with one setting of `name` that is not described changed, for each that may be changed."""
    value = getattr(config, name)
    if is_dataclass(value):
        inner = told.get(name, {})
        left_out = [part.name for part in fields(value) if part.name not in inner and part.name not in NOT_ALONE]
        for setting in left_out:
            for other in other_values(value, setting):
                with contextlib.suppress(ValueError):  # what is refused is not lost
                    yield replace(config, **{name: replace(value, **{setting: other})})
    elif name not in told and name not in NOT_ALONE:
        for other in other_values(config, name):
            yield replace(config, **{name: other})


def test_every_setting_belongs_to_some_model():
    """A new setting that no description ever holds would be lost on the way to the disk."""
    told = {
        **{name: described(config) for name, config in EVERY_MODEL.items()},
        "peculiar": described(
            configured(
                "bart",
                decoder_layers=1,
                attention=AttentionConfig(heads=4, kv_heads=2, head_dim=6, key_bias=False, out_bias=False, scale=0.3),
                norm=replace(configured("bart").norm, final=True),
            )
        ),
    }
    names = {
        f"{part}.{setting}" if isinstance(inner, dict) else part
        for description in told.values()
        for part, inner in description.items()
        for setting in (inner if isinstance(inner, dict) else [""])
    } | {"pair" for description in told.values() if "pair" in description}
    config = configured("whisper")
    wanted = {
        f"{field.name}.{part.name}" if is_dataclass(getattr(config, field.name)) else field.name
        for field in fields(config)
        for part in (fields(getattr(config, field.name)) if is_dataclass(getattr(config, field.name)) else [field])
    }
    unusual = {f"decoder_position.{part.name}" for part in fields(PositionConfig)}  # as position's own
    assert wanted - unusual <= names


def test_a_translator_says_nothing_of_pictures_or_sound():
    told = json.dumps(described(preset("base")))
    for word in (
        "picture",
        "patch",
        "channels",
        "mels",
        "kernel",
        "bottleneck",
        "queries",
        "labels",
        "pool",
        "window",
        "stem",
        "samples",
    ):
        assert word not in told
    assert "null" not in told
    assert described(preset("base"))["front"] == {"kind": "tokens"}
    assert "vocab_size" not in described(preset("vit-b16"))

"""Configurations: what cannot be built is refused at once, with the field, the value and the remedy; what is described
is what the model has."""

import json
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import torch

from clearformer.foundation import settings
from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    PositionConfig,
    described,
)
from clearformer.model.families import FAMILIES
from clearformer.model.presets import PRESETS, preset
from model.specimens import KINDS, MELS, VOCAB, configured

TOKENS = {"vocab_size": 10, "dim": 16, "hidden_dim": 32, "layers": 2, "attention": AttentionConfig(heads=4)}


def buckets(count, reach):
    return PositionConfig(kind="buckets", buckets=count, max_distance=reach)


PICTURES = FrontConfig(kind="patches", picture=8, patch=4)
BOXES = HeadConfig(kind="boxes", labels=2, queries=3)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"attention": AttentionConfig(heads=3)}, "3 heads do not divide a width of 16; choose a divisor"),
        ({"attention": AttentionConfig(heads=0)}, "attention.heads must be at least 1, not 0"),
        ({"dim": 0}, "dim must be at least 1, not 0"),
        ({"layers": -1}, "layers must be at least 1, not -1"),
        ({"decoder_layers": 0}, "decoder_layers must be at least 1, or left out, not 0"),
        ({"vocab_size": 0}, "vocab_size must say how many tokens there are"),
        ({"vocab_size": 0, "front": FrontConfig(kind="sound")}, "vocab_size must say how many tokens there are"),
        ({"target_vocab_size": 12}, r'source \(10 tokens\) and target \(12\) cannot share one table; set'),
        ({"dropout": DropoutConfig(attention=1.0)}, r"dropout.attention must be at least 0 and below 1, not 1.0"),
        ({"dropout": DropoutConfig(residual=-0.1)}, r"dropout.residual must be at least 0 and below 1, not -0.1"),
        ({"head": HeadConfig(dropout=2.0)}, r"dropout.head must be at least 0 and below 1, not 2.0"),
        ({"shape": "encoder", "head": HeadConfig(kind="class")}, "a head for class needs head.labels, the number of"),
        ({"shape": "encoder", "head": HeadConfig(kind="tags")}, "a head for tags needs head.labels"),
        ({"shape": "encoder", "head": HeadConfig(kind="pixels")}, "a head for pixels needs pictures; set front.kind"),
        ({"head": HeadConfig(kind="class", labels=2)}, "a model of shape encoder-decoder has no head for class"),
        ({"shape": "lstm", "head": HeadConfig(kind="tags", labels=2)}, "a model of shape lstm has no head for tags"),
        ({"front": PICTURES, "head": HeadConfig(kind="boxes", labels=2)}, "that finds boxes needs head.queries"),
        ({"head": BOXES}, "boxes are found in pictures, not in tokens; set front.kind to patches"),
        ({"front": PICTURES, "head": BOXES, "decoder_position": PositionConfig()}, "queries have no order, so they"),
        ({"shape": "decoder", "front": PICTURES}, "a decoder alone reads tokens, not patches; give it an encoder"),
        ({"position": buckets(2, 128)}, "position.buckets must be at least 4 here, not 2"),
        ({"position": buckets(32, 16)}, "position.max_distance must be above 16, up to which 32 buckets are exact"),
        ({"shape": "decoder", "position": buckets(1, 9)}, "position.buckets must be at least 2 here, not 1"),
        ({"shape": "encoder", "position": buckets(32, 8)}, "position.max_distance must be above 8, up to which"),
        ({"decoder_position": buckets(8, 4)}, "position.max_distance must be above 4, up to which 8"),
        ({"embedding": EmbeddingConfig(dim=8)}, "states of width 16 do not fit a table of width 8; set head.transform"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(choices, sentence):
    with pytest.raises(ValueError, match=sentence):
        ModelConfig(**TOKENS | choices)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"attention": AttentionConfig(heads=3, head_dim=8)},
        {"target_vocab_size": 12, "embedding": EmbeddingConfig(tie="output")},
        {"target_vocab_size": 10},
        {"embedding": EmbeddingConfig(dim=8), "head": HeadConfig(transform=True)},
        {"vocab_size": 0, "front": PICTURES, "head": BOXES},
        {"shape": "encoder", "vocab_size": 0, "front": PICTURES, "head": HeadConfig(kind="class", labels=2)},
    ],
)
def test_what_can_be_built_is_not(choices):
    ModelConfig(**TOKENS | choices)


@torch.no_grad()
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("count", range(1, 12))
def test_buckets_that_are_accepted_work_at_every_distance(shape, count):
    for reach in range(1, 14):
        try:
            config = ModelConfig(**TOKENS | {"shape": shape, "layers": 1, "position": buckets(count, reach)})
        except ValueError:
            continue
        tokens = torch.arange(30).remainder(10)[None]
        given = (tokens, tokens) if shape == "encoder-decoder" else (tokens,)
        assert build(config).eval()(*given).isfinite().all()


def test_configurations_are_frozen_and_take_keywords_only():
    config = ModelConfig(**TOKENS)
    with pytest.raises(FrozenInstanceError):
        config.dim = 8
    with pytest.raises(TypeError):
        ModelConfig("transformer")
    parts = [getattr(config, field.name) for field in fields(config) if is_dataclass(getattr(config, field.name))]
    assert len(parts) == 7
    for part in parts:
        with pytest.raises(FrozenInstanceError):
            setattr(part, fields(part)[0].name, None)


def test_one_rate_everywhere():
    assert set(vars(DropoutConfig.everywhere(0.3)).values()) == {0.3}
    assert set(vars(DropoutConfig())) == {"embedding", "attention", "activation", "residual"}  # the four sites


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
EVERY_MODEL = {
    **{family: configured(family) for family in FAMILIES},
    **{f"{family}, {kind}": configured(family, kind) for family in ("transformer", "gpt2") for kind in KINDS},
    **{f"lstm, {kind}": configured("lstm", kind) for kind in ("learned", "rotary")},
    **{f"bert, {name}": configured("bert", head=head) for name, head in TEXT_HEADS.items()},
    **{f"gpt2, {name}": configured("gpt2", head=head) for name, head in TEXT_HEADS.items()},
    **{f"vit, {name}": configured("vit", head=head) for name, head in PICTURE_HEADS.items()},
    "lstm without attention": configured("lstm", attention=AttentionConfig(cross=False)),
    "lstm with a norm": configured("lstm", embedding=EmbeddingConfig(norm=True), head=HeadConfig(transform=True)),
    "autoencoder of pictures": configured("autoencoder", front=PICTURES),
    "captions": configured("transformer", front=PICTURES),
    "stretched": configured("llama", position=PositionConfig(kind="rotary", scaling="ntk", factor=2.0)),
    "two vocabularies": configured("bart", target_vocab_size=11, embedding=EmbeddingConfig(tie="output")),
    "window": configured("gpt2", attention=AttentionConfig(window=3)),
}  # fmt: skip


def read_again(config):
    return settings.parse(ModelConfig, json.loads(json.dumps(described(config))), "config.json")


def inputs_of(config):
    tokens = torch.randint(VOCAB, (2, 6), generator=torch.Generator().manual_seed(0))
    given = {
        "tokens": tokens,
        "patches": torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8),
        "sound": torch.linspace(-1, 1, 2 * 12 * MELS).view(2, 12, MELS),
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
    """The configuration with one setting of `name` that is not described changed, for each of them."""
    value = getattr(config, name)
    if is_dataclass(value):
        inner = told.get(name, {})
        left_out = [part.name for part in fields(value) if part.name not in inner and part.name not in NOT_ALONE]
        for setting in left_out:
            for other in other_values(value, setting):
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
                attention=AttentionConfig(heads=4, kv_heads=2, head_dim=6, key_bias=False, scale=0.3),
                norm=replace(configured("bart").norm, final=True),
            )
        ),
    }
    names = {
        f"{part}.{setting}" if isinstance(inner, dict) else part
        for description in told.values()
        for part, inner in description.items()
        for setting in (inner if isinstance(inner, dict) else [""])
    }
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
    for word in ("picture", "patch", "channels", "mels", "kernel", "bottleneck", "queries", "labels", "pool", "window"):
        assert word not in told
    assert "null" not in told
    assert described(preset("base"))["front"] == {"kind": "tokens"}
    assert "vocab_size" not in described(preset("vit-b16"))

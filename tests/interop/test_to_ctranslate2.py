"""The same numbers after the move: every family that the engine can express, and a sentence for each that it cannot."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import get_args

import ctranslate2
import pytest

from clearformer.folder import bundle
from clearformer.folder.description import open_folder, read_description
from clearformer.foundation import storage
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop import to_ctranslate2
from clearformer.model import families
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
    SamplesConfig,
)
from clearformer.text.train_tokenizer import train
from support.toy_models import decided, small, texts, vocabulary

TOKENIZER = vocabulary()
SIZES = {"vocab_size": TOKENIZER.vocab_size, "dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4, "init_std": 0.3}
BIASED = HeadConfig(bias=True)


def transformer(**changes) -> ModelConfig:
    return families.transformer(**{**SIZES, "head": BIASED, **changes})


def at(kind, **more) -> PositionConfig:
    return PositionConfig(kind=kind, **more)


EXPRESSIBLE = {
    "post-norm": transformer(),
    "pre-norm": transformer(norm=NormConfig(place="pre")),
    "rms, gated, without biases": transformer(
        norm=NormConfig(kind="rms", place="pre", eps=1e-6),
        activation="silu",
        gated=True,
        bias=False,
        attention=AttentionConfig(bias=False),
    ),
    "gelu and geglu": transformer(activation="gelu", gated=True, bias=True),
    "gelu by tanh": transformer(activation="gelu-tanh"),
    "gelu by a sigmoid": transformer(activation="quick-gelu"),
    "a larger epsilon": transformer(norm=NormConfig(eps=0.1)),
    "marian": families.marian(**SIZES),
    "bart": families.bart(**SIZES),
    "t5": replace(families.t5(**SIZES), head=HeadConfig(bias=True, shrink=True)),
    "deep and shallow, untied": transformer(layers=3, decoder_layers=1, embedding=EmbeddingConfig(tie="none")),
    "target tied to the output": transformer(embedding=EmbeddingConfig(scale=True, tie="output")),
    "waves as in tensor2tensor": transformer(position=at("tensor2tensor")),
    "waves of another base": transformer(position=at("sinusoidal", base=100.0)),
    "no places": transformer(position=at("none")),
    "learned places with an offset": transformer(position=at("learned", offset=2), max_len=40),
    "waves here, a table there": transformer(decoder_position=at("learned"), max_len=40),
    "rotary": transformer(position=at("rotary")),
    "rotary in neighbours, stretched": transformer(
        position=at("rotary", pairs="neighbours", scaling="linear", factor=2.0)
    ),
    "rotary with a raised base": transformer(position=at("rotary", scaling="ntk", factor=4.0)),
    "one layer at every place": transformer(share_layers=True),
    "keys without bias": transformer(attention=AttentionConfig(heads=4, key_bias=False)),
    "grouped queries": transformer(kv_heads=2),
    "one key for all": transformer(kv_heads=1, position=at("rotary")),
    "wide heads": transformer(head_dim=16),
    "scores of another scale": transformer(attention=AttentionConfig(heads=4, scale=0.5)),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    """A model folder, the folder made of it, and the bundle, for any configuration."""

    def make(config: ModelConfig, **choices):
        folder = tmp_path_factory.mktemp("made")
        given = decided(config, TOKENIZER)
        bundle.save(given, folder / "model")
        to_ctranslate2.convert(folder / "model", folder / "fast", **choices)
        return given, folder / "fast"

    return make


def log_probs(folder: Path, sources: list[list[int]], targets: list[list[int]], **choices) -> list[list[float]]:
    names = storage.read_json(folder / "shared_vocabulary.json")
    engine = ctranslate2.Translator(str(folder), intra_threads=1, **choices)
    spell = [[[names[number] for number in row] for row in side] for side in (sources, targets)]
    return [found.log_probs for found in engine.score_batch(*spell)]


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_every_expressible_model_keeps_its_numbers(name, made):
    """Sentences of different lengths in one batch, so that padding is seen too."""
    given, folder = made(EXPRESSIBLE[name])
    translator = Translator(given)
    sources, targets = texts(3, seed=1), texts(3, seed=2)
    found = log_probs(folder, translator.encode(sources, DecodingConfig()), TOKENIZER.ids(targets, add_special=False))
    for source, target, ours in zip(sources, targets, found, strict=True):
        assert ours == pytest.approx(translator.score(source, target), abs=2e-5)


def test_each_side_may_have_its_own_vocabulary(tmp_path):
    target = train("bpe", ["zwei Hunde spielen im Schnee"] * 5, 290)
    config = transformer(embedding=EmbeddingConfig(tie="output"), target_vocab_size=target.vocab_size)
    bundle.save(decided(config, TOKENIZER, target=target), tmp_path / "model")
    to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    assert len(storage.read_json(tmp_path / "fast" / "source_vocabulary.json")) == TOKENIZER.vocab_size
    assert len(storage.read_json(tmp_path / "fast" / "target_vocabulary.json")) == target.vocab_size


REFUSED = {
    "its shape is lstm": families.lstm(**SIZES),
    "its shape is convolution": families.convolution(**SIZES),
    "its shape is decoder": families.gpt2(**SIZES),
    "its head is for language-model, not for class, tags, span, states": families.bert(**SIZES, head=BIASED),
    "its embeddings are narrower than the model": families.albert(**{**SIZES, "embedding": EmbeddingConfig(dim=16)}),
    "it reads patches, not tokens": families.vit(**SIZES),
    "a norm after the last layer": families.bert(**{**SIZES, "norm": NormConfig(final=True)}),
    "its positions are shaw.*": families.bert(**SIZES, position=at("shaw")),
    "its positions are rotary and learned": families.whisper(**SIZES, position=at("rotary")),
    "its norm is batch": transformer(norm=NormConfig(kind="batch")),
    "its final norms are not where": transformer(norm=NormConfig(place="post", final=True)),
    "its positions are alibi": transformer(position=at("alibi")),
    "its positions are shaw": transformer(position=at("shaw")),
    "its positions are relative": transformer(position=at("relative")),
    "its decoder looks back through a window": transformer(attention=AttentionConfig(heads=4, window=8)),
    "its embeddings are narrower": transformer(embedding=EmbeddingConfig(dim=16), head=HeadConfig(transform=True)),
    "its tokens have types": transformer(embedding=EmbeddingConfig(types=2)),
    "its output has an extra layer": transformer(head=HeadConfig(transform=True)),
    "position schemes that cannot be combined": transformer(decoder_position=at("rotary")),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_the_engine_cannot_express_is_refused_by_name(reason):
    with pytest.raises(ValueError, match=f"ctranslate2 cannot run this .*{reason}.*use the torch engine"):
        to_ctranslate2.check(REFUSED[reason])


def test_a_refused_model_leaves_nothing_behind(tmp_path):
    given = small(position=at("alibi"))
    bundle.save(given, tmp_path / "model")
    with pytest.raises(ValueError, match="its positions are alibi"):
        to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


# Every setting of a model is used by the converter, refused by it, or has no say in what a finished model computes.
USED_OR_REFUSED = {
    "shape", "vocab_size", "target_vocab_size", "dim", "layers", "decoder_layers", "max_len", "activation", "gated",
    "share_layers", "attention.heads", "attention.kv_heads", "attention.head_dim", "attention.scale",
    "attention.window", "norm.kind", "norm.place", "norm.eps", "norm.final", "embedding.dim", "embedding.scale",
    "norm.first", "position.each", "head.transform_activation", "head.transform_bias",
    "embedding.types", "embedding.norm", "front.kind", "head.kind", "head.bias", "head.transform", "head.shrink",
    "head.copy", "norm.bias", "layer_scale", "head.pooled_norm", "attention.norm", "attention.cap", "head.cap",
    *(f"position.{name}" for name in ("kind", "base", "offset", "pairs", "scaling", "factor", "max_distance")),
    *(f"position.{name}" for name in ("absent", "local_base", "turned", "low", "high", "trained")),
    *(f"position.{name}" for name in ("sides", "projected", "normed", "added")),  # of a kind that is refused
    *("experts", "chosen", "rescaled"), *("embedding.early", "head.narrow"),  # the latter of narrow tables alone
}  # fmt: skip
READ_FROM_THE_WEIGHTS = {
    "hidden_dim", "bias", "attention.bias", "attention.key_bias", "attention.out_bias", "embedding.tie",
    "position.buckets",
}  # fmt: skip
NO_SAY = {
    "family", "init_std", "kernel", "bottleneck", "attention.cross", "head.labels", "head.queries", "head.pool",
    "attention.wide", "parallel", "head.helper", "head.decoder", "head.narrowest", "condition.classes",
    "condition.causal", "head.pooler", "head.pooler_activation", "head.class_bias", "head.dropout",
    *(f"dropout.{field.name}" for field in fields(DropoutConfig)),
    *(f"front.{name}" for name in ("picture", "patch", "channels", "stem", "stem_layers", "class_token", "mels")),
    *(f"front.{name}" for name in ("teacher_token", "registers", "norm", "patch_bias")), "head.taught",
    "head.end", "head.width", "pair",
    *(f"samples.{field.name}" for field in fields(SamplesConfig)),
}  # fmt: skip


def settings_of(config, prefix="") -> set[str]:
    found = set()
    for field in fields(config):
        value = getattr(config, field.name)
        inner = settings_of(value, f"{prefix}{field.name}.") if is_dataclass(value) else {f"{prefix}{field.name}"}
        found |= inner
    return found


def test_no_setting_of_a_model_is_overlooked():
    """A new setting has to be placed in one of the three lists above, and in the converter if it changes numbers."""
    assert (
        settings_of(ModelConfig(vocab_size=1)) - {"decoder_position"}
        == USED_OR_REFUSED | READ_FROM_THE_WEIGHTS | NO_SAY
    )


@pytest.mark.parametrize(("quantization", "tolerance"), [("int16", 0.05), ("int8", 0.5), ("int8_float32", 0.5)])
def test_fewer_bits_stay_near(quantization, tolerance, made):
    given, folder = made(transformer(init_std=None), quantization=quantization)  # weights of a usual size
    translator = Translator(given)
    [source] = translator.encode(["two dog plays"], DecodingConfig())
    [target] = TOKENIZER.ids(["the cat"], add_special=False)
    [found] = log_probs(folder, [source], [target], compute_type="float32")  # what was kept, not what a CPU can do
    assert found == pytest.approx(translator.score("two dog plays", "the cat"), abs=tolerance)
    assert read_description(folder).engine["quantization"] == quantization


def test_eight_bits_are_a_quarter_of_the_weights(tmp_path):
    bundle.save(small(dim=256, hidden_dim=1024, heads=8, position=at("rotary")), tmp_path / "model")
    for quantization in ("float32", "int8"):
        to_ctranslate2.convert(tmp_path / "model", tmp_path / quantization, quantization=quantization)
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("int8", "float32")]
    assert sizes[0] / sizes[1] == pytest.approx(0.26, abs=0.02)


def test_an_unknown_quantization_names_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="there is no quantization 'int4'; choose from float32, int16, int8"):
        to_ctranslate2.convert(tmp_path, tmp_path / "fast", quantization="int4")
    assert "int8" in get_args(to_ctranslate2.Quantization)


def test_half_precision_weights_are_read_too(tmp_path):
    given = small()
    bundle.save(given, tmp_path / "model", dtype="float16")
    to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    translator = Translator(bundle.load(tmp_path / "model"))
    [source] = translator.encode(["two dog"], DecodingConfig())
    [target] = translator.target_tokenizer.ids(["cat"], add_special=False)
    [found] = log_probs(tmp_path / "fast", [source], [target])
    assert found == pytest.approx(translator.score("two dog", "cat"), abs=2e-5)


def test_the_folder_is_ours_and_theirs(made):
    _, folder = made(transformer())
    described = read_description(folder)
    storage.verify(folder)
    assert described.model["dim"] == 32
    assert storage.read_json(folder / "config.json")["eos_token"] == "<eos>"
    assert ctranslate2.contains_model(str(folder))
    with pytest.raises(ValueError, match="holds weights for ctranslate2 alone; give the folder that it was made from"):
        bundle.load(folder)


def test_a_conversion_knows_what_it_was_made_from(tmp_path):
    bundle.save(small(), tmp_path / "model")
    to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    assert read_description(tmp_path / "fast").engine["made_from"] == open_folder(tmp_path / "model").fingerprint


def test_weights_that_nobody_asked_for_are_named(tmp_path):
    bundle.save(small(), tmp_path / "model")
    described = storage.read_json(tmp_path / "model" / "config.json")
    described["model"]["decoder_layers"] = 1
    rewrite(tmp_path / "model", described)
    with pytest.raises(storage.DamagedError, match=r"has decoder\.layers\.1\.\S+.*which config\.json does not ask for"):
        to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    described["model"]["decoder_layers"] = 3
    rewrite(tmp_path / "model", described)
    with pytest.raises(storage.DamagedError, match=r"has no decoder\.layers\.2\.\S+, which config\.json asks for"):
        to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")


def rewrite(folder: Path, described: dict) -> None:
    files = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("manifest.json", "config.json")
    }
    with storage.new_folder(folder) as aside:
        for name, content in files.items():
            (aside / name).write_bytes(content)
        storage.write_json(aside / "config.json", described)


def test_a_damaged_folder_is_not_converted(tmp_path):
    bundle.save(small(), tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + b"oops")
    with pytest.raises(storage.DamagedError, match=r"model\.safetensors is damaged"):
        to_ctranslate2.convert(tmp_path / "model", tmp_path / "fast")
    assert not (tmp_path / "fast").exists()


def test_names_are_distinct_and_have_no_spaces():
    names = to_ctranslate2.token_names(TOKENIZER, TOKENIZER.vocab_size + 3)
    assert len(set(names)) == len(names) == TOKENIZER.vocab_size + 3
    assert not any(character.isspace() for name in names for character in name)
    assert names[TOKENIZER.eos_id] == "<eos>"
    assert names[-1] == f"<{TOKENIZER.vocab_size + 2}>"


def test_more_pieces_than_rows_are_refused():
    with pytest.raises(ValueError, match="pieces, but the model only 10 rows"):
        to_ctranslate2.token_names(TOKENIZER, 10)


def test_sound_is_refused_unless_the_rest_is_whispers():
    config = replace(transformer(), front=FrontConfig(kind="sound"), embedding=EmbeddingConfig(tie="output"))
    assert "its activation is relu" in to_ctranslate2.reasons_against(config)
    assert to_ctranslate2.reasons_against(families.whisper(**SIZES)) == []

"""Graphs that run elsewhere and say what the model says; every export also checks itself before it is handed over."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import open_folder
from clearformer.foundation import storage
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop import to_onnx
from clearformer.model import families
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, HeadConfig, NormConfig, PositionConfig
from support.toy_models import small, texts

SIZES = {"vocab_size": 50, "dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4, "init_std": 0.3}


def at(kind, **more):
    return PositionConfig(kind=kind, **more)


MODELS = {
    "post-norm": families.transformer(**SIZES),
    "pre-norm, deep and shallow": families.transformer(**SIZES, norm=NormConfig(place="pre"), decoder_layers=1),
    "marian": families.marian(**SIZES),
    "bart": families.bart(**SIZES),
    "t5": families.t5(**SIZES),
    "rotary, grouped": families.transformer(**SIZES, position=at("rotary"), kv_heads=2),
    "alibi": families.transformer(**SIZES, position=at("alibi")),
    "a window": families.transformer(**SIZES, attention=AttentionConfig(heads=4, window=2)),
    "gpt2": families.gpt2(**SIZES),
    "llama": families.llama(**SIZES, kv_heads=1),
    "bert": families.bert(**SIZES),
    "albert": families.albert(**SIZES),
    "roformer with tags": families.roformer(**SIZES, head=HeadConfig(kind="tags", labels=3)),
    "distilbert with classes": families.distilbert(**SIZES, head=HeadConfig(kind="class", labels=3)),
}


def write(folder: Path, config) -> bundle.Bundle:
    torch.manual_seed(2)
    made = Bundle(config=config, model=build(config).eval())
    bundle.save(made, folder)
    return made


@pytest.mark.parametrize("name", MODELS)
def test_every_family_of_attention_is_exported_and_agrees(name, tmp_path):
    """`export` itself compares graph and model on lengths that were not traced; here the files are looked at too."""
    write(tmp_path / "model", MODELS[name])
    to_onnx.export(tmp_path / "model", tmp_path / "out")
    storage.verify(tmp_path / "out")
    told = storage.read_json(tmp_path / "out" / "config.json")["onnx"]["graphs"]
    assert {path.name for path in (tmp_path / "out").glob("*.onnx")} == told.keys()
    for file, facts in told.items():
        graph = onnx.load(str(tmp_path / "out" / file)).graph
        assert [one.name for one in graph.output] == facts["outputs"]
        assert {one.name for one in graph.input} <= set(facts["inputs"])
        for one in graph.input:
            assert one.type.tensor_type.shape.dim[0].dim_param == "batch"


def test_greedy_search_over_the_graphs_finds_the_model_s_translations(tmp_path):
    made = small()
    bundle.save(made, tmp_path / "model")
    to_onnx.export(tmp_path / "model", tmp_path / "out")
    translator = Translator(made)
    source_tokenizer, _ = open_folder(tmp_path / "out").preprocessing.sides
    names = storage.read_json(tmp_path / "out" / "config.json")["onnx"]["graphs"]["decoder_step.onnx"]["inputs"]
    for text in texts(4):
        config = DecodingConfig(beam=1, max_ratio=1.0, max_extra=5)
        [ids] = translator.encode([text], config)
        assert source_tokenizer.ids([text], add_special=False)[0] == ids[:-1]
        keep = np.ones((1, len(ids)), dtype=bool)
        fixed = to_onnx.run(tmp_path / "out" / "encoder.onnx", {"tokens": np.array([ids]), "keep": keep}) | {
            "keep": keep
        }
        past = {name: np.zeros((1, 2, 0, 32), dtype=np.float32) for name in names if name.startswith("past")}
        said, token = [], source_tokenizer.bos_id
        while len(said) < config.longest(len(ids)):
            here = {"token": np.array([[token]]), "position": np.array([[len(said)]])}
            outputs = to_onnx.run(tmp_path / "out" / "decoder_step.onnx", here | past | fixed)
            token = int(outputs.pop("scores").argmax())
            if token == source_tokenizer.eos_id:
                break
            said.append(token)
            past = {name.replace("present", "past"): value for name, value in outputs.items()}
        assert tuple(said) == translator.translate(text, config)[0].ids


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (families.lstm(**SIZES), "a lstm is not exported to ONNX: its shape is lstm"),
        (families.convolution(**SIZES), "its shape is convolution"),
        (families.whisper(**SIZES), "a whisper is not exported to ONNX: it reads sound, not tokens"),
        (families.transformer_xl(**SIZES), "its positions are relative to what it remembers"),
        (families.transformer(**SIZES, norm=NormConfig(kind="batch")), "its norm depends on the batch"),
    ],
)
def test_what_the_graphs_cannot_express_is_refused_before_anything_is_written(config, sentence, tmp_path):
    write(tmp_path / "model", config)
    with pytest.raises(ValueError, match=sentence):
        to_onnx.export(tmp_path / "model", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_graph_that_disagrees_is_not_handed_over(tmp_path, monkeypatch):
    write(tmp_path / "model", MODELS["gpt2"])
    monkeypatch.setattr(to_onnx, "attend", lambda q, k, v, **_: q)
    with pytest.raises(ValueError, match=r"decoder_step\.onnx differs from the model by .*; it was not written"):
        to_onnx.export(tmp_path / "model", tmp_path / "out")
    assert not (tmp_path / "out").exists()

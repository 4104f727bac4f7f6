"""CTranslate2's folders as ours: exact round trips, a real Whisper, and files that mean harm."""

import io
import json
import os
import shutil
import struct
import tarfile
import wave
from dataclasses import replace
from pathlib import Path

import ctranslate2
import numpy as np
import pytest
import tokenizers
import torch
from tokenizers import models

from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.folder import bundle
from clearformer.folder.preprocessing import Markers
from clearformer.inference.steppers import Seq2SeqStepper, SourceBatch
from clearformer.inference.translator import Translator
from clearformer.interop import from_ctranslate2
from clearformer.interop.importer import read_checkpoint
from clearformer.interop.to_ctranslate2 import convert
from clearformer.model import families
from clearformer.model.config import AttentionConfig, EmbeddingConfig, HeadConfig, NormConfig, PositionConfig
from clearformer.model.mel import log_mel
from clearformer.model.weights import weights_of
from interop.model_bin import array, model_bin, text
from support.registry_weights import weights
from support.toy_models import decided, vocabulary

TOKENIZER = vocabulary()
SIZES = {"vocab_size": TOKENIZER.vocab_size, "dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4, "init_std": 0.3}


def transformer(**changes):
    return families.transformer(**{**SIZES, "head": HeadConfig(bias=True), **changes})


ROUND_TRIPS = {
    "post-norm": transformer(),
    "rms, gated, without biases": transformer(
        norm=NormConfig(kind="rms", place="pre", eps=1e-6),
        activation="silu",
        gated=True,
        bias=False,
        attention=AttentionConfig(heads=4, bias=False),
    ),
    "marian": families.marian(**SIZES),
    "t5": replace(families.t5(**SIZES), head=HeadConfig(bias=True, shrink=True)),
    "untied, deep and shallow": transformer(decoder_layers=1, embedding=EmbeddingConfig(tie="none")),
    "target tied to the output": transformer(embedding=EmbeddingConfig(scale=True, tie="output")),
    "no places": transformer(position=PositionConfig(kind="none")),
    "rotary": transformer(position=PositionConfig(kind="rotary", base=500.0)),
    "rotary, stretched": transformer(
        position=PositionConfig(kind="rotary", pairs="neighbours", scaling="linear", factor=2.0)
    ),
    "grouped queries": transformer(kv_heads=2),
    "wide heads": transformer(head_dim=16),
    "keys without bias": transformer(attention=AttentionConfig(heads=4, key_bias=False)),
    "scores of another scale": transformer(attention=AttentionConfig(heads=4, scale=0.5)),
}


def write(folder: Path, config, **choices) -> bundle.Bundle:
    given = decided(config, TOKENIZER)
    bundle.save(given, folder / "model")
    convert(folder / "model", folder / "fast", **choices)
    return given


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_out_and_back_is_byte_equal(name, tmp_path):
    given = write(tmp_path, ROUND_TRIPS[name])
    found = from_ctranslate2.read(tmp_path / "fast")
    assert found.aside == {}
    ours, back = weights_of(given.model), weights_of(found.bundle.model)
    assert ours.keys() == back.keys()
    assert all(torch.equal(ours[key], back[key]) for key in ours)
    before, after = Translator(given), Translator(found.bundle)
    assert after.score("two dog plays", "the cat") == before.score("two dog plays", "the cat")


def test_unused_rows_of_a_learned_table_do_not_come_back(tmp_path):
    given = write(tmp_path, families.bart(**SIZES, max_len=40))
    found = from_ctranslate2.read(tmp_path / "fast").bundle
    assert (found.config.position.kind, found.config.position.offset, found.config.max_len) == ("learned", 0, 40)
    assert Translator(found).score("two dog", "the cat") == Translator(given).score("two dog", "the cat")


@pytest.mark.parametrize("quantization", ["int16", "int8"])
def test_fewer_bits_come_back_as_the_numbers_they_stand_for(quantization, tmp_path):
    given = write(tmp_path, transformer(), quantization=quantization)
    back = weights_of(from_ctranslate2.read(tmp_path / "fast").bundle.model)
    largest = max(float(weight.abs().amax()) for weight in weights_of(given.model).values())
    step = largest / (127 if quantization == "int8" else 1024)
    for name, weight in weights_of(given.model).items():
        assert (back[name] - weight).abs().amax() <= step * 0.51 + 1e-7, name


def test_an_imported_folder_is_used_like_any_other(tmp_path):
    write(tmp_path, transformer())
    assert from_ctranslate2.can_read(tmp_path / "fast")
    assert not from_ctranslate2.can_read(tmp_path / "model")
    found = read_checkpoint(tmp_path / "fast").bundle
    bundle.save(found, tmp_path / "again")
    assert bundle.load(tmp_path / "again").provenance["format"] == "ctranslate2"
    assert (
        Translator(found).translate("two dog")[0].ids
        == Translator(bundle.load(tmp_path / "model")).translate("two dog")[0].ids
    )


def test_a_folder_of_the_engine_s_own_says_its_markers(tmp_path):
    """As other converters write it: no description of ours, and only a tokenizer.json beside the weights."""
    write(tmp_path, transformer())
    pieces = {TOKENIZER.piece(number): number for number in range(TOKENIZER.vocab_size)}
    tokenizers.Tokenizer(models.WordLevel(pieces, unk_token="<unk>")).save(str(tmp_path / "fast" / "tokenizer.json"))
    theirs = {
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "unk_token": "<unk>",
        "decoder_start_token": "<pad>",
        "add_source_bos": True,
        "add_source_eos": True,
        "layer_norm_epsilon": None,
    }
    (tmp_path / "fast" / "config.json").write_text(json.dumps(theirs))
    found = from_ctranslate2.read(tmp_path / "fast").bundle
    assert found.markers == Markers(before_source=(1,), after_source=(2,), start=0)
    (tmp_path / "fast" / "tokenizer.json").unlink()
    without = from_ctranslate2.read(tmp_path / "fast")
    assert without.bundle.tokenizer is None
    assert "reads ids" in without.notes[0]


# ---- a real model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spoken() -> torch.Tensor:
    """Five digits, spoken, as thirty seconds of log-mel frames."""
    wanted = [f"{digit}_george_1.wav" for digit in (3, 7, 1, 9, 4)]
    recordings = {}
    with tarfile.open(Path(os.environ["CLEARFORMER_DATA"]) / "fsdd" / "recordings.tar.gz") as archive:
        for member in archive:
            if (name := Path(member.name).name) in wanted:
                recordings[name] = archive.extractfile(member).read()
    parts = []
    for name in wanted:
        with wave.open(io.BytesIO(recordings[name])) as sound:
            samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2") / 32768
        twice = np.interp(np.arange(2 * len(samples)) / 2, np.arange(len(samples)), samples)  # 8 kHz to 16 kHz
        parts += [twice, np.zeros(6000)]
    joined = np.concatenate(parts)
    padded = np.pad(joined, (0, 30 * 16_000 - len(joined)))
    return log_mel(torch.tensor(padded, dtype=torch.float32)[None])


@pytest.mark.corpora
@pytest.mark.network
@pytest.mark.slow
def test_whisper_hears_what_the_engine_hears(spoken):
    folder = weights("whisper-tiny-en")
    found = from_ctranslate2.read(folder).bundle
    assert found.config.family == "whisper"
    tokenizer = found.tokenizer
    start, plain, end = (tokenizer.id(f"<|{word}|>") for word in ("startoftranscript", "notimestamps", "endoftext"))
    engine = ctranslate2.models.Whisper(str(folder), intra_threads=1, compute_type="float32")
    frames = ctranslate2.StorageView.from_array(np.ascontiguousarray(spoken.mT.numpy()))
    [theirs] = engine.generate(
        frames, [[start, plain]], beam_size=1, suppress_blank=False, suppress_tokens=[], max_length=60
    )
    keep = torch.ones(spoken.shape[:2], dtype=torch.bool)
    [ours] = greedy(
        Seq2SeqStepper(found.model, bos=start),
        SourceBatch(spoken, keep),
        rules=Rules(eos=end),
        max_len=60,
        prefixes=[[plain]],
    )
    assert list(ours.tokens[1:]) == theirs.sequences_ids[0]
    assert tokenizer.decode(ours.tokens) == " 3, 7, 1, 9, 4,"


# ---- files that mean harm -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (model_bin(kind="Wav2Vec2Spec"), "holds a Wav2Vec2Spec; supported are TransformerSpec and"),
        (model_bin(array("a", (2,), bytes(8))), "has no matrix encoder/embeddings_0/weight"),
    ],
)
def test_a_file_that_holds_no_model_of_ours_is_refused(content, sentence, tmp_path):
    (tmp_path / "model.bin").write_bytes(content)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=rf"model\.bin.*(?:{sentence})"):
        from_ctranslate2.read(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    write(folder, transformer())
    return folder / "fast"


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9, 0.9999])
def test_a_file_that_ends_early_is_refused(share, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "cut")
    content = (whole / "model.bin").read_bytes()
    (tmp_path / "cut" / "model.bin").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match=r"ends in the middle of|more than it has room for"):
        from_ctranslate2.read(tmp_path / "cut")


def changed(whole: Path, tmp_path: Path, old: bytes, new: bytes) -> Path:
    """The same folder with one thing in the file replaced by another of equal length."""
    content = (whole / "model.bin").read_bytes()
    assert content.count(old) >= 1
    shutil.copytree(whole, tmp_path / "changed")
    (tmp_path / "changed" / "model.bin").write_bytes(content.replace(old, new, 1))
    return tmp_path / "changed"


def fact(name: str, value: int, code: str = "b", kind: int = 1) -> bytes:
    content = struct.pack(f"<{code}", value)
    return text(name) + b"\0" + bytes([kind]) + struct.pack("<I", len(content)) + content


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("decoder/alibi", 0, 1, r"decoder/alibi is 1, and only 0 is supported"),
        ("encoder/activation", 0, 6, r"decoder/activation is 0, and only 6"),
        ("decoder/pre_norm", 0, 1, r"decoder/pre_norm is 1, and only 0 is supported"),
        ("decoder/start_from_zero_embedding", 0, 1, "begins with a token, but its model does not"),
    ],
)
def test_a_setting_that_no_model_here_has_is_refused_by_name(name, old, new, sentence, whole, tmp_path):
    folder = changed(whole, tmp_path, fact(name, old), fact(name, new))
    with pytest.raises(ValueError, match=sentence):
        from_ctranslate2.read(folder)


def test_an_unknown_setting_is_not_guessed_at(whole, tmp_path):
    folder = changed(whole, tmp_path, text("decoder/scale_alibi"), text("decoder/scale_other"))
    with pytest.raises(ValueError, match="has decoder/scale_other, which is not known here and may change the result"):
        from_ctranslate2.read(folder)


def test_an_unknown_tensor_is_named(whole, tmp_path):
    folder = changed(whole, tmp_path, text("decoder/projection/bias"), text("decoder/projection/more"))
    with pytest.raises(ValueError, match=r"decoder\.projection\.more"):
        from_ctranslate2.read(folder)


def test_numbers_that_are_not_finite_are_refused(whole, tmp_path):
    content = bytearray((whole / "model.bin").read_bytes())
    place = content.index(text("decoder/projection/bias")) + len(text("decoder/projection/bias")) + 1 + 4 + 1 + 4
    content[place : place + 4] = struct.pack("<f", float("nan"))
    shutil.copytree(whole, tmp_path / "nan")
    (tmp_path / "nan" / "model.bin").write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"decoder\.projection\.bias holds values that are not finite"):
        from_ctranslate2.read(tmp_path / "nan")

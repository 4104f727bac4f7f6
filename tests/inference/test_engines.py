"""Which engine a model gets, and the copy that the fast one works on: made once, never stale, never half."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.folder.description import ModelFolder, read_description
from clearformer.folder.preprocessing import Markers
from clearformer.foundation import storage
from clearformer.inference import engines
from clearformer.inference.ctranslate2 import CTranslate2Translator
from clearformer.inference.engine_network import EngineNetwork
from clearformer.inference.engines import converted, open_bundle, open_translator
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop.to_ctranslate2 import convert
from clearformer.model.config import PositionConfig
from support.toy_models import small
from support.toy_readers import HEADS, LABELS, bert, saved


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache" / "clearformer"))
    return tmp_path / "cache" / "clearformer" / "ctranslate2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bundle.save(small(), tmp_path / "models" / "toy")
    return tmp_path / "models" / "toy"


def test_auto_takes_the_fast_engine(folder: Path):
    assert isinstance(open_translator(folder), CTranslate2Translator)
    assert isinstance(open_translator(folder, "ctranslate2"), CTranslate2Translator)
    assert isinstance(open_translator(folder, "torch"), Translator)


def test_auto_says_why_it_does_not(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    bundle.save(small(position=PositionConfig(kind="alibi")), tmp_path / "alibi")
    with caplog.at_level(logging.INFO):
        assert isinstance(open_translator(tmp_path / "alibi"), Translator)
    assert (
        "translating with the torch engine: ctranslate2 cannot run this transformer: its positions are alibi"
        in caplog.text
    )
    with pytest.raises(ValueError, match="its positions are alibi"):
        open_translator(tmp_path / "alibi", "ctranslate2")


def test_a_search_that_only_pytorch_can_do_gets_it(folder: Path, caplog: pytest.LogCaptureFixture):
    paper = DecodingConfig(penalty="gnmt", alpha=0.6)
    with caplog.at_level(logging.INFO):
        assert isinstance(open_translator(folder, config=paper), Translator)
    assert "ctranslate2 cannot search with penalty = 'gnmt'" in caplog.text
    with pytest.raises(ValueError, match="penalty = 'gnmt'"):
        open_translator(folder, "ctranslate2", paper)


def test_outputs_that_begin_with_forced_tokens_are_pytorch_s(tmp_path: Path):
    given = small()
    forced = Markers(after_source=(2,), start=1, forced=(5,))
    bundle.save(replace(given, preprocessing=replace(given.preprocessing, markers=forced)), tmp_path / "m")
    assert isinstance(open_translator(tmp_path / "m"), Translator)


def test_markers_of_an_imported_model_are_followed(tmp_path: Path):
    given = small()
    markers = Markers(before_source=(7,), after_source=(2, 9), start=12)
    bundle.save(replace(given, preprocessing=replace(given.preprocessing, markers=markers)), tmp_path / "m")
    sentences = ["two dog plays", "snow"]
    found = open_translator(tmp_path / "m", "ctranslate2").translate(sentences)
    assert [one.ids for one in found] == [
        one.ids for one in open_translator(tmp_path / "m", "torch").translate(sentences)
    ]


def test_the_copy_is_made_once_beside_the_folder(folder: Path, own_cache: Path):
    place = converted(folder).path
    assert place == folder.parent / ".toy.ctranslate2"
    written = (place / "model.bin").stat().st_mtime_ns
    assert converted(folder).path == place
    assert (place / "model.bin").stat().st_mtime_ns == written
    assert not own_cache.exists()
    assert [path.name for path in sorted(folder.parent.iterdir())] == [".toy.ctranslate2", "toy"]
    storage.verify(folder)  # the model folder itself is as it was


def test_a_package_is_left_as_it_was_installed(folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engines, "shipped_models", lambda: folder.parent)
    assert converted(folder).path.parent == own_cache
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


def test_other_weights_make_another_copy(folder: Path):
    before = converted(folder).description.engine["made_from"]
    bundle.save(small(init_std=0.2), folder)
    assert converted(folder).description.engine["made_from"] != before


@pytest.mark.parametrize("harm", ["truncated", "missing", "older layout", "empty"])
def test_a_copy_that_cannot_be_trusted_is_made_anew(folder: Path, harm: str, monkeypatch: pytest.MonkeyPatch):
    place = converted(folder).path
    if harm == "truncated":
        (place / "model.bin").write_bytes((place / "model.bin").read_bytes()[:-10])
    elif harm == "missing":
        (place / "model.bin").unlink()
    elif harm == "empty":
        shutil.rmtree(place)
        place.mkdir()
    else:
        monkeypatch.setattr(engines, "LAYOUT", 2)
        assert engines._made_from(place, read_description(place).engine["made_from"]) is None
        monkeypatch.undo()
    assert converted(folder).path == place
    storage.verify(place)


def test_a_place_that_fails_is_followed_by_the_cache(folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    real = engines._convert

    def refuse(source: ModelFolder, place: Path) -> None:
        if place.parent == folder.parent:
            raise OSError("read-only file system")
        real(source, place)

    monkeypatch.setattr(engines, "_convert", refuse)
    place = converted(folder).path
    assert place.parent == own_cache
    assert converted(folder).path == place
    monkeypatch.setattr(engines, "_convert", lambda *_: (_ for _ in ()).throw(OSError("full")))
    shutil.rmtree(place)
    with pytest.raises(OSError, match=r"neither .* nor .* can be written to; set CLEARFORMER_CACHE"):
        converted(folder)


def test_a_damaged_folder_is_refused_by_every_engine(folder: Path):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + b"oops")
    with pytest.raises(storage.DamagedError, match=r"model\.safetensors is damaged"):
        open_translator(folder)


def test_a_folder_made_for_the_fast_engine_opens_as_it_is(folder: Path):
    place = converted(folder).path
    found = open_translator(place).translate("two dog")
    assert [one.ids for one in found] == [one.ids for one in open_translator(folder).translate("two dog")]
    with pytest.raises(ValueError, match="holds weights for ctranslate2 alone"):
        open_translator(place, "torch")


def test_a_model_that_reads_has_either_engine(tmp_path: Path):
    saved(tmp_path / "m" / "toy", head=HEADS["class"])
    assert not isinstance(open_bundle(tmp_path / "m" / "toy").model, EngineNetwork)  # which is the faster one here
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["toy"]
    opened = open_bundle(tmp_path / "m" / "toy", "ctranslate2")
    assert isinstance(opened.model, EngineNetwork)
    assert opened.labels == LABELS
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == [".toy.ctranslate2", "toy"]


def test_a_reader_that_the_fast_engine_cannot_run_is_refused_by_name(tmp_path: Path):
    saved(tmp_path / "alibi", bert(position=PositionConfig(kind="alibi")))
    assert not isinstance(open_bundle(tmp_path / "alibi").model, EngineNetwork)
    with pytest.raises(ValueError, match="ctranslate2 cannot run this bert: its positions are alibi"):
        open_bundle(tmp_path / "alibi", "ctranslate2")


def test_a_quantised_reader_opens_as_such(tmp_path: Path):
    saved(tmp_path / "toy", head=HEADS["class"])
    convert(tmp_path / "toy", tmp_path / "small", quantization="int8")
    for engine in ("auto", "ctranslate2"):
        opened = open_bundle(tmp_path / "small", engine)
        assert isinstance(opened.model, EngineNetwork)
        assert opened.model.engine.quantization == "int8"
    with pytest.raises(ValueError, match="holds weights for ctranslate2 alone"):
        open_bundle(tmp_path / "small", "torch")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small", "toy"]  # a quantised folder needs no copy


def test_a_damaged_reader_is_run_by_nobody(tmp_path: Path):
    saved(tmp_path / "toy")
    weights = tmp_path / "toy" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    for engine in ("auto", "ctranslate2"):
        with pytest.raises(storage.DamagedError):
            open_bundle(tmp_path / "toy", engine)

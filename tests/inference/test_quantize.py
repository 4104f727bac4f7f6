"""Eight bits that are measured before they are believed."""

from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.folder.description import read_description
from clearformer.foundation import storage
from clearformer.inference import quantize
from clearformer.inference.engines import open_translator
from clearformer.inference.quantize import Comparison, Measured
from clearformer.inference.translation_settings import DecodingConfig
from support.toy_models import small, texts

SHORT = DecodingConfig(beam=2, max_ratio=1.0, max_extra=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bundle.save(small(init_std=0.2), tmp_path / "model")
    return tmp_path / "model"


def test_a_quarter_of_the_size_with_both_scores(folder: Path, tmp_path: Path):
    given = texts(12)
    seen = []
    found = quantize.quantize(
        folder,
        tmp_path / "out" / "small",
        given,
        given,
        limit=100,
        config=SHORT,
        on_progress=lambda *now: seen.append(now),
    )
    assert found.after.bytes < found.before.bytes * 0.6  # the table of waves stays as it was
    assert found.sentences == 12
    assert found.before.sentences_per_second > 0
    assert found.lost == found.before.bleu - found.after.bleu
    assert seen[-1] == (24, 24)
    storage.verify(tmp_path / "out" / "small")
    assert read_description(tmp_path / "out" / "small").engine["quantization"] == "int8"
    assert len(open_translator(tmp_path / "out" / "small").translate(given, SHORT)) == 12
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small"]


def test_past_the_limit_nothing_is_left_behind(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The scores are given here; everything around them is real."""
    scores = iter([30.0, 29.4])
    fixed = lambda *_: Measured(bytes=1, sentences_per_second=1.0, bleu=next(scores))  # noqa: E731
    monkeypatch.setattr(quantize, "measure", fixed)
    with pytest.raises(ValueError, match=r"int8 costs 0\.60 BLEU \(30\.00 before, 29\.40 after\).*nothing was written"):
        quantize.quantize(folder, tmp_path / "out" / "small", ["a"], ["b"])
    assert list((tmp_path / "out").iterdir()) == []


def test_a_gain_is_no_loss():
    one, other = (Measured(bytes=1, sentences_per_second=1.0, bleu=bleu) for bleu in (30.0, 30.2))
    assert Comparison(before=one, after=other, sentences=1).lost == pytest.approx(-0.2)


def test_an_existing_folder_is_not_overwritten(folder: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="exists already; choose another name or remove it"):
        quantize.quantize(folder, tmp_path, ["a"], ["b"])


@pytest.mark.parametrize(("sources", "references"), [([], []), (["a"], ["b", "c"])])
def test_a_test_set_must_be_one(folder: Path, tmp_path: Path, sources, references):
    with pytest.raises(ValueError, match="give as many, and at least one"):
        quantize.quantize(folder, tmp_path / "small", sources, references)


def test_an_inexpressible_model_is_refused_by_name(tmp_path: Path):
    from clearformer.model.config import PositionConfig

    bundle.save(small(position=PositionConfig(kind="alibi")), tmp_path / "model")
    with pytest.raises(ValueError, match="its positions are alibi"):
        quantize.quantize(tmp_path / "model", tmp_path / "small", ["a"], ["b"])
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_shortlist_narrows_what_may_be_said(folder: Path, tmp_path: Path):
    given = texts(12)
    pairs = (texts(50, seed=5), ["snow dog"] * 50)
    quantize.quantize(folder, tmp_path / "small", given, given, limit=100, pairs=pairs, config=SHORT)
    assert read_description(tmp_path / "small").engine["shortlist"] is True
    translator = open_translator(tmp_path / "small")
    allowed = set(translator.target_tokenizer.ids(["snow dog"], add_special=False)[0])
    assert {number for one in translator.translate(given, SHORT) for number in one.ids} <= allowed

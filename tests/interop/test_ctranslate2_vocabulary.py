"""How text is cut for models that come as pieces: SentencePiece models in the folder or beside it, or nothing."""

import json
import shutil

import pytest
import sentencepiece

from clearformer.interop import from_ctranslate2
from interop import opus
from interop.texts import mixed_texts


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opus") / "model"
    return folder, opus.write(folder)


@pytest.fixture
def folder(made, tmp_path):
    for name in ("model.bin", "config.json", "shared_vocabulary.json", "source.spm", "target.spm"):
        shutil.copy(made[0] / name, tmp_path)
    return tmp_path


def test_both_sides_are_cut_as_sentencepiece_cuts_them(made):
    folder, pieces = made
    found = from_ctranslate2.read(folder).bundle
    for side, tokenizer in zip(("source", "target"), found.preprocessing.sides, strict=True):
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        for text in mixed_texts(20):
            cut = model.encode(text, out_type=str)
            known = [pieces.index(piece) if piece in pieces else 1 for piece in cut]
            assert list(tokenizer.encode(text).ids) == known
            if 1 not in known:
                assert tokenizer.decode(known) == model.decode(cut)
    assert found.markers.after_source == (0,)
    assert found.markers.before_source == ()


def test_one_model_beside_the_folder_serves_both_sides(folder):
    """As Argos packs it; the package itself may be given too."""
    package = folder / "package"
    shutil.copytree(folder, package / "model", ignore=shutil.ignore_patterns("package", "*.spm"))
    shutil.copy(folder / "source.spm", package / "sentencepiece.model")
    inner, outer = from_ctranslate2.read(package / "model").bundle, from_ctranslate2.read(package).bundle
    expected = from_ctranslate2.read(folder).bundle.tokenizer.encode("two dogs in the snow").ids
    for found in (inner, outer):
        assert [side.encode("two dogs in the snow").ids for side in found.preprocessing.sides] == [expected] * 2


def test_a_list_that_does_not_fit_the_model_is_refused(folder):
    pieces = json.loads((folder / "shared_vocabulary.json").read_text())
    (folder / "shared_vocabulary.json").write_text(json.dumps(pieces[:-1]))
    with pytest.raises(ValueError, match=r"lists \d+ different pieces, but its model has \d+ rows"):
        from_ctranslate2.read(folder)
    (folder / "shared_vocabulary.json").write_text(json.dumps({"</s>": 0}))
    with pytest.raises(ValueError, match=r"shared_vocabulary\.json must be a list of pieces"):
        from_ctranslate2.read(folder)
    (folder / "shared_vocabulary.json").unlink()
    with pytest.raises(ValueError, match=r"no source_vocabulary\.json and no shared_vocabulary\.json"):
        from_ctranslate2.read(folder)


def test_a_marker_that_is_no_piece_is_refused(folder):
    plain = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(plain | {"eos_token": "<end>"}))
    with pytest.raises(ValueError, match="no piece '<end>' in its list"):
        from_ctranslate2.read(folder)


def test_without_a_way_of_cutting_the_model_reads_ids(folder):
    for name in ("source.spm", "target.spm"):
        (folder / name).unlink()
    found = from_ctranslate2.read(folder)
    assert found.bundle.tokenizer is None
    assert "reads ids" in found.notes[0]

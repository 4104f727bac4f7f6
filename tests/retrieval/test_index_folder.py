"""An index on disk: what was saved is loaded, and what is damaged is named."""

import json
import shutil

import numpy as np
import pytest

from clearformer.foundation import storage
from clearformer.foundation.storage import DamagedError
from clearformer.retrieval.build_index import build_index
from clearformer.retrieval.index_folder import PackedTexts, load_index, save_index
from retrieval.small_index import LINES, encoder, write_lines


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    build_index([write_lines(folder)], folder / "idx", model=encoder(folder), unit="line")
    return folder / "idx"


def test_what_is_saved_is_loaded(made, tmp_path):
    one = load_index(made)
    save_index(one, tmp_path / "again")
    assert storage.read_manifest(tmp_path / "again") == storage.read_manifest(made)
    assert list(one.texts) == LINES
    assert one.vectors.dtype == np.float32
    assert isinstance(one.vectors, np.memmap), "vectors are read from the disk as they are needed"
    assert [one.document(number).line for number in range(5)] == [1, 2, 3, 4, 5]


def test_texts_of_any_kind_come_back():
    given = ["", "雪", "a\nb", "🐕 dog", ""]
    assert list(PackedTexts.of(given)) == given


@pytest.mark.parametrize(
    "name", ["vectors.npy", "terms.txt", "texts.txt", "postings.npy", "index.json", "manifest.json"]
)
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_damage_is_named(made, tmp_path, name, damage):
    folder = tmp_path / "idx"
    shutil.copytree(made, folder)
    raw = bytearray((folder / name).read_bytes())
    if damage == "remove":
        (folder / name).unlink()
    else:
        raw[len(raw) // 2] ^= 1
        (folder / name).write_bytes(raw if damage == "flip" else raw[:-1])
    with pytest.raises(ValueError, match=r"build the index again|is not a search index|this version reads") as error:
        load_index(folder)
    assert "\n" not in str(error.value)


def sealed(folder):
    """Make the manifest fit what is there, as somebody would who wants to be believed."""
    files = [one for one in sorted(folder.iterdir()) if one.name != storage.MANIFEST]
    told = {one.name: {"bytes": one.stat().st_size, "sha256": storage.sha256(one)} for one in files}
    storage.write_json(folder / storage.MANIFEST, {"files": told})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("postings", lambda array: array + 99),
        ("starts", lambda array: array[::-1].copy()),
        ("windows", lambda array: array - 1),
        ("windows", lambda array: array[1:]),
        ("vectors", lambda array: array.astype(np.float64)),
        ("vectors", lambda array: array[:-1]),
        ("texts", lambda array: array * 9),
        ("documents", lambda array: array[:, :2]),
        ("counts", lambda array: np.array([{}], dtype=object)),
    ],
)
def test_numbers_that_lead_outside_are_refused_though_the_manifest_fits(made, tmp_path, name, change):
    folder = tmp_path / "idx"
    shutil.copytree(made, folder)
    changed = change(np.load(folder / f"{name}.npy"))
    np.save(folder / f"{name}.npy", changed, allow_pickle=True)
    sealed(folder)
    with pytest.raises(DamagedError, match="build the index again"):
        load_index(folder)


@pytest.mark.parametrize(
    "change", [{"format": 9}, {"unit": "word"}, {"model": {"name": 1}}, {"files": None}, {"bm25": {"k1": 2}}]
)
def test_facts_of_another_kind_are_refused(made, tmp_path, change):
    folder = tmp_path / "idx"
    shutil.copytree(made, folder)
    facts = json.loads((folder / "index.json").read_text()) | change
    (folder / "index.json").write_text(json.dumps(facts))
    sealed(folder)
    with pytest.raises(DamagedError, match="this version reads"):
        load_index(folder)

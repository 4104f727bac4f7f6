"""Building: what has not changed is not embedded again, what is there is never lost, and strange input is survived."""

import logging

import numpy as np
import pytest

from clearformer.foundation import storage
from clearformer.inference.text_readers import Embedder
from clearformer.retrieval import build_index as module
from clearformer.retrieval.build_index import build_index, left_out_lines
from clearformer.retrieval.search_index import open_index
from retrieval.small_index import LINES, encoder, write_lines


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def embedded(monkeypatch):
    """Every text that goes through the network."""
    texts = []
    real = Embedder.embed

    def embed(self, given, **choices):
        texts.extend(given)
        return real(self, given, **choices)

    monkeypatch.setattr(Embedder, "embed", embed)
    return texts


def test_a_later_build_embeds_only_what_is_new(tmp_path, model, embedded, caplog):
    caplog.set_level(logging.INFO)
    path = write_lines(tmp_path)
    build_index([path], tmp_path / "idx", model=model, unit="line")
    assert sorted(embedded) == sorted(LINES)
    before = storage.read_manifest(tmp_path / "idx")
    embedded.clear()
    build_index([path], tmp_path / "idx", model=model, unit="line")
    assert embedded == []
    assert storage.read_manifest(tmp_path / "idx") == before, "the same input is the same index"
    path.write_text("\n".join(["dogs in snow", *LINES[1:], LINES[1]]))
    again = build_index([path], tmp_path / "idx", model=model, unit="line")
    assert embedded == ["dogs in snow"]
    assert "the vectors of 4 windows are reused; 1 are new" in caplog.text
    fresh = build_index([path], tmp_path / "fresh", model=model, unit="line")
    assert np.allclose(again.content.vectors, fresh.content.vectors, atol=1e-6)
    assert list(again.content.texts) == list(fresh.content.texts)


def test_another_model_embeds_everything_again(tmp_path, model, embedded):
    path = write_lines(tmp_path)
    build_index([path], tmp_path / "idx", model=model, unit="line")
    embedded.clear()
    build_index([path], tmp_path / "idx", model=encoder(tmp_path, seed=1), unit="line")
    assert sorted(embedded) == sorted(LINES)


def test_a_damaged_index_is_built_anew(tmp_path, model, embedded, caplog):
    path = write_lines(tmp_path)
    build_index([path], tmp_path / "idx", model=model, unit="line")
    (tmp_path / "idx" / "vectors.npy").write_bytes(b"x")
    embedded.clear()
    build_index([path], tmp_path / "idx", model=model, unit="line")
    assert "nothing is reused: " in caplog.text
    assert sorted(embedded) == sorted(LINES)
    assert open_index(tmp_path / "idx").ask("dogs")


def test_a_folder_that_is_no_index_is_never_replaced(tmp_path):
    path = write_lines(tmp_path)
    for place in (tmp_path, path):
        with pytest.raises(ValueError, match="is there and is not a search index; name a new folder"):
            build_index([path], place)
    assert path.read_text().splitlines() == LINES


def test_a_build_that_fails_leaves_the_old_index(tmp_path, model, monkeypatch):
    path = write_lines(tmp_path)
    build_index([path], tmp_path / "idx", model=model)
    before = storage.read_manifest(tmp_path / "idx")
    path.write_text("something else")
    monkeypatch.setattr(module, "_vectors", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build_index([path], tmp_path / "idx", model=model)
    assert storage.read_manifest(tmp_path / "idx") == before
    assert open_index(tmp_path / "idx").ask("dogs")


def test_nothing_to_index_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(ValueError, match="there is no text to index in 1 file"):
        build_index([tmp_path / "empty.txt"], tmp_path / "idx")
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="there is no text to index in 0 files"):
        build_index([tmp_path / "none"], tmp_path / "idx")
    with pytest.raises(ValueError, match="not 'word'"):
        build_index([tmp_path / "empty.txt"], tmp_path / "idx", unit="word")
    assert not (tmp_path / "idx").exists()


@pytest.mark.parametrize("unit", ["line", "file", "passage"])
def test_strange_texts_are_found_again(tmp_path, model, unit):
    """A line of 100,000 characters, control characters in which the model sees nothing, emoji, a lone mark."""
    lines = ["snow " * 20_000, "\x01\x02", "🐕", "\u0301", "\u200b", "dog"]
    (tmp_path / "strange.txt").write_text("\n\n".join(lines))
    index = build_index([tmp_path / "strange.txt"], tmp_path / "idx", model=model, unit=unit)
    hits = index.ask("dog", k=1)
    assert len(hits) == 1
    assert np.isfinite(index.content.vectors).all()
    assert index.ask("snow", by="words")[0].line == 1
    assert len(index.ask("snow", by="words")[0].text) <= 1000


def test_a_long_build_says_how_long_it_takes(caplog):
    caplog.set_level(logging.INFO)
    module._announce(2.0, 100, 150)
    assert not caplog.records
    module._announce(2.0, 100, 100_000)
    assert "embedding 100,000 characters takes about 33 minutes" in caplog.text


def test_what_is_left_out_is_one_summary(tmp_path, caplog):
    (tmp_path / "good.txt").write_text("two dogs")
    for number in range(5):
        (tmp_path / f"empty{number}.txt").touch()
    build_index([tmp_path], tmp_path / "idx")
    named = [f"  {tmp_path / f'empty{number}.txt'} is empty" for number in range(3)]
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == ["5 files were left out:", *named, "  … and 2 more"]
    assert left_out_lines([]) == []

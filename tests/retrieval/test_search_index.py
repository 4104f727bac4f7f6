"""Asking: the best document is first, by words, by meaning and by both, and the right model is insisted on."""

import numpy as np
import pytest

from clearformer.retrieval.bm25 import count_terms
from clearformer.retrieval.build_index import build_index
from clearformer.retrieval.fusion import fuse_ranks, rank
from clearformer.retrieval.search_index import open_index
from retrieval.small_index import LINES, encoder, write_lines


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    build_index([write_lines(folder)], folder / "idx", model=encoder(folder), unit="line")
    return folder


@pytest.fixture(scope="module")
def index(home):
    return open_index(home / "idx")


@pytest.mark.parametrize("line", LINES)
def test_a_text_finds_itself(index, line):
    for by in ("fused", "meaning"):
        assert index.ask(line, by=by)[0].text == line
    assert index.ask(line, by="meaning")[0].score == pytest.approx(1, abs=1e-5)


def test_cosines_are_products_and_words_are_bm25(index):
    query = "dogs in the snow"
    [vector] = index.embedder.embed([query]).numpy()
    products = index.embedder.embed(LINES).numpy() @ vector
    terms = [[{"dogs": "dog"}.get(word, word) for word in line.replace(".", "").split()] for line in LINES]
    bm25 = count_terms(terms).scores(["dog", "in", "the", "snow"])
    share = bm25 / sum(map(count_terms(terms).idf, ["dog", "in", "the", "snow"]))
    ranks = fuse_ranks([rank(bm25)[: int((bm25 > 0).sum())], rank(products)], len(LINES))
    fused = (products + share) / 2
    for by, expected in (("meaning", products), ("words", bm25), ("fused", fused), ("ranks", ranks)):
        found = index.ask(query, by=by, k=len(LINES))
        assert [hit.text for hit in found] == [
            LINES[one] for one in rank(expected) if expected[one] > 0 or by != "words"
        ]
        assert [hit.score for hit in found] == pytest.approx(sorted(expected, reverse=True)[: len(found)], abs=1e-5)
    [first] = index.ask(query, k=1)
    assert first.cosine == pytest.approx(products[LINES.index(first.text)], abs=1e-5)
    assert first.bm25 == pytest.approx(bm25[LINES.index(first.text)])


def test_a_place_leads_back_to_the_file(home, index):
    text = (home / "lines.txt").read_text()
    for hit in index.ask("dogs"):
        assert text[hit.start : hit.end] == hit.text == text.splitlines()[hit.line - 1]
        assert hit.file == str(home / "lines.txt")


def test_words_that_nobody_wrote_find_nothing_and_no_words_are_refused(index):
    assert index.ask("unheard", by="words") == []
    with pytest.raises(ValueError, match="text 1 is empty; say what to look for"):
        index.ask("  ")
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        index.ask("dogs", k=0)
    with pytest.raises(ValueError, match="by must be fused, meaning, words or ranks, not 'magic'"):
        index.ask("dogs", by="magic")


def test_another_model_is_refused_and_a_moved_one_is_found(home, tmp_path):
    other = encoder(tmp_path, seed=1)
    with pytest.raises(ValueError, match="ours is not the model that the index was built with"):
        open_index(home / "idx", model=other).ask("dogs")
    assert open_index(home / "idx", model=other).ask("dogs", by="words"), "words need no model"
    moved = home / "moved"
    (home / "ours").rename(moved)
    try:
        with pytest.raises(ValueError, match=r"the index's model .* is gone; say where it is now with --model"):
            open_index(home / "idx").ask("dogs")
        assert open_index(home / "idx", model=moved).ask("dogs")
    finally:
        moved.rename(home / "ours")


def test_without_a_model_words_are_found_and_meaning_is_refused(tmp_path):
    build_index([write_lines(tmp_path)], tmp_path / "idx", unit="line")
    index = open_index(tmp_path / "idx")
    assert [hit.text for hit in index.ask("dog two")] == ["two dogs play", "two", "the dog", "in the snow dogs play ."]
    assert index.ask("two")[0].cosine is None
    with pytest.raises(ValueError, match="built without a model, so it finds words alone"):
        index.ask("dogs", by="meaning")


def test_a_long_file_is_found_by_its_best_sentence_and_shows_it(tmp_path):
    model = encoder(tmp_path)
    (tmp_path / "long.txt").write_text("two two two.\n\n" * 40 + "the dogs play in the snow.\n\n" + "the the.\n\n" * 40)
    (tmp_path / "short.txt").write_text("two dogs")
    index = build_index([tmp_path / "long.txt", tmp_path / "short.txt"], tmp_path / "idx", model=model, unit="file")
    for by in ("meaning", "words", "fused", "ranks"):
        first = index.ask("the dogs play in the snow.", by=by)[0]
        assert first.file == str(tmp_path / "long.txt")
        assert "the dogs play in the snow." in first.text
        assert len(first.text) <= 1000
        assert first.passage is None


def test_equal_documents_come_in_their_order(tmp_path):
    (tmp_path / "same.txt").write_text("two dogs\n" * 20)
    index = build_index([tmp_path / "same.txt"], tmp_path / "idx", model=encoder(tmp_path), unit="line")
    for by in ("meaning", "words", "fused", "ranks"):
        assert [hit.line for hit in index.ask("dogs", by=by, k=20)] == list(range(1, 21))


def test_several_queries_are_answered_as_each_alone(index):
    queries = ["dogs", "the snow", "two"]
    together = list(index.ask_all(queries, k=3))
    for query, hits in zip(queries, together, strict=True):
        alone = index.ask(query, k=3)
        assert [hit.text for hit in alone] == [hit.text for hit in hits]
        assert np.allclose([hit.score for hit in alone], [hit.score for hit in hits], atol=1e-6)

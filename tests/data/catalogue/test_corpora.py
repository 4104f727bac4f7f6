"""The catalogue: every entry complete, every path harmless, every checksum well formed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from clearformer.data.catalogue.corpora import find_corpus, list_corpora

CORPORA = {corpus.name: corpus for corpus in list_corpora()}


@pytest.fixture(params=sorted(CORPORA))
def corpus(request):
    return CORPORA[request.param]


def test_the_corpora_of_the_recipes_are_known():
    assert {"multi30k", "tatoeba-en-de", "en-fr", "zh-en", "wmt14-en-de", "wmt14-en-fr"} <= CORPORA.keys()


def test_papers_are_in_order(corpus):
    assert all((corpus.title, corpus.origin, corpus.licence, corpus.attribution, corpus.citation))
    assert len({file.path for file in corpus.files}) == len(corpus.files) > 0


def test_files_are_well_described(corpus):
    for file in corpus.files:
        assert file.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.url is None or urlsplit(file.url).scheme in ("http", "https")
        assert file.url is not None or file.sha256 is not None  # without address and checksum nothing could be had
        assert (file.form == "archive") == bool(file.members)
        for path in (file.path, *file.members):
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts


def test_splits_name_files_that_the_corpus_has(corpus):
    available = {path for file in corpus.files for path in (file.members or (file.path,))}
    for part in corpus.splits:
        paths = {path for lang in ("en", "de", "fr", "zh") for path in corpus.split(part, lang=lang)}
        assert paths & available, part


def test_an_address_is_pinned_to_a_commit_or_a_fixed_file(corpus):
    for file in corpus.files:
        if file.url and "githubusercontent" in file.url:
            assert re.search(r"/[0-9a-f]{40}/", file.url)


def test_the_parts_of_multi30k():
    multi30k = find_corpus("multi30k")
    assert multi30k.downloadable
    assert multi30k.split("train", lang="de") == ("raw/train.de.gz",)
    assert multi30k.split("tok_test", lang="en") == ("tok/test_2016_flickr.lc.norm.tok.en.gz",)
    with pytest.raises(ValueError, match="multi30k has no part 'dev': choose one of train, val, test"):
        multi30k.split("dev", lang="de")


def test_wmt14_has_the_training_files_of_2017():
    assert find_corpus("wmt14-en-de").split("train", lang="de") == (
        "training/europarl-v7.de-en.de",
        "commoncrawl.de-en.de",
        "training/news-commentary-v9.de-en.de",
    )
    assert len(find_corpus("wmt14-en-fr").split("train", lang="fr")) == 5


def test_a_name_that_is_almost_right_gets_a_hint():
    with pytest.raises(ValueError, match="did you mean multi30k"):
        find_corpus("multi30")
    with pytest.raises(ValueError, match="known are aeslc"):
        find_corpus("?")

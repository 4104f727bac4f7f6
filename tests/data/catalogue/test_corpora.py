"""The catalogue: every entry complete, every path harmless, every checksum well formed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from clearformer.data.catalogue.corpora import find_corpus, list_corpora
from clearformer.data.catalogue.prepare import STEPS

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
        assert all(urlsplit(url).scheme in ("http", "https") for url in file.urls)
        assert file.urls or file.sha256 is not None  # without address and checksum nothing could be had
        assert (file.form == "archive") == bool(file.members)
        assert {step.split(" ")[0] for step in file.prepare} <= STEPS.keys()
        assert not (file.prepare or file.unseen) or file.sha256 is not None  # only the checksum tells right from wrong
        assert len(file.urls) <= 1 or file.prepare
        for path in (file.path, *file.members):
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts


def test_splits_name_files_that_the_corpus_has(corpus):
    available = {path for file in corpus.files for path in (file.members or (file.path,))}
    for part in corpus.splits:
        paths = {path.partition("#")[0] for lang in ("en", "de", "fr", "zh") for path in corpus.split(part, lang=lang)}
        outer = {next((one for one in available if path.startswith(f"{one}/")), path) for path in paths}  # an archive
        assert outer & available, part


def test_an_address_is_pinned_to_a_commit_or_a_fixed_file(corpus):
    for url in (url for file in corpus.files for url in file.urls):
        if "githubusercontent" in url:
            assert re.search(r"/[0-9a-f]{40}/", url)


def test_every_corpus_can_be_had_somehow(corpus):
    if corpus.way == "copy":
        assert urlsplit(corpus.ask or "").scheme == "https"
    assert corpus.downloadable == (corpus.way == "download")


def test_ways():
    ways = {name: CORPORA[name].way for name in ("sample", "wnut-17", "mr-polarity", "zh-en", "msra-ner")}
    expected = ("package", "download", "download", "attempt", "copy")
    assert tuple(ways.values()) == expected


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

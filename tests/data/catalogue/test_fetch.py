"""Getting a corpus: local copy, cache and download give the same files, each verified."""

from __future__ import annotations

import gzip
import hashlib
import io
import logging
import tarfile
import threading

import pytest

from clearformer.data.catalogue.corpora import Corpus, CorpusFile, list_corpora
from clearformer.data.catalogue.fetch import FetchError, fetch, get, locate
from clearformer.foundation.download import DownloadConfig, DownloadError
from clearformer.foundation.machine import cache_folder

IMPATIENT = DownloadConfig(stall_seconds=2, attempts=2, first_pause=0.01)
PLAIN = b"Two dogs play in the snow.\n" * 100
PACKED = gzip.compress(PLAIN)

pytestmark = pytest.mark.timeout(60)


def sha(content):
    return hashlib.sha256(content).hexdigest()


def corpus_of(*files, **more):
    words = dict.fromkeys(("title", "licence", "attribution", "citation"), "words")
    return Corpus(name="made-up", origin="a far country", splits={}, files=files, **words, **more)


def file_at(url, path, content, **more):
    urls = () if url is None else (url,)
    return CorpusFile(**{"path": path, "urls": urls, "size": len(content), "sha256": sha(content), **more})


def answering(contents):
    def answer(handler):
        body = contents[handler.path]
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_a_corpus_is_downloaded_once_and_then_found(serving, tmp_path):
    progress = []
    with serving(answering({"/a": PLAIN, "/b.gz": PACKED})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}/a", "a.txt", PLAIN), file_at(f"{url}/b.gz", "sub/b.gz", PACKED))
        folder = fetch(corpus, tmp_path, config=IMPATIENT, on_progress=lambda *step: progress.append(step))
        again = fetch(corpus, tmp_path, config=IMPATIENT)
    assert folder == again == tmp_path / "made-up"
    assert (folder / "a.txt").read_bytes() == PLAIN
    assert (folder / "sub" / "b.gz").read_bytes() == PACKED
    assert len(requests) == 2
    assert progress == sorted(progress)
    assert progress[-1] == (corpus.size, corpus.size)
    assert "Attribution: words" in (folder / "SOURCE.txt").read_text()


def test_a_damaged_cached_file_is_fetched_again(serving, tmp_path):
    with serving(answering({"/a": PLAIN})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}/a", "a.txt", PLAIN))
        copy = fetch(corpus, tmp_path, config=IMPATIENT) / "a.txt"
        copy.write_bytes(b"X" + PLAIN[1:])  # same size, one byte flipped
        fetch(corpus, tmp_path, config=IMPATIENT)
    assert copy.read_bytes() == PLAIN
    assert len(requests) == 2


@pytest.mark.parametrize(("served_at", "served"), [("/text", PLAIN), ("/text.gz", gzip.compress(PLAIN, 1, mtime=7))])
def test_gzip_is_known_by_its_content_however_it_was_served(serving, tmp_path, served_at, served):
    with serving(answering({served_at: served})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}{served_at}", "text.gz", PLAIN, form="gzip"))
        folder = fetch(corpus, tmp_path, config=IMPATIENT)
        fetch(corpus, tmp_path, config=IMPATIENT)
    assert gzip.decompress((folder / "text.gz").read_bytes()) == PLAIN
    assert len(requests) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["SOURCE.txt", "text.gz"]


def test_gzip_with_other_content_is_not_kept(serving, tmp_path):
    with serving(answering({"/text.gz": gzip.compress(b"something else")})) as (url, _):
        corpus = corpus_of(file_at(f"{url}/text.gz", "text.gz", PLAIN, form="gzip"))
        with pytest.raises(FetchError, match=r"where the catalogue says .*, so it was not kept"):
            fetch(corpus, tmp_path, config=IMPATIENT)
    assert list((tmp_path / "made-up").iterdir()) == []


def tar_of(**members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(f"training/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def test_an_archive_gives_its_members_and_goes(serving, tmp_path):
    archive = tar_of(en=b"yes\n", de=b"ja\n", fr=b"oui\n")
    members = ("training/en", "training/de")
    with serving(answering({"/t.tgz": archive})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}/t.tgz", "t.tgz", archive, form="archive", members=members))
        folder = fetch(corpus, tmp_path, config=IMPATIENT)
        fetch(corpus, tmp_path, config=IMPATIENT)
        assert len(requests) == 1
        (folder / "training" / "de").unlink()
        fetch(corpus, tmp_path, config=IMPATIENT)
    assert len(requests) == 2
    assert (folder / "training" / "de").read_bytes() == b"ja\n"
    assert not (folder / "training" / "fr").exists()
    assert not (folder / "t.tgz").exists()


def test_a_file_without_a_published_checksum_says_so(serving, tmp_path, caplog):
    with serving(answering({"/a": PLAIN})) as (url, _), caplog.at_level(logging.WARNING):
        fetch(corpus_of(file_at(f"{url}/a", "a", PLAIN, sha256=None, size=None)), tmp_path, config=IMPATIENT)
    assert "a not verified: no published checksum" in caplog.text


def test_two_at_once_download_once(serving, tmp_path):
    with serving(answering({"/a": PLAIN})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}/a", "a.txt", PLAIN))
        threads = [threading.Thread(target=fetch, args=(corpus, tmp_path), kwargs={"config": IMPATIENT}) for _ in "123"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert (tmp_path / "made-up" / "a.txt").read_bytes() == PLAIN
    assert len(requests) == 1


def test_a_file_without_address_says_where_it_comes_from(tmp_path):
    with pytest.raises(FetchError, match=r"made-up/a is prepared from a far country.*CLEARFORMER_DATA"):
        fetch(corpus_of(file_at(None, "a", PLAIN)), tmp_path)


def test_whoever_can_be_asked_is_named_before_anything_is_downloaded(serving, tmp_path):
    with serving(answering({"/a": PLAIN})) as (url, requests):
        corpus = corpus_of(file_at(f"{url}/a", "a", PLAIN), file_at(None, "b", PLAIN), ask="https://example.org")
        with pytest.raises(
            FetchError, match=r"made-up/b is prepared.*: ask for it at https://example\.org, put a copy"
        ):
            fetch(corpus, tmp_path, config=IMPATIENT)
    assert requests == []


def test_what_several_files_are_made_of_is_fetched_once_and_goes(serving, tmp_path):
    table = b"yes\tja\n" * 100
    parts = {"en.gz": b"yes\n" * 100, "de.gz": b"ja\n" * 100}
    steps = {"en.gz": ("columns 1",), "de.gz": ("columns 2",)}
    with serving(answering({"/pairs": table})) as (url, requests):
        files = [file_at(f"{url}/pairs", path, parts[path], form="gzip", prepare=steps[path]) for path in parts]
        progress = []
        folder = fetch(corpus_of(*files), tmp_path, config=IMPATIENT, on_progress=lambda *step: progress.append(step))
        fetch(corpus_of(*files), tmp_path, config=IMPATIENT)
    assert {path: gzip.decompress((folder / path).read_bytes()) for path in parts} == parts
    assert len(requests) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["SOURCE.txt", "de.gz", "en.gz"]
    assert progress == sorted(progress)
    assert progress[-1] == (700, 700)


def test_an_origin_that_nobody_has_seen_is_tried_and_a_copy_is_asked_for(serving, tmp_path):
    with serving(answering({"/a": b"other\n"})) as (url, _):
        file = file_at(f"{url}/a", "a.gz", PLAIN, form="gzip", prepare=("trim",), unseen=True)
        with pytest.raises(
            FetchError, match=r"made-up/a\.gz did not come .*where the catalogue says.*: put a copy into"
        ):
            fetch(corpus_of(file), tmp_path, config=IMPATIENT)
    with serving(answering({"/a": PLAIN.replace(b"\n", b" \r\n")})) as (url, _):
        file = file_at(f"{url}/a", "a.gz", PLAIN, form="gzip", prepare=("trim",), unseen=True)
        folder = fetch(corpus_of(file), tmp_path, config=IMPATIENT)
    assert gzip.decompress((folder / "a.gz").read_bytes()) == PLAIN


def test_a_download_that_fails_keeps_its_sentence(serving, tmp_path):
    with serving(answering({"/a": b"?" * len(PLAIN)})) as (url, _), pytest.raises(DownloadError, match="has SHA-256"):
        fetch(corpus_of(file_at(f"{url}/a", "a", PLAIN)), tmp_path, config=IMPATIENT)


def test_a_local_copy_is_used_and_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))
    assert locate("tiny-shakespeare") is None
    (tmp_path / "tiny-shakespeare").mkdir()
    with pytest.raises(FetchError, match=r"input\.txt is missing: replace this copy, or unset CLEARFORMER_DATA"):
        locate("tiny-shakespeare")
    (tmp_path / "tiny-shakespeare" / "input.txt").write_text("To be, or not to be")
    with pytest.raises(FetchError, match="has 19 bytes where the catalogue says 1,115,394"):
        get("tiny-shakespeare", tmp_path / "cache")


def test_without_the_variable_there_is_no_local_copy(monkeypatch):
    monkeypatch.delenv("CLEARFORMER_DATA", raising=False)
    assert locate("multi30k") is None


def test_the_cache_is_where_one_looks_for_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CLEARFORMER_CACHE", raising=False)
    assert cache_folder() == tmp_path / "clearformer"
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


@pytest.mark.corpora
@pytest.mark.parametrize("name", [c.name for c in list_corpora() if not c.name.startswith("wmt14")])
def test_the_copies_on_this_machine_are_the_catalogued_ones(name, tmp_path):
    folder = locate(name)
    assert folder is not None
    assert get(name, tmp_path) == folder
    assert list(tmp_path.iterdir()) == []  # nothing was downloaded

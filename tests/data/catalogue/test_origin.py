"""One file from its origin: prepared and checked, or refused in one sentence, with nothing wrong left behind."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from clearformer.data.catalogue.corpora import CorpusFile
from clearformer.data.catalogue.origin import OriginError, bring
from clearformer.foundation.download import DownloadConfig, DownloadError

IMPATIENT = DownloadConfig(stall_seconds=2, attempts=2, first_pause=0.01)
SERVED = b"good\t1 \r\nbad\t0\r\n" * 50
CONTENT = b"1\tgood\n0\tbad\n" * 50

pytestmark = pytest.mark.timeout(60)


def file_from(*urls, **more):
    facts = {"size": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}
    return CorpusFile(
        **{"path": "a.gz", "urls": urls, "form": "gzip", "prepare": ("trim", "columns 2 1"), **facts, **more}
    )


def bring_to(folder, file):
    bring(file, folder, folder / "served", IMPATIENT, lambda _: None)
    return folder / file.path


def answering(body, *, status=200, length=None, **headers):
    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_prepared_and_packed_the_same_way_every_time(serving, tmp_path):
    with serving(answering(SERVED)) as (url, _):
        first, second = (bring_to(tmp_path / name, file_from(f"{url}/a.tsv")) for name in "12")
    assert gzip.decompress(first.read_bytes()) == CONTENT
    assert first.read_bytes() == second.read_bytes()


def test_a_file_that_is_kept_plain_is_prepared_too(serving, tmp_path):
    with serving(answering(SERVED)) as (url, _):
        assert bring_to(tmp_path, file_from(f"{url}/a.tsv", form="file", path="a.tsv")).read_bytes() == CONTENT


def test_several_addresses_make_one_file(serving, tmp_path):
    content = b"1\tgood\n0\tbad\n"
    answers = {"/pos": answering(b"good \n"), "/neg": answering(b"bad \n")}
    facts = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    with serving(lambda handler: answers[handler.path](handler)) as (url, _):
        file = file_from(f"{url}/pos", f"{url}/neg", prepare=("trim", "labels 1 0"), **facts)
        assert gzip.decompress(bring_to(tmp_path, file).read_bytes()) == content


def test_other_content_is_refused_and_asked_for_again(serving, tmp_path):
    with (
        serving(answering(SERVED.replace(b"bad", b"sad"))) as (url, _),
        pytest.raises(OriginError, match=r"/a: .*where the catalogue says .*, so it was not kept: .*report"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert files_in(tmp_path) == []


def test_what_cannot_be_prepared_is_refused(serving, tmp_path):
    with (
        serving(answering(b"<html>Please log in</html>\n")) as (url, _),
        pytest.raises(OriginError, match=r"/a: the step 'columns 2 1' failed .*: the file has changed; report"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert files_in(tmp_path) == []


def test_half_a_file_is_never_prepared(serving, tmp_path):
    with (
        serving(answering(SERVED[:300], length=len(SERVED))) as (url, _),
        pytest.raises(DownloadError, match=r"could not be fetched in 2 attempts .*: check the connection"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert not (tmp_path / "a.gz").exists()


def test_a_file_that_is_gone_is_named(serving, tmp_path):
    with (
        serving(answering(b"", status=404)) as (url, _),
        pytest.raises(DownloadError, match=r"/a replied 404 Not Found: the file has moved"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert files_in(tmp_path) == []


def test_a_redirect_that_never_ends_is_left(serving, tmp_path):
    with (
        serving(answering(b"", status=302, Location="/a")) as (url, _),
        pytest.raises(DownloadError, match=r"/a replied 302 .*: the file has moved"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert files_in(tmp_path) == []


def test_more_than_can_be_held_is_refused_before_it_comes(serving, tmp_path):
    with (
        serving(answering(b"", length=1 << 40)) as (url, _),
        pytest.raises(DownloadError, match=r"more than the 268,435,456 that are allowed"),
    ):
        bring_to(tmp_path, file_from(f"{url}/a"))


def test_no_warning_for_a_document_whose_product_is_checked(serving, tmp_path, caplog):
    with serving(answering(SERVED)) as (url, _):
        bring_to(tmp_path, file_from(f"{url}/a"))
    assert "not verified" not in caplog.text

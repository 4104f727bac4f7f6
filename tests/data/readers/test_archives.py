"""An archive is read as if it were a folder; what is broken, hostile or too large is refused by its name."""

import io
import tarfile
import zipfile

import pytest

from clearformer.data.readers import archives
from clearformer.data.readers.archives import ArchiveError, find_store, there

FILES = {"a/one.txt": b"one", "a/b/two.txt": b"two", "three.txt": b""}


def tar_of(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def zip_of(path, files):
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def folder_of(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


@pytest.fixture(params=["folder", "tar.gz", "zip"])
def packed(request, tmp_path):
    if request.param == "folder":
        return folder_of(tmp_path / "all", FILES)
    make = {"tar.gz": tar_of, "zip": zip_of}[request.param]
    return make(tmp_path / f"all.{request.param}", FILES)


def test_all_three_hold_the_same(packed):
    store, name = find_store(packed)
    assert name == ""
    assert store.names() == tuple(sorted(FILES))
    assert {one: store.read(one) for one in store.names()} == FILES
    assert store.has("a/one.txt")
    assert not store.has("a")
    assert not store.has("no")
    with pytest.raises(ArchiveError, match=r"no\.txt.*check the name"):
        store.read("no.txt")


def test_a_name_leads_into_an_archive(packed):
    store, name = find_store(packed / "a" / "b" / "two.txt")
    assert store.read(name) == b"two"
    assert there(packed / "a" / "b")
    assert there(packed)
    assert there(packed / "three.txt")
    assert not there(packed / "a" / "c")
    assert not there(packed / "a/b/two.txt/more")


def test_half_an_archive_is_refused(tmp_path):
    for make, name in ((tar_of, "t.tar.gz"), (zip_of, "z.zip")):
        path = make(tmp_path / name, {"file": bytes(range(256)) * 40})
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(ArchiveError, match=rf"{name} is no whole archive .*get it anew"):
            find_store(path / "file")[0].read("file")


def test_a_bomb_is_refused_by_what_it_says_of_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1000)
    for make, name in ((tar_of, "t.tar.gz"), (zip_of, "z.zip")):
        with pytest.raises(ArchiveError, match="unpacks to more than 1,000 bytes"):
            find_store(make(tmp_path / name, {"zeros": bytes(2000)}))


def test_links_out_of_an_archive_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as tar:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        tar.addfile(link)
    assert find_store(path)[0].names() == ()


def test_another_archive_of_the_same_name_is_another(tmp_path):
    path = tmp_path / "all.zip"
    zip_of(path, {"a": b"old"})
    assert find_store(path)[0].read("a") == b"old"
    import os

    zip_of(path, {"a": b"new"})
    os.utime(path, ns=(1, 1))
    assert find_store(path)[0].read("a") == b"new"


def test_a_name_that_no_file_can_have_is_refused_in_one_line(tmp_path):
    with pytest.raises(ArchiveError, match=r"cannot be read \(embedded null byte\): check the name") as refused:
        archives.Folder(tmp_path).read("a\0b\nc")
    assert "\n" not in str(refused.value)

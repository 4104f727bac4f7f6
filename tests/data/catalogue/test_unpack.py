"""Archives from strangers: the wanted files come out, nothing gets anywhere else."""

from __future__ import annotations

import io
import tarfile

import pytest

from clearformer.data.catalogue.unpack import UnpackError, unpack_tar


def archive_of(path, *members):
    """A tar with plain files given as (name, bytes) and anything else as a ready TarInfo."""
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1]))
    return path


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_only_what_was_asked_for_comes_out(tmp_path):
    archive = archive_of(tmp_path / "a.tgz", ("./training/x.de", b"ja"), ("training/x.en", b"yes"), ("other", b"no"))
    unpack_tar(archive, tmp_path / "out", members=["training/x.de", "training/x.en"], max_bytes=100)
    found = {p.relative_to(tmp_path / "out").as_posix(): p.read_bytes() for p in (tmp_path / "out").rglob("*.*")}
    assert found == {"training/x.de": b"ja", "training/x.en": b"yes"}
    assert not (tmp_path / "out" / "other").exists()


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/clearformer-evil"])
def test_paths_that_lead_out_are_refused(tmp_path, name):
    archive = archive_of(tmp_path / "a.tgz", (name, b"x"), ("fine", b"y"))
    with pytest.raises(UnpackError, match="leads out of the folder"):
        unpack_tar(archive, tmp_path / "out", members=["fine", name], max_bytes=100)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    archive = archive_of(tmp_path / "a.tgz", link("x.de", "/etc/passwd", kind))
    with pytest.raises(UnpackError, match=r"x\.de is not a plain file"):
        unpack_tar(archive, tmp_path / "out", members=["x.de"], max_bytes=100)


def test_a_link_planted_first_does_not_open_a_way_out(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "training").symlink_to(outside)
    archive = archive_of(tmp_path / "a.tgz", ("training/x", b"evil"))
    with pytest.raises(UnpackError, match="leads out"):
        unpack_tar(archive, tmp_path / "out", members=["training/x"], max_bytes=100)
    assert list(outside.iterdir()) == []


def test_a_bomb_is_refused_before_it_is_written(tmp_path):
    archive = archive_of(tmp_path / "a.tgz", ("x", bytes(1_000_000)))
    with pytest.raises(UnpackError, match="unpacks to more than 1,000 bytes"):
        unpack_tar(archive, tmp_path / "out", members=["x"], max_bytes=1000)
    assert not (tmp_path / "out" / "x").exists()


def test_a_missing_member_and_a_torn_archive_are_named(tmp_path):
    archive = archive_of(tmp_path / "a.tgz", ("x", b"1" * 10_000))
    with pytest.raises(UnpackError, match="does not contain y"):
        unpack_tar(archive, tmp_path / "out", members=["x", "y"], max_bytes=10**6)
    archive.write_bytes(archive.read_bytes()[:60])
    with pytest.raises(UnpackError, match=r"a\.tgz cannot be unpacked"):
        unpack_tar(archive, tmp_path / "out", members=["x"], max_bytes=10**6)

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearformer.foundation import storage


@pytest.fixture
def folder(tmp_path):
    """A small folder with a text and some tensors."""
    path = tmp_path / "thing"
    with storage.new_folder(path) as aside:
        storage.write_json(aside / "facts.json", {"name": "Zoë", "size": 3})
        storage.write_tensors(aside / "numbers.safetensors", {"a": torch.arange(6.0).view(2, 3)})
    return path


def test_a_folder_comes_back_as_it_was_written(folder):
    storage.verify(folder)
    assert storage.read_json(folder / "facts.json") == {"name": "Zoë", "size": 3}
    assert torch.equal(storage.read_tensors(folder / "numbers.safetensors")["a"], torch.arange(6.0).view(2, 3))
    assert set(storage.read_manifest(folder)) == {"facts.json", "numbers.safetensors"}


def test_nothing_has_the_name_before_everything_is_there(tmp_path):
    with storage.new_folder(tmp_path / "late") as aside:
        storage.write_json(aside / "a.json", 1)
        assert not (tmp_path / "late").exists()
    assert (tmp_path / "late").exists()


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
def test_a_block_that_fails_changes_nothing(folder, error):
    before = (folder / "facts.json").read_bytes()

    def write():
        with storage.new_folder(folder) as aside:
            storage.write_json(aside / "facts.json", "new")
            raise error

    with pytest.raises(type(error)):
        write()
    assert (folder / "facts.json").read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_folder_is_replaced_as_a_whole(folder):
    with storage.new_folder(folder) as aside:
        storage.write_json(aside / "only.json", 1)
    storage.verify(folder)
    assert set(storage.read_manifest(folder)) == {"only.json"}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_every_single_flipped_bit_is_found_and_its_file_named(folder):
    """All bits of all files, the manifest's own included: there is no byte that may change unnoticed."""
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        for index in range(len(content)):
            damaged = bytearray(content)
            damaged[index] ^= 1 << (index % 8)
            file.write_bytes(damaged)
            with pytest.raises(storage.DamagedError) as caught:
                storage.verify(folder)
            if file.name != storage.MANIFEST:
                assert str(file) in str(caught.value)
        file.write_bytes(content)
    storage.verify(folder)


@pytest.mark.parametrize("name", ["facts.json", "numbers.safetensors"])
def test_truncated_missing_and_foreign_files_are_named(folder, name):
    file = folder / name
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    with pytest.raises(storage.DamagedError, match=f"{name} is damaged"):
        storage.verify(folder)
    file.unlink()
    with pytest.raises(storage.DamagedError, match=f"{name} is missing"):
        storage.verify(folder)
    file.write_bytes(content)
    (folder / "visitor.py").write_text("import os")
    with pytest.raises(storage.DamagedError, match=r"visitor\.py is not in the folder's manifest"):
        storage.verify(folder)


def test_a_folder_without_its_manifest_was_not_written_to_its_end(folder):
    (folder / storage.MANIFEST).unlink()
    with pytest.raises(storage.DamagedError, match=r"has no manifest\.json"):
        storage.verify(folder)


@pytest.mark.parametrize(
    "name", ["../facts.json", "/etc/passwd", "a/b", "..\\facts.json", "./facts.json", "facts.json/", "a\0b"]
)
def test_a_manifest_cannot_lead_out_of_its_folder(folder, name):
    manifest = storage.read_json(folder / storage.MANIFEST)
    manifest["files"][name] = manifest["files"].pop("facts.json")
    storage.write_json(folder / storage.MANIFEST, manifest)
    with pytest.raises(storage.DamagedError, match="not a plain file name"):
        storage.verify(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(JSON, st.booleans())
def test_no_manifest_whatever_it_says_is_more_than_damage(folder, value, wrapped):
    (folder / storage.MANIFEST).write_text(json.dumps({"files": value} if wrapped else value))
    with pytest.raises(storage.DamagedError):
        storage.verify(folder)


def test_a_tensor_file_that_is_none_is_damage(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(b"\x80\x02}q\x00.")  # a pickle
    with pytest.raises(storage.DamagedError, match=r"x\.safetensors cannot be read"):
        storage.read_tensors(tmp_path / "x.safetensors")


def test_sweeping_removes_halves_and_brings_back_what_was_about_to_be_replaced(folder):
    """The leftovers of three deaths: while writing, while linking, and between the two renames of a replacement."""
    parent = folder.parent
    (parent / ".writing-half-1").mkdir()
    (parent / ".writing-best-1").symlink_to("nowhere")
    folder.rename(parent / f".replaced-{folder.name}")
    storage.sweep(parent)
    assert [path.name for path in parent.iterdir()] == [folder.name]
    storage.verify(folder)


def test_sweeping_lets_a_replaced_folder_go_once_its_successor_is_there(folder):
    (folder.parent / f".replaced-{folder.name}").mkdir()
    storage.sweep(folder.parent)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_sweeping_after_one_name_leaves_the_neighbours_alone(folder):
    """`thing-2` may be at work now, in the same parent; what is left of `thing` is of no value."""
    parent = folder.parent
    for name in (".writing-thing-77", ".writing-thing-2-77", ".writing-other-77", ".replaced-other"):
        (parent / name).mkdir()
    folder.rename(parent / ".replaced-thing")
    storage.sweep(parent, "thing")
    storage.verify(folder)
    assert sorted(path.name for path in parent.iterdir()) == [
        ".replaced-other", ".writing-other-77", ".writing-thing-2-77", "thing"
    ]  # fmt: skip


def test_sizes_alone_can_be_compared_without_reading(folder):
    """For somebody who reads the content anyway, or has no time: a flipped bit is not seen, a lost byte is."""
    file = folder / "numbers.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    storage.verify(folder, content=False)
    with pytest.raises(storage.DamagedError, match=r"numbers\.safetensors is damaged: its checksum"):
        storage.verify(folder)
    file.write_bytes(content[:-1])
    size = f"it has {len(content) - 1:,} bytes and the manifest says {len(content)}"
    with pytest.raises(storage.DamagedError, match=rf"numbers\.safetensors is damaged: {size}"):
        storage.verify(folder, content=False)


def test_links_are_relative_and_replaced_in_one_step(folder, tmp_path):
    link = tmp_path / "best"
    storage.point(link, tmp_path / "elsewhere")
    storage.point(link, folder)
    assert str(link.readlink()) == folder.name
    storage.verify(link)


def test_removing_takes_everything(folder):
    storage.remove(folder)
    assert list(folder.parent.iterdir()) == []


def write_much(path):
    """Tensors of 8,000 bytes, then texts of 5,000 and 9,000."""
    with storage.new_folder(path) as aside:
        storage.write_tensors(aside / "numbers.safetensors", {"a": torch.zeros(2000)})
        storage.write_json(aside / "facts.json", "x" * 5000)
        storage.write_json(aside / "more.json", "x" * 9000)


@pytest.mark.parametrize(("size", "name"), [(6000, "numbers.safetensors"), (8500, "more.json")])
def test_a_file_that_cannot_grow_is_named_and_the_folder_before_it_is_intact(folder, size, name):
    expected = f"thing could not be written: {name}: .*File too large"
    with limited_file_size(size), pytest.raises(OSError, match=expected):
        write_much(folder)
    storage.verify(folder)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("room", [0, 1, 3, 7])
def test_a_full_disk_names_the_file_and_leaves_the_folder_before(small_disk, room):
    """Wherever the disk is full: in the tensors, in the text after them, or in the manifest."""
    path = small_disk / "thing"
    with storage.new_folder(path) as aside:
        storage.write_json(aside / "facts.json", "first")
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
    (small_disk / "ballast").write_bytes(bytes(free - room * 4096))
    with pytest.raises(OSError, match=r"thing could not be written: (numbers|facts|more|manifest)\..*No space left"):
        write_much(path)
    storage.verify(path)
    assert storage.read_json(path / "facts.json") == "first"
    assert {entry.name for entry in small_disk.iterdir()} == {"thing", "ballast"}


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a quarter of a megabyte, where this machine lets us make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"a small disk cannot be made here: {made.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@contextmanager
def limited_file_size(size):
    """No file may grow beyond this: what a quota does, without being root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_process_killed_between_the_renames_of_a_replacement_loses_nothing(folder):
    """A real kill in the only moment when neither folder has the name."""
    script = (
        "import os, pathlib, sys\n"
        "from clearformer.foundation import storage\n"
        "real = pathlib.Path.rename\n"
        "def rename(self, target):\n"
        "    real(self, target)\n"
        "    os.kill(os.getpid(), 9)\n"
        "pathlib.Path.rename = rename\n"
        "with storage.new_folder(pathlib.Path(sys.argv[1])) as aside:\n"
        "    storage.write_json(aside / 'facts.json', 'new')\n"
    )
    process = subprocess.run([sys.executable, "-c", script, str(folder)])
    assert process.returncode == -signal.SIGKILL
    assert not folder.exists()
    storage.sweep(folder.parent)
    storage.verify(folder)
    assert storage.read_json(folder / "facts.json") == {"name": "Zoë", "size": 3}

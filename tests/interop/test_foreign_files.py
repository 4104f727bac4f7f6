"""Files from elsewhere: only regular ones are read, only up to a bound, and every error names the file."""

import os
from pathlib import Path

import pytest

from clearformer.interop.foreign_files import check_folder, open_binary, read_bytes, read_json, read_text, size_of


def test_a_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "vocab.txt").write_text("één\n", encoding="utf-8")
    (tmp_path / "link").symlink_to("vocab.txt")
    assert read_text(tmp_path / "link") == "één\n"
    assert size_of(tmp_path / "link") == 6
    check_folder(tmp_path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("read", [read_bytes, read_json, read_text, size_of, open_binary])
def test_a_pipe_is_not_waited_for(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe is a pipe, not a file"):
        read(tmp_path / "pipe")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("read", [read_bytes, read_json, read_text, size_of, open_binary])
def test_an_endless_device_is_not_read(read, tmp_path):
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="link is a device, not a file"):
        read(tmp_path / "link")


def test_a_folder_may_hold_folders_and_links_that_lead_nowhere(tmp_path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "gone").symlink_to("nowhere")
    check_folder(tmp_path)
    os.mkfifo(tmp_path / "chat_template.jinja")
    with pytest.raises(ValueError, match=r"chat_template\.jinja is a pipe"):
        check_folder(tmp_path)


def test_a_file_beyond_its_bound_is_refused_before_it_takes_memory(tmp_path):
    with (tmp_path / "vocab.txt").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(ValueError, match="has 4,398,046,511,104 bytes, more than the 10"):
        read_bytes(tmp_path / "vocab.txt", 10)


def test_a_size_that_the_system_reports_wrongly_is_not_believed():
    """Files of the kernel say that they have 0 bytes."""
    path = Path("/proc/self/status")
    if path.exists():
        assert path.stat().st_size == 0
        with pytest.raises(ValueError, match="more than the 5"):
            read_bytes(path, 5)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(ValueError, match=r"config\.json does not exist"):
        read_json(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1]", "must hold a JSON object, not list"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": ' + "1" * 100_000 + "}", "a number of more than 4,300 digits"),
    ],
)
def test_json_that_is_none(tmp_path, text, sentence):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=sentence) as caught:
        read_json(tmp_path / "config.json")
    assert str(tmp_path / "config.json") in str(caught.value)


def test_text_that_is_not_utf8_says_where(tmp_path):
    (tmp_path / "vocab.txt").write_bytes(b"ab\xff")
    with pytest.raises(ValueError, match="not UTF-8 at byte 2"):
        read_text(tmp_path / "vocab.txt")

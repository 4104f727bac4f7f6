"""Where texts come from and where answers go: never from two places, never half a file, and every text by its place."""

import argparse
import io
import os
import stat
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    answer_texts,
    check_folder,
    complete_file,
    given_texts,
    hint_at_file,
    naming_places,
    open_output,
    portions,
    utf8_word,
)
from clearformer.text.unusable import UnusableTextError


@pytest.fixture
def stdin(monkeypatch):
    """Put bytes on standard input."""

    def put(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return put


def texts(arguments: Namespace, **more: bool) -> list[tuple[str, str]]:
    return [tuple(given) for given in given_texts(arguments, **more)]


def test_words_are_taken_as_they_are():
    assert texts(Namespace(text=["a b", " "], input=None)) == [("a b", "text 1"), (" ", "text 2")]


def test_only_a_line_feed_ends_a_line_and_places_count_blank_lines(tmp_path, stdin, capsys):
    content = "one\u2028still one\n\ntwo\n".encode()
    (tmp_path / "texts").write_bytes(content)
    expected = ["one\u2028still one", "two"]
    found = texts(Namespace(text=[], input=tmp_path / "texts"))
    assert found == list(zip(expected, [f"{tmp_path}/texts:1", f"{tmp_path}/texts:3"], strict=True))
    assert "1 blank line passed over" in capsys.readouterr().err
    for file in (None, Path("-")):
        stdin(content)
        found = texts(Namespace(text=[], input=file))
        assert found == list(zip(expected, ["standard input:1", "standard input:3"], strict=True))
    assert [text for text, _ in texts(Namespace(text=[], input=tmp_path / "texts"), keep_blank=True)][1] == ""


def test_not_from_two_places(tmp_path):
    with pytest.raises(UsageError, match="not both"):
        given_texts(Namespace(text=["a"], input=tmp_path))


def test_bytes_that_are_not_utf_8_are_named_by_line(stdin):
    stdin(b"good\n\xff bad\n")
    with pytest.raises(ValueError, match=r"standard input:2: bytes that are not UTF-8"):
        texts(Namespace(text=[], input=None))


def test_an_argument_is_utf_8_whatever_the_locale_took_it_for():
    assert utf8_word("für 你好") == "für 你好"
    with pytest.raises(argparse.ArgumentTypeError, match=r"f\\udcfcr is not UTF-8"):
        utf8_word("f\udcfcr")


def test_a_single_text_that_is_a_file_gets_a_hint(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("hello\n")
    hint_at_file(["in.txt"])
    assert "in.txt is a file, and its name was taken as the text; to read the file, use --input in.txt" in (
        capsys.readouterr().err
    )
    for words in (["in.txt", "out.txt"], ["hello"], ["."], [""], ["a\0b"], ["long " * 5000]):
        hint_at_file(words)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("verb", ["classify", "detect", "segment", "reconstruct", "transcribe"])
def test_a_missing_file_is_named_before_a_model_is_opened(verb, monkeypatch, capsys):
    monkeypatch.setattr("clearformer.folder.bundle.load", lambda *given: pytest.fail("a model was opened"))
    assert main([verb, "nowhere.png"]) == 1
    assert capsys.readouterr().err.strip().endswith("nowhere.png does not exist: check the name")


def test_a_refused_text_is_named_by_its_place(tmp_path):
    (tmp_path / "in.txt").write_text("a\nb\nc\n")
    given = list(given_texts(Namespace(text=[], input=tmp_path / "in.txt")))
    with pytest.raises(ValueError, match=r"in\.txt:2 is odd"), naming_places(given):
        raise UnusableTextError(2, "is odd")


def test_answers_keep_the_order_of_the_texts(tmp_path, capsys):
    seen = []

    def answer(portion: list[str]) -> list[str]:
        seen.append(len(portion))
        return [text.upper() for text in portion]

    (tmp_path / "in.txt").write_text("".join(f"t{n}\n" for n in range(7)))
    answer_texts(
        Namespace(text=[], input=tmp_path / "in.txt", output=None),
        answer,
        lambda text, one: [f"{text} {one}"],
        portion=3,
    )
    assert capsys.readouterr().out == "".join(f"t{n} T{n}\n" for n in range(7))
    assert seen == [3, 3, 1]


def test_portions_leave_nothing_out():
    assert list(portions(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(portions([], 2)) == []


def test_a_file_is_whole_or_as_it_was(tmp_path):
    (tmp_path / "out.txt").write_text("old")

    def write_half() -> None:
        with open_output(tmp_path / "out.txt") as output:
            output.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert (tmp_path / "out.txt").read_text() == "old"
    with open_output(tmp_path / "out.txt") as output:
        output.write("new")
    assert (tmp_path / "out.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_link_goes_on_pointing_to_what_is_written(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with open_output(tmp_path / "link.txt") as output:
        output.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_device_or_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with complete_file(tmp_path / "pipe") as path:
        assert path == tmp_path / "pipe"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("name", [".", "nowhere/out.txt"])
def test_what_cannot_be_written_is_named_as_it_was_given(tmp_path, name):
    with (
        pytest.raises(ValueError, match=r"cannot be written \(.*\); choose another --output"),
        open_output(tmp_path / name),
    ):
        pass


def test_standard_output_is_the_usual_place(capsys):
    with open_output(None) as output:
        assert output is sys.stdout


def test_a_place_that_cannot_become_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (None, tmp_path / "new", tmp_path):
        check_folder(path, "--out")
    with pytest.raises(UsageError, match=r"--out .*file is a file; name a folder"):
        check_folder(tmp_path / "file", "--out")
    with pytest.raises(UsageError, match="is not empty; name a new folder"):
        check_folder(tmp_path, "FOLDER", new=True)
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty", "FOLDER", new=True)

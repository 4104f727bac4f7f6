"""Search from the command line: build, ask, marked words, and one sentence for every mistake."""

import io
import json

import pytest

from clearformer.cli import search
from clearformer.cli.main import main
from clearformer.retrieval.documents import UNITS
from clearformer.retrieval.search_index import WAYS
from retrieval.small_index import LINES, encoder, write_lines


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    encoder(folder)
    path = str(write_lines(folder))
    assert main(["search", "build", path, "--index", str(folder / "idx"), "--by", "line"]) == 0
    model = ["--model", str(folder / "ours")]
    assert main(["search", "build", path, "--index", str(folder / "both"), "--by", "line", *model]) == 0
    return folder


def test_build_says_what_it_made_and_ask_finds(home, capsys):
    capsys.readouterr()
    assert main(["search", "build", str(home / "lines.txt"), "--index", str(home / "idx"), "--by", "line"]) == 0
    assert "idx: 5 lines of 1 file, found by words" in capsys.readouterr().out
    assert main(["search", "ask", "two dogs", "--index", str(home / "idx"), "--k", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"  1  {home / 'lines.txt'}:1  ")
    assert out[1].strip() == "two dogs play"
    assert len(out) == 4


def test_files_that_are_left_out_are_counted_and_named_in_full_on_request(tmp_path, capsys):
    """A folder of pictures beside the texts is three lines, not thousands."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "good.txt").write_text("two dogs")
    for number in range(9):
        (tmp_path / "files" / f"bad{number}").write_bytes(b"\0")
    command = ["search", "build", str(tmp_path / "files"), "--index", str(tmp_path / "idx")]
    assert main(command) == 0
    told = capsys.readouterr().err
    assert told.startswith("9 files were left out:")
    assert [f"bad{number}" in told for number in range(9)] == [True] * 3 + [False] * 6
    assert "and 6 more" in told
    assert main([*command, "--verbose"]) == 0
    assert capsys.readouterr().err.count("left out: ") == 9
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], len(found["left_out"])) == (1, 9)


@pytest.mark.parametrize("by", ["fused", "meaning", "words"])
def test_json_has_places_and_all_scores(home, capsys, by):
    capsys.readouterr()
    assert main(["search", "ask", "the dog", "--index", str(home / "both"), "--json", "--by", by]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["query"] == "the dog"
    first = found["results"][0]
    assert (first["text"], first["line"], first["passage"]) == ("the dog", 4, "the dog")
    assert (first["cosine"] is None) == (by == "words")
    assert (first["bm25"] is None) == (by == "meaning")
    text = (home / "lines.txt").read_text()
    assert all(text[one["start"] : one["end"]] == one["text"] for one in found["results"])


def test_queries_from_a_file_into_a_file(home, tmp_path, capsys):
    (tmp_path / "queries.txt").write_text("dogs\nsnow\n")
    into = tmp_path / "found.jsonl"
    arguments = ["--input", str(tmp_path / "queries.txt"), "--output", str(into), "--json"]
    assert main(["search", "ask", "--index", str(home / "idx"), *arguments]) == 0
    assert [json.loads(line)["query"] for line in into.read_text().splitlines()] == ["dogs", "snow"]
    capsys.readouterr()
    assert main(["search", "ask", "dogs", "snow", "--index", str(home / "idx"), "--k", "1"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert (out[0], out[3], out[4]) == ("dogs", "", "snow")


def test_nothing_found_is_said_on_stderr(home, capsys):
    capsys.readouterr()
    assert main(["search", "ask", "unheard", "--index", str(home / "idx")]) == 0
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "nothing was found for 'unheard'" in seen.err


def test_words_are_marked_on_a_terminal_and_a_file_cannot_steer_it(home, tmp_path):
    assert search._marked("Two DOGS, 下雪了", "dog 雪") == "Two \x1b[1mDOGS\x1b[0m, 下\x1b[1m雪\x1b[0m了"
    assert search._marked("a dog", "dog") == "a \x1b[1mdog\x1b[0m"
    assert search._plain("a\x1b[2Jb\x9bc\n d") == "a [2Jb c d"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["build", "--index", "new"], 2, "name the files or folders to index"),
        (["build", "nowhere.txt", "--index", "new"], 1, "there is no file or folder nowhere.txt"),
        (["build", "lines.txt", "--index", "."], 1, "is there and is not a search index; name a new folder"),
        (["build", "lines.txt", "--index", "new", "--by", "meaning"], 2, "--by cannot be 'meaning'; choose passage,"),
        (["build", "lines.txt"], 2, "--index (the folder of the index) is missing"),
        (["build", "lines.txt", "--index", "new", "--model", "nobody"], 1, "there is no model folder nobody"),
        (["ask", "dogs", "--index", "nowhere"], 1, "nowhere is not a search index; make one with"),
        (["ask", "dogs", "--index", "idx", "--by", "line"], 2, "--by cannot be 'line'; choose fused, meaning, words"),
        (["ask", "dogs", "--index", "idx", "--by", "meaning"], 1, "built without a model, so it finds words alone"),
        (["ask", " ", "--index", "idx"], 1, "text 1 is empty; say what to look for"),
        (["ask", "dogs", "--index", "idx", "--k", "0"], 2, "--k must be at least 1"),
    ],
)
def test_a_mistake_gets_one_sentence(home, capsys, monkeypatch, words, code, sentence):
    monkeypatch.chdir(home)
    capsys.readouterr()
    assert main(["search", *words]) == code
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("clearformer search: ")
    assert sentence in line
    assert not (home / "new").exists()
    assert (home / "lines.txt").read_text().splitlines() == LINES


def test_the_choices_are_those_of_the_library():
    assert UNITS == search.UNITS
    assert WAYS == search.WAYS


def test_standard_input_is_read(home, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"dogs\n")))
    capsys.readouterr()
    assert main(["search", "ask", "--index", str(home / "idx"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "dogs"

"""Recordings from the command line: files and folders in, lines, JSON or subtitles out."""

import json

import numpy as np

from clearformer.cli.main import main
from data.readers.test_sounds import TONE, write
from support.every_kind import make


def test_files_and_folders_in_every_form(tmp_path, capsys):
    model = str(make("whisper", tmp_path / "m"))
    (tmp_path / "in").mkdir()
    one = write(tmp_path / "in" / "a.wav", TONE)
    write(tmp_path / "in" / "b.wav", np.tile(TONE, 6), rate=22_050)
    common = ["transcribe", "--model", model, "--max-new", "3"]
    capsys.readouterr()
    assert main([*common, str(tmp_path / "in")]) == 0
    several = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [file for _, file in several] == [str(one), str(tmp_path / "in" / "b.wav")]
    assert main([*common, str(one)]) == 0
    assert capsys.readouterr().out == several[0][0] + "\n"  # of one recording, nothing but the text
    assert main([*common, str(one), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["seconds"]) == (str(one), 0.1)
    assert main([*common, str(one), "--format", "vtt", "--output", str(tmp_path / "a.vtt")]) == 0
    assert (tmp_path / "a.vtt").read_text().startswith("WEBVTT")
    assert main([*common, str(tmp_path / "in"), "--format", "srt"]) == 2


def test_what_cannot_be_done_is_one_sentence(tmp_path, model_folder, capsys):
    recording = write(tmp_path / "a.wav", TONE)
    assert main(["transcribe", str(recording), "--model", str(model_folder)]) == 1
    assert "not one that transcribes recordings; use `clearformer translate`" in capsys.readouterr().err
    assert main(["transcribe", "nowhere.wav", "--model", str(make("whisper", tmp_path / "m"))]) == 1
    assert "nowhere.wav does not exist" in capsys.readouterr().err


def test_where_nothing_is_said_a_line_says_so_beside_the_result(tmp_path, capsys):
    model = str(make("whisper", tmp_path / "m"))
    silent = write(tmp_path / "silent.wav", np.zeros(40_000))
    capsys.readouterr()
    assert main(["transcribe", str(silent), "--model", model]) == 0
    told = capsys.readouterr()
    assert told.out == "\n"
    assert "silent.wav: nothing is said in it" in told.err

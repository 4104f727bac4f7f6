"""clearformer bench, from the command line."""

import json

from clearformer.cli.main import main


def test_the_limits_as_a_table_and_as_json(tmp_path, capsys):
    words = ["bench", "limits", "--seconds", "0.02", "--repeats", "1", "--threads", "1", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    printed, said = capsys.readouterr()
    assert "**matrix product, 1 thread**" in printed
    assert "limits: matrix product" in said
    told = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert isinstance(told["quotable"], bool)
    assert told["settings"]["repeats"] == 1
    assert (tmp_path / "out" / "report.md").read_text(encoding="utf-8") in printed


def test_a_part_that_there_is_not(capsys):
    assert main(["bench", "cooking"]) == 2
    assert "there is no part called cooking; choose from limits, train" in capsys.readouterr().err


def test_a_peer_that_there_is_not(capsys):
    assert main(["bench", "train", "--peers", "tensor2tensor", "--seconds", "1"]) == 1
    assert "no peer called tensor2tensor" in capsys.readouterr().err


def test_a_run_of_nothing(capsys):
    assert main(["bench", "limits", "--repeats", "0"]) == 2
    assert "repeats must be at least 1" in capsys.readouterr().err

"""Import from the command line: a folder that works, a certificate, and nothing overwritten."""

import json

from clearformer.cli.import_ import rows
from clearformer.cli.main import main
from clearformer.folder import bundle
from interop.folders import bert_folder


def test_a_published_folder_becomes_one_of_ours(tmp_path, capsys):
    bert_folder(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours"), "--json"]) == 0
    certificate = json.loads(capsys.readouterr().out)
    assert certificate["checked"]
    assert all(number is None or number < 1e-4 for number in certificate["largest_difference"].values())
    assert bundle.load(tmp_path / "ours").provenance["certificate"] == certificate


def test_an_existing_folder_is_left_alone(tmp_path, capsys):
    bert_folder(tmp_path / "published")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "mine.txt").write_text("precious")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "ours").iterdir()] == ["mine.txt"]


def test_a_folder_that_is_no_checkpoint_is_named(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["import", str(tmp_path / "empty"), str(tmp_path / "ours")]) == 1
    assert "empty" in capsys.readouterr().err
    assert not (tmp_path / "ours").exists()


def test_what_was_not_checked_is_said():
    assert rows({"checked": False, "reason": "no transformers here"}) == [
        ("parity", "not checked: no transformers here")
    ]

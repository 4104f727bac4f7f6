"""Classes from the command line: names from the published folder, probabilities that sum to one, line for line."""

import json

import pytest

from clearformer.cli.main import main
from cli.readers import reader


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return reader(tmp_path_factory.mktemp("class"), "class")


def test_every_text_gets_a_class_by_its_name(model, capsys):
    capsys.readouterr()
    assert main(["classify", "two dogs", "the snow .", "--model", model]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(any(name in line for name in ("calm", "wild", "odd")) for line in lines)


def test_json_has_every_class_and_batches_change_nothing(model, tmp_path, capsys):
    (tmp_path / "texts").write_text("two dogs\nplay in the snow .\ndogs\n")
    found = []
    for batch in ("1", "8"):
        capsys.readouterr()
        assert main(["classify", "--input", str(tmp_path / "texts"), "--model", model, "--json", "--batch", batch]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert len(found[0]) == 3
    for one, other in zip(*found, strict=True):
        assert sum(one["scores"].values()) == pytest.approx(1)
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-6)


def test_a_text_that_is_too_long_is_named_by_its_number(model, capsys):
    assert main(["classify", "dogs", "dogs " * 40, "--model", model]) == 1
    assert "text 2 has 42 tokens" in capsys.readouterr().err

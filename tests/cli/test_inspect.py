"""What a model costs, for presets and folders."""

import json
from pathlib import Path

import pytest

from clearformer.cli.main import main


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["inspect", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_preset_is_counted_without_weights(capsys: pytest.CaptureFixture[str]):
    found = as_json(capsys, "base")
    assert found["parameters"]["total"] == 63_082_496
    assert sum(found["parameters"]["parts"].values()) == 63_082_496
    assert found["bytes"]["weights"] == 4 * 63_082_496


def test_a_folder_is_counted_from_its_description(capsys: pytest.CaptureFixture[str], model_folder: Path):
    from clearformer.folder.bundle import load

    found = as_json(capsys, str(model_folder))
    assert found["parameters"]["total"] == sum(p.numel() for p in load(model_folder).model.parameters())


def test_models_that_ship_are_counted_by_name(capsys: pytest.CaptureFixture[str]):
    assert as_json(capsys, "en-de")["parameters"]["total"] > 1_000_000


def test_longer_sequences_cost_more_a_token(capsys: pytest.CaptureFixture[str]):
    short, long = (as_json(capsys, "tiny", "--length", str(n))["operations"]["per_token"] for n in (16, 256))
    assert long > short


def test_the_table_is_readable(capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", "tiny"]) == 0
    printed = capsys.readouterr().out
    assert "2,605,056" in printed
    assert "10.4 MB in float32" in printed


@pytest.mark.parametrize("length", ["0", "-3", "1000001", "99999999999999999999"])
def test_a_length_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str], length: str):
    assert main(["inspect", "tiny", "--length", length]) == 2
    assert "--length must be at least 1" in capsys.readouterr().err

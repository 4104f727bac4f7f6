"""What an installation takes, told from the packages' own records."""

import json
import subprocess
import sys
from importlib import metadata

import pytest

from clearformer.bench import footprint


def test_what_is_asked_for_counts_with_what_that_asks_for():
    found = footprint.footprint("clearformer")
    assert found["version"] == metadata.version("clearformer")
    assert found["packages"] > 10  # torch alone asks for half a dozen
    assert found["bytes"] > 100 << 20
    assert found["not_installed"] == []


def test_a_package_in_its_source_folder_counts_what_would_be_installed():
    assert 100 << 10 < footprint.footprint("clearformer")["own_bytes"] < 500 << 20


def test_a_package_that_asks_for_nothing_stands_alone():
    found = footprint.footprint("typing_extensions")
    assert found["packages"] == 1
    assert found["bytes"] == found["own_bytes"] > 0


@pytest.mark.parametrize("name", ["OpenNMT_py", "opennmt-py", "OpenNMT.Py"])
def test_a_name_has_one_spelling(name):
    assert footprint.canonical(name) == "opennmt-py"


def test_it_runs_as_a_program_of_another_environment():
    done = subprocess.run(
        [sys.executable, "-P", footprint.__file__, "typing_extensions"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["packages"] == 1


def test_a_requirement_that_nobody_can_read_is_named_and_the_rest_counted(tmp_path, monkeypatch):
    facts = tmp_path / "old-1.0.dist-info"
    facts.mkdir()
    needs = "Requires-Dist: typing_extensions\nRequires-Dist: broken (>=1.0.*,<2\n"
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: old\nVersion: 1.0\n{needs}")
    monkeypatch.syspath_prepend(tmp_path)
    found = footprint.footprint("old")
    assert found["packages"] == 2
    assert found["not_installed"] == ["broken (>=1.0.*,<2"]

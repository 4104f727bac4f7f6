"""The list of contenders, and the reasons why some cannot take part."""

import json
import sys
from pathlib import Path

import pytest

from clearformer.bench import contenders
from clearformer.bench.contenders import Contender, benchmarks_folder, choose, environment, read_contenders

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def known() -> dict[str, Contender]:
    return read_contenders(BENCHMARKS)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path))
    return tmp_path


def test_every_row_has_a_program_and_a_task(known):
    for contender in known.values():
        assert Path(contender.command(BENCHMARKS)[-1]).exists(), contender.name
        assert contender.tasks, contender.name
        assert set(contender.tasks) <= {"train", "decode", "pictures"}, contender.name


def test_every_program_is_used_by_a_row(known):
    used = {Path(contender.command(BENCHMARKS)[-1]).name for contender in known.values()}
    assert {path.name for path in (BENCHMARKS / "contenders").glob("*.py")} == used


def test_peers_are_pinned(known):
    """Figures name a version, so what is installed must not depend on the day."""
    loose = [one.name for one in known.values() if one.requirement and "==" not in one.requirement]
    assert not loose


def test_a_misspelled_key_is_named(tmp_path):
    (tmp_path / "contenders.toml").write_text('[peer]\ntitle = "P"\npackage = "p"\ntasks = ["train"]\nprogramm = "x"\n')
    with pytest.raises(ValueError, match="programm"):
        read_contenders(tmp_path)


def test_ours_runs_where_we_run_and_a_peer_in_its_own_environment(known, cache):
    assert known["clearformer"].python == sys.executable
    assert known["eole"].python == str(cache / "peers" / "eole" / "bin" / "python")


def test_who_is_not_installed_is_missing_with_the_remedy(known, cache):
    assert "setup_peers.py eole" in (known["eole"].missing() or "")
    assert known["clearformer"].missing() is None


@pytest.mark.parametrize("verdict", [None, "does not install: no compiler"])
def test_what_the_setup_found_is_told(known, cache, verdict):
    environment("eole").mkdir(parents=True)
    (environment("eole") / contenders.REASON).write_text(json.dumps(verdict))
    assert known["eole"].missing() == verdict


def test_without_names_everybody_who_can_takes_part(known):
    names = [one.name for one in choose(known, None, task="decode")]
    assert "ctranslate2" in names
    assert "joeynmt" not in names


def test_this_package_always_takes_part(known):
    assert [one.name for one in choose(known, ["joeynmt"], task="train")] == ["clearformer", "joeynmt"]


def test_an_unknown_peer_is_named(known):
    with pytest.raises(ValueError, match="no peer called tensor2tensor; there are clearformer"):
        choose(known, ["tensor2tensor"], task="train")


def test_a_checkout_has_the_programs():
    assert benchmarks_folder() == BENCHMARKS


def test_an_installed_package_says_where_they_are(monkeypatch, tmp_path):
    monkeypatch.setattr(contenders, "__file__", str(tmp_path / "lib" / "clearformer" / "bench" / "contenders.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="run this from a checkout"):
        benchmarks_folder()

"""A whole run, small: real programs that speak the protocol, this package among them."""

import json
from pathlib import Path

import pytest

from clearformer.bench import programme, work
from clearformer.bench.contenders import Contender, benchmarks_folder, read_contenders
from clearformer.bench.programme import BenchSettings, Programme

SETTINGS = BenchSettings(threads=1, seconds=0.05, repeats=1, sentences=2)
ECHO = """
import json, sys
job = json.load(sys.stdin)
print(json.dumps({"case": job["case"], "unit": "target tokens", "count": job["model"]["dim"], "seconds": 1}))
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(work, "BATCHES", 2)
    monkeypatch.setattr(work, "multi30k", lambda root: work.made_up(root, length=8, vocab_size=600))
    return tmp_path


def peers(folder: Path, **programs: str) -> dict[str, Contender]:
    """Contenders written on the spot."""
    (folder / "contenders").mkdir()
    for name, code in programs.items():
        (folder / "contenders" / f"{name}.py").write_text(code, encoding="utf-8")
    return {name: Contender(name=name, title=name, package=name, tasks=("train", "decode")) for name in programs}


def test_training_is_told_beside_the_limit(small):
    run = Programme(small, peers(small, one=ECHO, two="raise SystemExit('out of order')"), SETTINGS, lambda turn: None)
    run.train(None)
    [table] = run.results.tables
    first, last = table.rows
    assert (first.name, first.rate) == ("one", 128)
    assert first.of_limit is not None
    assert first.of_limit > 0
    assert last.failure == "ended with code 1: out of order"
    assert {turn.name for turn in run.results.turns} == {programme.LIMITS, "one", "two"}


def test_a_peer_that_is_not_installed_is_in_the_table_with_the_remedy(small):
    known = peers(small, one=ECHO)
    known["absent"] = Contender(name="absent", title="absent", package="x", tasks=("train",), requirement="x==1")
    run = Programme(small, known, SETTINGS, lambda turn: None)
    run.train(None)
    assert "setup_peers.py absent" in (run.results.tables[0].rows[-1].failure or "")


def test_scaling_gives_a_line_of_points_an_axis(small, monkeypatch):
    monkeypatch.setattr(programme, "SCALING", {"width": (64, 128)})
    monkeypatch.setattr(programme, "USUAL", {"length": 8, "vocabulary": 600, "width": 64})
    run = Programme(small, peers(small, one=ECHO), SETTINGS, lambda turn: None)
    run.scaling(["one"])
    assert run.results.series == {"width": {"one": [(64.0, 1000 / 64), (128.0, 1000 / 128)]}}


def test_the_limits_need_no_peers():
    run = Programme(None, {}, SETTINGS, lambda turn: None)
    run.limits()
    assert [table.unit for table in run.results.tables] == ["GFLOP", "GB"]


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"repeats": 0}, {"seconds": 0.0}, {"sentences": 0}])
def test_a_run_of_nothing_is_refused(wrong):
    [name] = wrong
    with pytest.raises(ValueError, match=name):
        BenchSettings(**{"threads": 1, **wrong})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clearformer", "torch", "transformers"])
def test_the_contenders_that_need_no_installation_train(small, monkeypatch, name):
    """The same start (random weights: the logarithm of the vocabulary) and about as many parameters for everybody."""
    known = read_contenders(benchmarks_folder())
    run = Programme(benchmarks_folder(), {name: known[name]}, SETTINGS, lambda turn: None)
    text = work.multi30k(run.works)
    model = {"preset": "tiny", "dim": 32, "hidden_dim": 32, "layers": 1}
    [row] = run._train(text, "small", model, [known[name]]).rows
    assert row.failure is None
    assert row.facts["first_loss"] == pytest.approx(6.4, abs=1.0)
    assert row.facts["parameters"] == pytest.approx(text.vocab_size * 32 + 16 * 32 * 32, rel=0.15)
    assert json.dumps(dict(row.facts))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clearformer", "clearformer-ctranslate2", "ctranslate2", "transformers"])
def test_the_contenders_that_need_no_installation_decode(small, name):
    known = read_contenders(benchmarks_folder())
    run = Programme(benchmarks_folder(), {name: known[name]}, SETTINGS, lambda turn: None)
    run.decode(None)
    assert [row.failure for table in run.results.tables for row in table.rows] == [None] * 4
    shares = {table.case: table.rows[0].of_limit for table in run.results.tables}
    assert all((share is not None) == ("batch" in case) for case, share in shares.items())
    assert all(share > 0 for share in shares.values() if share is not None)  # below 1 on an idle machine alone

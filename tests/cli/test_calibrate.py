"""A translator learns how probable it is that it is right, and says so afterwards."""

import json
import shutil
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.folder.description import find_model, read_description
from support.toy_models import texts


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A copy of the model that ships."""
    return Path(shutil.copytree(find_model("en-de"), tmp_path / "model"))


def test_a_calibrated_model_says_its_confidence(capsys: pytest.CaptureFixture[str], shipped: Path, tmp_path: Path):
    """Sentences that it knows beside nonsense: of the first kind most are good, of the other none."""
    known = [f"Tom is {what}." for what in ("here", "happy", "tired", "old", "sick", "rich", "late", "ill", "alone")]
    german = ["hier", "glücklich", "müde", "alt", "krank", "reich", "spät", "krank", "allein"]
    sources = [one for pair in zip(known * 8, texts(72), strict=True) for one in pair]
    references = [one for what in german * 8 for one in (f"Tom ist {what}.", "Nichts davon.")]
    mixed = [sources[n] for n in range(0, 144, 2)][:36] + sources[72:] + sources[1:73:2]
    wanted = [references[n] for n in range(0, 144, 2)][:36] + references[72:] + references[1:73:2]
    for name, lines in (("dev.en", mixed), ("dev.de", wanted)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    common = ["evaluate", "--model", str(shipped), "--calibrate", "--source", str(tmp_path / "dev.en")]
    assert main([*common, "--reference", str(tmp_path / "dev.de"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["auc"] > 0.9
    said = read_description(shipped).provenance["confidence"]
    assert said["event"] == "chrF2 of the sentence is at least 60"
    assert said["data"] == "dev.en"
    assert main(["translate", "Tom is here.", "snow cat Straße", "--json", "--model", str(shipped)]) == 0
    told = capsys.readouterr()
    good, bad = (json.loads(line)["confidence"] for line in told.out.splitlines())
    assert good > 0.5 > bad
    assert main(["translate", "Tom is here.", "snow cat Straße", "--model", str(shipped)]) == 0
    assert ("1 of 2 translations are probably bad" in capsys.readouterr().err) is (bad < 0.2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--data", "tatoeba-en-de"], "takes a development set"),
        ([], "takes a development set"),
        (["--source", "a", "--reference", "b", "--with", "en-de"], "for one model alone"),
        (["--model", "shakespeare"], "--calibrate is for translators"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], options: list[str], reason: str):
    assert main(["evaluate", "--calibrate", *options]) == 2
    assert reason in capsys.readouterr().err

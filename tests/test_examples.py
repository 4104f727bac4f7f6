"""The scripts in examples/ and benchmarks/ run, and show what they say they show. The demo is run by test_readme.py."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"


def run(script: str, *arguments: str) -> str:
    """What a script prints."""
    command = [sys.executable, "-X", "utf8", str(ROOT / script), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples import one another as a script does, from its own folder."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))


def test_attention_by_hand():
    rows = [
        [float(number) for number in re.findall(r"\d\.\d{4}", line)]
        for line in run("examples/attention_by_hand.py").splitlines()
    ]
    unscaled, scaled = [0.4769, 0.1787, 0.3444, 0.4285], [0.4062, 0.2487, 0.3452, 0.4005]
    assert rows == [[], unscaled, unscaled, scaled, scaled]


def test_own_layer():
    without, with_attention = map(float, re.findall(r"([\d.]+)% right", run("examples/own_layer.py")))
    assert without < 75
    assert with_attention > 95


@pytest.mark.slow
def test_backwards():
    told = run("examples/backwards.py")
    assert int(told.partition("%")[0]) > 90
    words = re.findall(r"(\w+) -> (\w+)", told)
    assert sum(written == word[::-1] for word, written in words) >= 2  # of three; a word in a hundred goes wrong


def test_the_picture_is_drawn_from_the_weights(examples, tmp_path, capsys):
    from attention_picture import WORD, main

    main(tmp_path / "picture.svg", steps=2)
    drawn = ElementTree.parse(tmp_path / "picture.svg").getroot()
    weights = [float(square.get("opacity")) for square in drawn.iter(f"{SVG}rect") if square.get("opacity")]
    written = capsys.readouterr().out.partition(f"{WORD} -> ")[2].partition(",")[0]
    assert len(weights) == 5 * len(WORD) * len(written)  # the mean and four heads
    assert all(0 <= weight <= 1 for weight in weights)


def test_the_picture_of_the_readme_is_whole():
    drawn = ElementTree.parse(ROOT / "docs" / "attention.svg").getroot()
    assert any("stressed" in (words.text or "") for words in drawn.iter(f"{SVG}text"))


def test_the_bench_compares_equals():
    told = run("benchmarks/attention.py", "--rounds", "1")
    assert len(re.findall(r"^  attend_fused .* × nn.MultiheadAttention$", told, re.MULTILINE)) == 4
    assert len(re.findall(r"load [\d.]+ on \d+ cores \((idle|busy)", told)) == 2


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short_and_say_what_they_are(script):
    lines = script.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 85
    assert lines[0].startswith('"""')

"""What the README says is true: its commands run, they print what it quotes, and both languages say the same.

The pages under docs/ are held to less: their links lead somewhere, and the tests that they name exist.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

import clearformer
from clearformer.cli.main import GROUPS

ROOT = Path(__file__).parent.parent
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# Training to the end takes minutes. The test runs the README's commands with a few steps.
SHORTER = {"clearformer train": " training.steps=3 training.save_every=3 training.validate_every=3 scoring.examples=4"}
VERDICTS = (("fine", "good"), ("dull", "bad"))
PLANS = {"test": "-m pytest", "wheel": "-m build --wheel"}  # targets that are not run here, and what they would run


class Block(NamedTuple):
    """A fenced block: its language, its text, and the text block right after it, which is what it prints."""

    language: str
    text: str
    prints: str | None

    def __str__(self) -> str:
        return self.text.partition("\n")[0]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = list(re.finditer(r"^```(\w+)\n(.*?)^```\n", text, re.MULTILINE | re.DOTALL))
    found = []
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        quoted = after and after.group(1) == "text" and not text[fence.end() : after.start()].strip()
        if fence.group(1) != "text":
            found.append(Block(fence.group(1), fence.group(2), after.group(2) if after and quoted else None))
    return found


def steady(text: str) -> str:
    """Without what differs from run to run: times, percentages, shades, and the blanks that end a line."""
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    for varies, stand_in in ((r"\d+ seconds", "N seconds"), (r"\d+% of words", "N% of words"), ("[·░▒▓█]", "#")):
        text = re.sub(varies, stand_in, text)
    return text


class Reader:
    """Somebody who types what the README says, in a fresh clone after `make demo`, and has data of every kind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".venv").symlink_to(sys.prefix)
        sample = Path(clearformer.__file__).parent / "corpora" / "sample"
        for language in ("en", "fr"):
            with gzip.open(sample / f"train.{language}.gz", "rt", encoding="utf-8") as lines:
                (folder / f"my.{language}").write_text("".join(next(lines) for _ in range(600)), encoding="utf-8")
        shutil.copy(folder / "my.en", folder / "book.txt")
        reviews = [f"film {number} is {word},{label}\n" for number in range(50) for word, label in VERDICTS]
        (folder / "reviews.csv").write_text("text,label\n" + "".join(reviews), encoding="utf-8")
        self._draw_pictures()
        self._start(["clearformer", "export", "en-de", "downloaded", "--to", "huggingface"])

    def _draw_pictures(self) -> None:
        """Two classes, light and dark, and two more pictures that nobody has classified."""
        random = np.random.default_rng(1)
        for label, shade in {"dark": 0, "light": 155}.items():
            for number in range(20):
                pixels = (shade + random.integers(0, 100, (32, 32, 3))).astype(np.uint8)
                path = self.folder / "pictures" / label / f"{number}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(path)
        for number, label in enumerate(("dark", "light"), start=1):
            shutil.copy(self.folder / "pictures" / label / "0.png", self.folder / f"new-{number}.png")

    def run(self, block: Block) -> str:
        if block.language == "python":
            return self._start([sys.executable, "-c", block.text])
        return "".join(self._command(line) for line in block.text.splitlines())

    def _command(self, line: str) -> str:
        if line.startswith("make "):
            return self._make(line.split()[1])
        if line.startswith("pip "):  # tests/test_package.py installs the wheel, into an environment of its own
            return ""
        longer = next((more for start, more in SHORTER.items() if line.startswith(start)), "")
        return self._start(["bash", "-euc", line + longer])

    def _make(self, target: str) -> str:
        """`make test` would run this test again: see what it would run. The demo is run, from the environment here."""
        plan = self._start(["make", "--dry-run", target], cwd=ROOT)
        if target in PLANS:
            assert PLANS[target] in plan
            return ""
        script = re.search(r"examples/\w+\.py", plan)
        assert script, f"make {target} runs no example: {plan}"
        return self._start([sys.executable, str(ROOT / script.group())])

    def _start(self, command: list[str], cwd: Path | None = None) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "COLUMNS": "100", "PYTHONUTF8": "1"}
        done = subprocess.run(
            command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(tmp_path_factory.mktemp("clone"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("block", blocks(ENGLISH), ids=str)
def test_every_block_runs_and_prints_what_is_quoted(reader, block):
    """In order, as a reader would: later blocks use what earlier ones made."""
    printed = reader.run(block)
    if block.prints is not None:
        assert steady(block.prints) in steady(printed), (
            f"the README quotes\n{block.prints}\nbut this was printed\n{printed}"
        )


def test_both_languages_have_the_same_blocks():
    assert blocks(ENGLISH) == blocks(CHINESE)
    assert {block.language for block in blocks(ENGLISH)} == {"sh", "python"}


@pytest.mark.parametrize("page", [ENGLISH, CHINESE], ids=lambda page: page.name)
def test_the_verbs_are_those_that_exist_in_the_groups_of_the_help(page):
    """The last table: a row with an empty cell begins a group."""
    table = max(page.read_text(encoding="utf-8").split("\n\n"), key=lambda part: part.count("\n| `"))
    groups = re.split(r"^\| [^`\n]+ \| \|\n", table, flags=re.MULTILINE)[1:]
    assert [re.findall(r"^\| `(\w+)` \|", group, re.MULTILINE) for group in groups] == [
        list(verbs) for verbs in GROUPS.values()
    ]


def test_a_quotation_is_compared():
    assert steady("5 seconds, 99% of words\n s ██ ··") == steady("9 seconds, 97% of words \n s ▓▓ ··  \n")
    assert steady("total │ 63") not in steady("total │ 64")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    broken = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_and_tests_exist(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|src|examples|benchmarks)/[\w/]+\.\w+)(?:::(\w+))?`", text)
    gone = [f"{file}::{name}" for file, name in named if not _holds(ROOT / file, name)]
    assert not gone


def _holds(file: Path, name: str) -> bool:
    return file.is_file() and (not name or f"def {name}(" in file.read_text(encoding="utf-8"))


def test_every_page_has_its_translation():
    """The reading order, the design, the shapes and the corrections are there in both languages, section by section."""
    for page in sorted((ROOT / "docs" / "zh").glob("*.md")):
        assert _outline(page) == _outline(page.parent.parent / page.name), page.name
    assert _outline(ENGLISH) == _outline(CHINESE)


def _outline(page: Path) -> list[int]:
    """The depth of every heading."""
    return [len(marks) for marks in re.findall(r"^(#+) ", page.read_text(encoding="utf-8"), re.MULTILINE)]

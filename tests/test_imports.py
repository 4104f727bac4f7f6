"""Who may import whom: the picture in docs/design.md, held against every file of the package.

Imports run one way, so that a part can be read, tested and taken away without the rest. A failure here prints the arrow
that should not be there.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "clearformer"
TESTS = ROOT / "tests"

# Each part (a folder of the package) with the parts that it may import. A part may always import itself, and whoever
# stands to the right of an arrow never points back.
FLOOR = {"foundation"}  # folders that are whole or absent, settings, locks, the machine. They know nothing of us.
MAY_IMPORT: dict[str, set[str]] = {
    "foundation": set(),
    "figures": set(),  # charts know numbers and words, not models
    # know nothing of one another: decoding sees any model through its own Stepper protocol
    "text": FLOOR,
    "model": set(),  # torch and the standard library alone, so that it can be lifted out
    "decoding": FLOOR,
    "data": FLOOR | {"text"},
    "documents": FLOOR | {"text"},  # any function from texts to texts may translate them
    "training": FLOOR | {"model", "data"},
    "evaluation": FLOOR | {"decoding", "data", "text"},
    # where the parts meet
    "folder": FLOOR | {"model", "text"},
    "interop": FLOOR | {"model", "text", "folder"},
    "inference": FLOOR | {"model", "text", "decoding", "data", "evaluation", "folder", "interop"},
}
MAY_IMPORT["retrieval"] = FLOOR | {"text", "folder", "inference"}
MAY_IMPORT["tasks"] = set(MAY_IMPORT)
MAY_IMPORT["run"] = set(MAY_IMPORT)
EVERYTHING_BELOW = set(MAY_IMPORT)
MAY_IMPORT |= {
    "api": EVERYTHING_BELOW,
    "diagnosis": EVERYTHING_BELOW,
    "serving": EVERYTHING_BELOW | {"api"},
    "lab": EVERYTHING_BELOW | {"api"},
    "bench": EVERYTHING_BELOW | {"api"},
    "studio": EVERYTHING_BELOW | {"api", "serving", "lab"},
    "__init__": EVERYTHING_BELOW | {"api"},  # by name, when first asked for: see below
}
# The command line stands on everything and carries nothing: no row above has cli or studio among its imports, and
# lab is among those of the studio alone.
MAY_IMPORT |= {"cli": set(MAY_IMPORT), "__main__": {"cli"}}

# Foreign packages: what a part is kept free of, and the one file that is allowed to know.
PURE = {"model": {"torch"}}  # these and the standard library, nothing else
# Parts and files that a command without tensors starts with.
WITHOUT = {
    name: {"torch"}
    for name in (
        "text",
        "documents",
        "folder/description.py",
        "folder/preprocessing.py",
        "inference/translation_settings.py",
        "inference/generation_settings.py",
        "inference/ctranslate2.py",
        "tasks/verbs.py",
    )
}
ONLY_IN = {"torch.distributed": "training/distributed.py"}

# The parts that serve every task, and words that only one task uses. Whoever writes one there has put something of a
# task where it does not belong.
FOR_EVERY_TASK = ("run", "training", "folder", "foundation")
WORDS_OF_TASKS = (
    "translat", "classif", "tagging", "answer", "summar", "detect", "segment", "paint", "transcri", "caption",
    "sentiment", "language",
)  # fmt: skip
WORDS_OF_TWO_SIDES = ("source", "target")  # which the runner itself must not know either
OTHER_NAMES = {  # of other people's programs, which contain such a word
    "ctranslate2": "the engine's name, also as a key of config.json",
    "SummaryWriter": "TensorBoard's class",
}
MOST_IMPORTS = 15  # of our own modules, by the file that puts a run together
MOST_LINES = {"tasks/picture_classes.py": 220, "tasks/language_model.py": 220}  # a new use is about 200 lines

# A file without a test of the same name needs a reason.
NO_TWIN: dict[str, str] = {
    "__init__.py": "its promise, that importing costs nothing, is tested below",
    "__main__.py": "one line; tests/test_package.py runs it",
    "data/token_pairs.py": "two names that batching, collate and shards share and test",
    "diagnosis/finding.py": "a record that history, behaviour and text fill and test",
    "text/templates/syntax.py": "records that the parser makes and the evaluator reads, tested with them",
    "decoding/tree_recording.py": "what beam search and the tree record is tested with them",
}


class Import(NamedTuple):
    """One import statement: the file it stands in, the module that it names, and whether it runs at import time."""

    file: str
    module: str
    line: int
    at_once: bool

    def __str__(self) -> str:
        target = self.module.removeprefix("clearformer.").replace(".", "/")
        return f"{self.file}:{self.line} -> {target}"


def imports_in(file: str, text: str) -> Iterator[Import]:
    """Every import of a file, also inside functions. Relative ones are spelled out."""
    tree = ast.parse(text)
    later = {id(node) for scope in ast.walk(tree) if _runs_later(scope) for node in ast.walk(scope)}
    for node in ast.walk(tree):
        at_once = id(node) not in later
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, alias.name, node.lineno, at_once)
        elif isinstance(node, ast.ImportFrom):
            package = _package(file, node.level) if node.level else ""
            base = ".".join(part for part in (package, node.module) if part)
            for alias in node.names:  # `from clearformer import run` names a module, and so may `from torch import …`
                yield Import(file, f"{base}.{alias.name}", node.lineno, at_once)


def _runs_later(node: ast.AST) -> bool:
    """Functions run when called, and what stands under TYPE_CHECKING never."""
    checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    return checking or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _package(file: str, level: int) -> str:
    """What the dots of a relative import stand for."""
    folders = ["clearformer", *Path(file).parts[:-1]]
    return ".".join(folders[: len(folders) - level + 1])


def part_of(file: str) -> str:
    """text/tokenizer.py belongs to text, bundle.py to itself."""
    return Path(file).parts[0].removesuffix(".py")


def target_of(module: str) -> str | None:
    """The part of ours that a module belongs to; None for foreign ones and for plain names such as __version__."""
    words = module.split(".")
    if words[0] != "clearformer" or len(words) == 1:
        return None
    return words[1] if words[1] in MAY_IMPORT and words[1] != "__init__" else None


def wrong_arrows(imports: list[Import]) -> list[str]:
    """What the tables above do not allow, as arrows."""
    return [str(arrow) for arrow in imports if not (_allowed_inside(arrow) and _allowed_outside(arrow))]


def _allowed_inside(arrow: Import) -> bool:
    part, target = part_of(arrow.file), target_of(arrow.module)
    return target is None or target == part or target in MAY_IMPORT[part]


def _allowed_outside(arrow: Import) -> bool:
    part, top = part_of(arrow.file), arrow.module.split(".")[0]
    for module, home in ONLY_IN.items():
        if f"{arrow.module}.".startswith(f"{module}.") and arrow.file != home:
            return False
    if top == "clearformer" or top in sys.stdlib_module_names:
        return True
    without = WITHOUT.get(part, set()) | WITHOUT.get(arrow.file, set())
    return (part not in PURE or top in PURE[part]) and top not in without


def source_files() -> dict[str, str]:
    return {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}


@pytest.fixture(scope="module")
def imports() -> list[Import]:
    return [arrow for file, text in source_files().items() for arrow in imports_in(file, text)]


def test_every_part_has_a_row_in_the_table():
    unknown = {part_of(file) for file in source_files()} - MAY_IMPORT.keys()
    assert not unknown, f"say in MAY_IMPORT whom these may import: {', '.join(sorted(unknown))}"


def test_the_table_itself_runs_one_way():
    """Take away, again and again, the parts that import nothing that is left; a circle would never be taken away."""
    left = dict(MAY_IMPORT)
    while free := [part for part, targets in left.items() if not (targets - {part}) & left.keys()]:
        for part in free:
            del left[part]
    assert not left, f"these import one another in a circle: {', '.join(left)}"
    for part, targets in MAY_IMPORT.items():
        if part not in ("cli", "__main__"):
            assert not targets & {"cli", "studio"}, f"{part} may import what nothing may import"
            assert "lab" not in targets or part == "studio", f"{part} may import lab, which can be deleted"


def test_imports_run_one_way(imports):
    wrong = wrong_arrows(imports)
    assert not wrong, "arrows that should not be there:\n  " + "\n  ".join(wrong)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("text/tokenizer.py", "from clearformer.model.attention import attend"),
        ("text/tokenizer.py", "import torch"),
        ("text/tokenizer.py", "def f():\n    import torch.nn"),
        ("model/attention.py", "from clearformer.foundation import storage"),
        ("model/attention.py", "import numpy as np"),
        ("model/attention.py", "from torch.distributed import all_reduce"),
        ("model/attention.py", "from ..text import tokenizer"),
        ("decoding/beam.py", "from clearformer.inference.steppers import Source"),
        ("training/loop.py", "from torch import distributed"),
        ("training/loop.py", "import clearformer.evaluation.bleu"),
        ("data/shards.py", "from clearformer.training.loop import Loop"),
        ("foundation/storage.py", "from clearformer.text import lines"),
        ("run/train.py", "from clearformer.cli import main"),
        ("lab/claims.py", "from clearformer import studio"),
    ],
)
def test_a_wrong_arrow_is_found(file, line):
    assert wrong_arrows(list(imports_in(file, line)))


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("text/train_tokenizer.py", "from .tokenizer import Tokenizer"),
        ("model/attention.py", "import math, torch\nfrom torch import Tensor"),
        ("training/distributed.py", "import torch.distributed as dist"),
        ("training/loop.py", "from clearformer.model.weights import weights_of"),
        ("run/train.py", "from clearformer.folder import bundle"),
        ("cli/train.py", "from clearformer.run import train"),
    ],
)
def test_a_right_arrow_is_let_pass(file, line):
    assert wrong_arrows(list(imports_in(file, line))) == []


def test_the_doorway_is_lazy(imports):
    """`clearformer/__init__` names its homes and imports none of them, nor does any folder's `__init__`."""
    eager = [str(arrow) for arrow in imports if arrow.file.endswith("__init__.py") and arrow.at_once and _ours(arrow)]
    assert not eager, "imported at once, so that everybody pays: " + ", ".join(eager)


def _ours(arrow: Import) -> bool:
    return arrow.module.startswith("clearformer") or arrow.module.split(".")[0] not in sys.stdlib_module_names


def test_importing_the_package_costs_nothing():
    code = "import sys, clearformer; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "numpy", "pydantic", "tokenizers", "safetensors", "sacrebleu", "rich"} & set(done.stdout.split())
    assert not heavy, f"import clearformer also imports {', '.join(sorted(heavy))}"


def test_every_name_of_the_doorway_leads_somewhere():
    import clearformer

    for name in clearformer.__all__:
        assert getattr(clearformer, name) is not None
    with pytest.raises(AttributeError, match="has no 'Transfomer'; it has"):
        _ = clearformer.Transfomer


def words_of_tasks(text: str, words: tuple[str, ...]) -> list[tuple[int, str]]:
    """Where a source has a word of a task, in code, strings and comments alike: line and text."""
    wanted = re.compile("|".join(words), re.IGNORECASE)
    allowed = re.compile("|".join(OTHER_NAMES))
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if wanted.search(allowed.sub("", line))
    ]


def test_what_serves_every_task_has_no_word_of_any():
    found = [
        f"{file}:{number}: {line}"
        for file, text in source_files().items()
        if part_of(file) in FOR_EVERY_TASK
        for number, line in words_of_tasks(text, WORDS_OF_TASKS)
    ]
    assert not found, "words of one task where all are served:\n  " + "\n  ".join(found)


def test_the_runner_knows_no_sides():
    text = source_files()["run/train.py"]
    assert words_of_tasks(text, WORDS_OF_TASKS + WORDS_OF_TWO_SIDES) == []


def test_a_word_of_a_task_is_found():
    assert words_of_tasks("x = 1\n# for translators\n", WORDS_OF_TASKS) == [(2, "# for translators")]
    assert words_of_tasks("ctranslate2 = 1\n", WORDS_OF_TASKS) == []
    assert words_of_tasks("ctranslate2 translates\n", WORDS_OF_TASKS)


def test_the_runner_leans_on_few_modules(imports):
    """`from package import module` names a module; a name inside one counts as that module."""
    modules = {file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in source_files()}
    named = {arrow.module.removeprefix("clearformer.") for arrow in imports if arrow.file == "run/train.py"}
    ours = {name if name in modules else name.rpartition(".")[0] for name in named} & modules
    assert len(ours) <= MOST_IMPORTS, f"run/train.py imports {len(ours)} of our modules: {', '.join(sorted(ours))}"
    assert "tasks.translation" not in ours
    assert not [name for name in ours if name.startswith("tasks.") and name != "tasks.task"]


def test_the_root_of_the_package_holds_the_doors_only():
    assert {file for file in source_files() if "/" not in file} == {"__init__.py", "__main__.py", "api.py"}


@pytest.mark.parametrize(("file", "most"), MOST_LINES.items())
def test_a_use_is_a_short_file(file, most):
    lines = len(source_files()[file].splitlines())
    assert lines <= most, f"{file} has {lines} lines; if a use needs so many, the protocol is wrong"


def test_every_file_says_what_it_is_for():
    silent = [file for file, text in source_files().items() if not ast.get_docstring(ast.parse(text))]
    assert not silent, "no docstring at the top of: " + ", ".join(silent)


def test_every_file_has_its_twin_among_the_tests():
    """tests/text/test_tokenizer.py is the twin of src/clearformer/text/tokenizer.py."""
    files = [file for file in source_files() if file not in NO_TWIN and not _is_folder(file)]
    missing = [f"{file} (wanted: {twin(file).relative_to(ROOT)})" for file in files if not twin(file).exists()]
    assert not missing, "no test of the same name for:\n  " + "\n  ".join(missing)


def test_the_exceptions_are_still_needed():
    gone = [file for file in NO_TWIN if not (SOURCE / file).exists() or twin(file).exists()]
    assert not gone, f"take these out of NO_TWIN: {', '.join(gone)}"


def twin(file: str) -> Path:
    path = Path(file)
    return TESTS / path.parent / f"test_{path.name}"


def _is_folder(file: str) -> bool:
    """A folder's `__init__` is its docstring; there is nothing to test."""
    return file.endswith("/__init__.py")

"""What a use of the Transformer is: a record of functions. The runner owns the order in which they are called.

A task is one file of this folder. It says which verb uses its models, how a loaded folder becomes an object with that
verb's method, how it is trained, and what it makes of data that somebody has. Nothing is inherited and nothing
registers itself: `tasks/__init__.py` has the closed table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray
from torch import nn

from clearformer.data.collate import Batch
from clearformer.data.row_plan import Plan
from clearformer.evaluation.report import ErrorReport
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Outcome, Preprocessing
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.tasks.data_files import DataFiles, check_files
from clearformer.tasks.verbs import Verb
from clearformer.training.distributed import Ranks
from clearformer.training.loss import Loss

D = TypeVar("D", bound=DataFiles)  # the dataclass behind [data]
O = TypeVar("O")  # noqa: E741 - behind [objective]
E = TypeVar("E")  # one example
B = TypeVar("B", bound=Batch)
Seed = tuple[int, ...]  # of what is drawn for one batch; empty: nothing is drawn, as in validation
Scores = Mapping[str, float | str]  # numbers to compare, and samples to read


class Examples(Protocol[E]):  # type: ignore[misc]  # read only, so a list of something narrower will do
    """Examples by index."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> E: ...


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """Where a task prepares its data. What it makes lies below `folder`, and is found there when a run is resumed."""

    folder: Path
    base: Path = Path()  # relative file names begin here
    resume: bool = False
    first: bool = True  # this process makes what is not there; the others find it made
    start: ModelFolder | None = None  # the model that training begins with
    options: Any = None  # how the model will be used in validation
    on_progress: OnProgress = unwatched

    @property
    def anew(self) -> bool:
        """Whether this is the process that begins a run: what lies about from before does not count."""
        return self.first and not self.resume


@dataclass(frozen=True, kw_only=True)
class Prepared(Generic[E]):
    """Data, ready for training.

    lengths: of each training example on each side, as it will stand in a batch. dev: examples for the development loss.
    held: what `score` looks at, in whatever form the task wants. objective: [objective] with what only
    the data knows of it, such as how frequent each class is. order: of examples that follow one another, a plan by
    (config, seed, ranks); each row of a batch then goes on in the next one, with what the loss left to it.
    """

    train: Examples[E]
    lengths: Sequence[NDArray[Any]]
    dev: Sequence[E]
    held: Any
    preprocessing: Preprocessing
    objective: Callable[[Any], Any] = lambda given: given
    order: Callable[..., Plan] | None = None


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What the development set decides of a finished model, and a line about it for people."""

    outcome: Outcome
    said: str


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How a model is scored: with which options it is used, what the recipe's [scoring] says, on which processes.

    thorough: intervals and signatures as well, for `evaluate`; a look during training does without.
    """

    options: Any
    scoring: Any
    ranks: Ranks
    thorough: bool = False
    on_progress: OnProgress = unwatched


@dataclass(frozen=True, kw_only=True)
class Teachers:
    """Who writes lessons.

    together: one model, or several that decide together. also: further ones, each of which writes lessons of its own.
    back: models of the other direction, which write new inputs for the given outputs.
    """

    together: Sequence[str | Path]
    also: Sequence[str | Path] = ()
    back: Sequence[str | Path] = ()


@dataclass(frozen=True, kw_only=True)
class LessonPlan:
    """Where lessons are written, and how. alone: they take the place of the original examples."""

    folder: Path
    base: Path
    options: Any
    alone: bool = False
    on_progress: OnProgress = unwatched


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How a model is scored, where a task has nothing to add."""

    examples: int = 1000  # development examples that a validation during training looks at


@dataclass(frozen=True, kw_only=True)
class Training(Generic[D, O, E, B]):
    """How a task is trained. check: refuse data before anything is made on disk."""

    data: type[D]
    objective: type[O]
    scoring: type[Any] = Scoring
    unit: str = "tokens"  # what a loss counts
    check: Callable[[D, Workspace], None] = lambda data, workspace: check_files(data, workspace.base)
    prepare: Callable[[D, Workspace], Prepared[E]]
    sizes: Callable[[Preprocessing], Mapping[str, Any]]  # laid over [model]: vocabulary, labels
    collate: Callable[[D, Preprocessing], Callable[[Sequence[E], Seed], B]]  # pure: what is drawn comes from the seed
    loss: Callable[[nn.Module, B, O], Loss]
    score: Callable[[Any, Any, Judging], Scores]  # predictor, held -> scores; validation and `evaluate` alike
    held_out: Callable[[Sequence[Path], ModelFolder], Any]  # files of a test set -> `held`, for `evaluate`
    test_files: Callable[[D], Sequence[str]]  # the recipe's own test set
    best: str | tuple[str, ...]  # the score that decides, the first that there is; with a minus where less is better
    facts: Callable[[Any], Mapping[str, Any]]  # recipe -> what the folder's provenance says of the data and the use
    lessons: Callable[[D, Teachers, LessonPlan], D] | None = None  # distillation: the data with what teachers write
    reverse: Callable[[D], D] | None = None  # the data in the other direction, where there is one
    settle: Callable[[Any, Any, Judging], Settled] | None = None  # finished predictor, held -> how it is used
    report: Callable[[Any, Any, Judging], ErrorReport] | None = None  # predictor, held -> what it gets wrong

    def better(self, scores: Scores) -> float:
        """A validation as one number, larger is better; among equals, the lower loss."""
        names = (self.best,) if isinstance(self.best, str) else self.best
        best = next((name for name in names if name.removeprefix("-") in scores), names[0])
        sign = -1.0 if best.startswith("-") else 1.0
        return sign * float(scores[best.removeprefix("-")]) - 1e-5 * float(scores["loss"])


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One line of the table of choices: what was chosen, and why."""

    what: str
    value: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What a task makes of somebody's data: a recipe as plain values, why it is so, and what the doctor said.

    start: a published model that suits this data; training begins with it where it was fetched. without_capitals: what
    [data] says as well if the start's vocabulary has none.
    """

    recipe: dict[str, Any]
    choices: list[Choice]
    report: str = ""
    start: str = ""
    without_capitals: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Automatic:
    """What a task makes of data that somebody has, without a recipe.

    recognise: what this data is taken for, in a few words, or None if it is not this task's. choose: hold a part out,
    write what is needed into the run's folder, and say every choice with its reason. examine: what is wrong with it.
    name: what to call the run. example: something from the test part of a run's folder to try the model with, as the
    words of a command.
    """

    recognise: Callable[[Sequence[Path]], str | None]
    choose: Callable[[Sequence[Path], Path], Chosen]
    examine: Callable[[Sequence[Path]], "Examined"]
    name: Callable[[Sequence[Path]], str]
    example: Callable[[Path], str | tuple[str, ...]]


class Examined(Protocol):
    """A doctor's report."""

    @property
    def fatal(self) -> bool: ...

    def to_text(self) -> str: ...

    def to_json(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Task:
    """A use of the Transformer."""

    name: str
    verb: Verb
    use: Callable[[Bundle], Any]  # a loaded folder -> the object with the verb's method
    together: Callable[[Sequence[Bundle]], Any] | None = None  # the same of several folders that decide together
    training: Training[Any, Any, Any, Any] | None = None  # None: imported models only
    automatic: Automatic | None = None

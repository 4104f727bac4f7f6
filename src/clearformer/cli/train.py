"""clearformer train: from a recipe, or from somebody's data, to a model folder."""

import argparse
import re
import sys
import textwrap
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import clearformer
from clearformer.cli.named_models import ModelName
from clearformer.cli.parser import number_between
from clearformer.cli.try_it import try_command
from clearformer.cli.usage import UsageError, asked_wrongly
from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.evaluation.report import ErrorReport
    from clearformer.run.recipe import Recipe
    from clearformer.tasks.task import Choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RECIPE",
        help="a recipe file or the name of one that ships, then changes to it such as training.steps=500",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="PATH",
        help="without a recipe: a text, a table of texts with labels or summaries (.csv, .tsv, .jsonl), "
        "conversations (.jsonl), a .conll file, SQuAD .json, recordings (NAME.wav beside NAME.txt), pictures with "
        "boxes or beside masks, or a folder with one subfolder of pictures per class; everything else is chosen",
    )
    parser.add_argument("--task", metavar="NAME", help="what to take --data for, where that is not clear")
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="without a recipe: sentences, one per line, plain or .gz"
    )
    parser.add_argument(
        "--target", type=Path, metavar="FILE", help="their translations, line by line; everything else is chosen"
    )
    parser.add_argument(
        "--start",
        type=ModelName,
        metavar="MODEL",
        help="a model to begin with: a folder, a name, or hub:OWNER/NAME; `scratch` is none, also where --data has one",
    )
    parser.add_argument(
        "--reverse", action="store_true", help="train the recipe's other direction, from target to source"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the folder of the run (runs/ and the recipe's name)"
    )
    parser.add_argument(
        "--minutes",
        type=number_between(0.05, 100_000.0),
        metavar="N",
        help="scale the schedule so that training takes about so long on this machine",
    )
    parser.add_argument("--resume", action="store_true", help="resume from the last checkpoint of the run in --out")
    parser.usage = (
        "clearformer train RECIPE [key.path=value …] [options]\n"
        "       clearformer train --data PATH [key.path=value …] [options]\n"
        "       clearformer train --source FILE --target FILE [key.path=value …] [options]\n"
        "       clearformer train --resume --out FOLDER"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"recipes that ship:\n{_table(shipped_recipes())}"


def shipped_recipes() -> dict[str, str]:
    """The names of the recipes that ship, each with the first sentence of its file."""
    folder = Path(clearformer.__file__).parent / "recipes"
    return {path.stem: _first_sentence(path) for path in sorted(folder.glob("*.toml"))}


def _first_sentence(recipe: Path) -> str:
    """What the comment at the top of a recipe says first, up to a full stop or a colon."""
    lines = takewhile(lambda line: line.startswith("#"), recipe.read_text(encoding="utf-8").splitlines())
    comment = " ".join(line.lstrip("# ") for line in lines)
    return re.split(r"[.:] |[.:]$| \(", comment, maxsplit=1)[0]


def _table(entries: dict[str, str]) -> str:
    width = max(map(len, entries), default=0)
    indent = " " * (width + 4)
    return "\n".join(
        textwrap.fill(f"  {name:<{width}}  {says}", 88, subsequent_indent=indent) for name, says in entries.items()
    )


def run(arguments: argparse.Namespace) -> None:
    """Train, with a progress bar."""
    check_folder(arguments.out, "--out")
    files = _given_files(arguments)
    if arguments.reverse and (files or not arguments.words):
        raise UsageError(
            "--reverse swaps the two languages of a recipe; name a recipe, or exchange --source and --target instead"
        )
    if files:
        _train_on_files(files, arguments)
    elif arguments.words:
        _train_recipe(arguments)
    elif arguments.resume and arguments.out and arguments.start is None:
        _resume(arguments.out)
    else:
        raise UsageError(
            "name a recipe (`sample` needs nothing else), or give your data with --data, or with --source and --target"
        )


def _given_files(arguments: argparse.Namespace) -> list[Path]:
    """The data that somebody has, where there is no recipe."""
    if (arguments.source is None) != (arguments.target is None):
        raise UsageError("--source and --target belong together: a translation is learned from both sides")
    if arguments.data is not None and arguments.source is not None:
        raise UsageError("give --data, or --source and --target, not both")
    if arguments.task is not None and arguments.data is None:
        raise UsageError("--task says what --data is taken for; give --data")
    files = [path for path in (arguments.data, arguments.source, arguments.target) if path is not None]
    if files and (wrong := [word for word in arguments.words if "=" not in word]):
        raise UsageError(f"{wrong[0]} is a recipe, and data goes without one; give one or the other")
    return files


def _train_recipe(arguments: argparse.Namespace) -> None:
    from clearformer.run.recipe import begun_with, find_recipe, turned_round

    path = find_recipe(arguments.words[0])
    recipe = read(path, arguments.words[1:])
    recipe = turned_round(recipe) if arguments.reverse else recipe
    recipe = begun_with(recipe, arguments.start) if arguments.start else recipe
    out = arguments.out or Path("runs") / recipe.name
    _finish(_train(recipe, out, base=path.parent, resume=arguments.resume, minutes=arguments.minutes), recipe)


def read(path: Path, changes: list[str]) -> "Recipe":
    """A recipe with changes laid over it; a setting that does not exist, in either, is wrong usage."""
    from clearformer.foundation import settings
    from clearformer.run.recipe import read_recipe

    settings.read_toml(path)  # a file that is missing or damaged is not
    with asked_wrongly():
        return read_recipe(path, changes)


def _resume(out: Path) -> None:
    """Resume a run from the recipe that its folder holds."""
    if not (out / "recipe.toml").exists():
        raise ValueError(f"there is no run in {out} to resume: it has no recipe.toml")
    recipe = read(out / "recipe.toml", [])
    _finish(_train(recipe, out, base=out, resume=True), recipe)


def _finish(model: Path, recipe: "Recipe", example: str | tuple[str, ...] | None = None) -> None:
    """The model folder for programs, and for people what to do with it."""
    from clearformer.tasks import verb_of

    print(model)
    _say(f"try it: {try_command(model, verb_of(recipe.task), example)}")


def _train_on_files(files: list[Path], arguments: argparse.Namespace) -> None:
    """Choose everything, say why, train, and measure on what was held out."""
    from clearformer.run.automatic import announced, choose_for, recognise, write_recipe

    found = recognise(files, arguments.task)
    out: Path = arguments.out or Path("runs") / found.automatic.name(files)
    if not arguments.resume:
        if (out / "checkpoints").exists():
            raise ValueError(f"{out} already holds a run; continue it with --resume, or choose another --out")
        _say(f"looking at {' and '.join(map(str, files))} …")
        _say(f"taken for {found.words}")
        chosen = choose_for(found, files, out, start=arguments.start)
        _say(chosen.report)
        _show(announced(chosen.choices, arguments.words, arguments.minutes))
        write_recipe(chosen.recipe, out)
    recipe = read(out / "recipe.toml", arguments.words)
    model = _train(recipe, out, base=out, resume=arguments.resume, minutes=arguments.minutes, on_dev=False)
    _evaluate(recipe, model, out)
    _finish(model, recipe, found.automatic.example(out))


def _train(
    recipe: "Recipe", out: Path, *, base: Path, resume: bool, minutes: float | None = None, on_dev: bool = True
) -> Path:
    """Train with a progress bar. on_dev: say at the end what the model gets wrong of the development set."""
    from clearformer.cli.progress import training_progress
    from clearformer.run import train

    reports: list[ErrorReport] = []
    with training_progress() as watchers:
        watched = replace(watchers, report=reports.append)
        model = train.train(recipe, out, resume=resume, base=base, minutes=minutes, watchers=watched)
    if reports and on_dev:
        _say_report(reports[0], f"on the development set ({out / 'report.json'}):")
    return model


def _say_report(report: "ErrorReport", where: str, *, scores: bool = True) -> None:
    """What the model gets wrong, for people; the scores for programs are elsewhere."""
    from clearformer.cli.error_report import show_report
    from clearformer.cli.scores import show_scores

    for line in (where, *(show_scores(report.scores) if scores else ()), *show_report(report), ""):
        _say(line)


def _evaluate(recipe: "Recipe", model: Path, out: Path) -> None:
    """Print the score on the test set that was held out, and say what is wrong there."""
    from clearformer.cli.progress import progress_bar
    from clearformer.cli.scores import show_scores
    from clearformer.run.ending import write_report
    from clearformer.run.evaluation import report
    from clearformer.run.recipe import trainable

    _, training = trainable(recipe.task)
    files = [out / name for name in training.test_files(recipe.data)]
    with progress_bar("the held-out test set") as show:
        found = report(model, files, options=recipe.use, scoring=vars(recipe.scoring), on_progress=show)
    for line in show_scores(found.scores):
        print(line)
    if training.report is not None:
        write_report(found, out, "test")
        _say_report(found, f"on the test set that was held out ({out / 'report.json'}):", scores=False)


def _show(choices: list["Choice"]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_edge=False, box=None, pad_edge=False)
    for heading in ("what", "chosen", "because"):
        table.add_column(heading, overflow="fold")
    for choice in choices:
        table.add_row(choice.what, choice.value, choice.reason)
    Console(stderr=True).print(table)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

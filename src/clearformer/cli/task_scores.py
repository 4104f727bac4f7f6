"""What `evaluate` does for models that do not translate: their task's own scores on files that somebody names."""

import argparse
import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.options import flag, read_options
from clearformer.cli.scores import show_scores
from clearformer.cli.usage import UsageError
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.inference.translation_settings import DecodingConfig

if TYPE_CHECKING:
    from clearformer.evaluation.report import ErrorReport

_JSON: dict[str, Any] = {"ensure_ascii": False, "indent": 2}
WITH_ENGINE = ("classify", "tag", "answer", "embed", "transcribe")  # verbs that ctranslate2 can run, too
TRANSLATORS_ONLY = ("source", "reference", "tokenise", "output", "shortlist")


def evaluate_task(arguments: argparse.Namespace, name: str) -> None:
    """Score the model that --model names on the files behind --data, and print. name: of its task."""
    from clearformer.cli.error_report import show_report
    from clearformer.cli.progress import progress_bar
    from clearformer.evaluation.report import ErrorReport
    from clearformer.folder.description import open_folder
    from clearformer.run.evaluation import evaluate, report
    from clearformer.tasks import find_task

    task = find_task(name)
    if task.training is None:
        raise ValueError(f"{arguments.model} is a model for {name}, and there is no score for those yet")
    if arguments.report and task.training.report is None:
        raise UsageError(f"--report is for models whose mistakes can be listed, not for {name}; leave it out")
    if arguments.others and task.together is None:
        raise UsageError(f"--with is for models that can decide together, not for {name}; leave it out")
    refuse_search(arguments, task.verb.options, name, engine=task.verb.name in WITH_ENGINE)
    scoring = given_reading(arguments, [one.name for one in fields(task.training.scoring)], name)
    scoring |= given_judging(arguments, [one.name for one in fields(task.training.scoring)], name)
    files = find_test_files(arguments.data or [])
    with progress_bar("scoring") as show:
        usual = task.verb.options_for(open_folder(arguments.model).provenance)
        given: dict[str, Any] = {
            "options": read_options(arguments, task.verb.options, usual),
            "scoring": scoring,
            "others": arguments.others,
            "engine": arguments.engine,
            "on_progress": show,
        }
        if arguments.report:
            found = report(arguments.model, files, **given)
        else:
            found = ErrorReport(scores=evaluate(arguments.model, files, **given))
    if arguments.json:
        print(json.dumps({**found.scores, **({"report": _rest(found)} if arguments.report else {})}, **_JSON))
        return
    for line in (*show_scores(found.scores), *(show_report(found) if arguments.report else ())):
        print(line)


def _rest(found: "ErrorReport") -> dict[str, Any]:
    return {name: value for name, value in found.plain().items() if name != "scores"}


def refuse_search(arguments: argparse.Namespace, options: type[Any], name: str, *, engine: bool = False) -> None:
    """An option that would change nothing is refused rather than passed over. engine: whether --engine changes much."""
    known = {one.name for one in fields(options)}
    search = [one.name for one in fields(DecodingConfig) if one.name not in known]
    given = [option for option in (*TRANSLATORS_ONLY, *search) if getattr(arguments, option, None)]
    given += ["engine"] if not engine and getattr(arguments, "engine", "auto") != "auto" else []
    if given:
        raise UsageError(
            f"{flag(given[0])} is for translators, and {arguments.model} is a model for {name}; leave it out"
        )


def given_reading(arguments: argparse.Namespace, known: Collection[str], name: str) -> dict[str, Any]:
    """How a text is read for its likelihood, as far as options say it. known: what the task's scores depend on."""
    read_options(arguments, LikelihoodConfig)  # what is out of bounds is wrong usage
    names = [one.name for one in fields(LikelihoodConfig)]
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    if wrong := [option for option in given if option not in known]:
        raise UsageError(
            f"{flag(wrong[0])} is for language models, and {arguments.model} is a model for {name}; leave it out"
        )
    return given


def given_judging(arguments: argparse.Namespace, known: Collection[str], name: str) -> dict[str, Any]:
    """Who judges painted pictures, and how many. known: what the task's scores depend on."""
    given = {name: value for name in ("judge", "samples") if (value := getattr(arguments, name, None)) is not None}
    if wrong := [option for option in given if option not in known]:
        raise UsageError(f"{flag(wrong[0])} is for painters, and {arguments.model} is a model for {name}; leave it out")
    if given.get("samples", 1) < 1:
        raise UsageError(f"--samples must be at least 1, not {given['samples']}")
    return given


def find_test_files(given: Sequence[str]) -> list[Path]:
    """The files of a test set: those that are named, or the test part of a known corpus."""
    from clearformer.data.readers.box_files import boxes_there
    from clearformer.folder.run_folder import RECIPE

    if not given:
        raise UsageError("name a test set with --data: files, a folder, or a corpus from `clearformer data list`")
    paths = [Path(name) for name in given]
    missing = [name for name, path in zip(given, paths, strict=True) if not boxes_there(path)]  # also in an archive
    runs = [path for path in paths if (path / RECIPE).is_file()]  # of a corpus' name, as `train` makes them
    if not missing and not runs:
        return paths
    if len(given) == 1:
        return _test_part(given[0])
    if missing:
        raise ValueError(f"{missing[0]} does not exist; check the name")
    raise ValueError(f"{runs[0]} is the folder of a training run, not a test set; check the name")


def _test_part(name: str) -> list[Path]:
    from clearformer.data.catalogue.corpora import find_corpus, list_corpora
    from clearformer.data.catalogue.fetch import get

    if name not in [corpus.name for corpus in list_corpora()]:
        raise ValueError(f"{name} is no file, no folder and no known corpus (`clearformer data list` names those)")
    patterns = find_corpus(name).splits.get("test", ())
    if not patterns:
        raise ValueError(f"{name} has no test part; give a file of text or pictures that the model has not seen")
    if any("{" in pattern for pattern in patterns):
        raise ValueError(f"{name} has a test part in each of several languages; give the file to score on")
    folder = get(name)
    return [folder / pattern for pattern in patterns]

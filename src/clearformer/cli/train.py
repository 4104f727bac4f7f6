"""clearformer train: from a recipe, or from two text files, to a model folder."""

import argparse
import re
import shlex
import sys
import textwrap
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import clearformer
from clearformer.cli.usage import UsageError, asked_wrongly
from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.run.recipe import Recipe
    from clearformer.tasks.automatic.parallel_text import Choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RECIPE",
        help="a recipe file or the name of one that ships, then changes to it such as training.steps=500",
    )
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="without a recipe: sentences, one per line, plain or .gz"
    )
    parser.add_argument(
        "--target", type=Path, metavar="FILE", help="their translations, line by line; everything else is chosen"
    )
    parser.add_argument(
        "--reverse", action="store_true", help="train the recipe's other direction, from target to source"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the folder of the run (runs/ and the recipe's name)"
    )
    parser.add_argument("--resume", action="store_true", help="resume from the last checkpoint of the run in --out")
    parser.usage = (
        "clearformer train RECIPE [key.path=value …] [options]\n"
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
    if arguments.reverse and (arguments.source or arguments.target or not arguments.words):
        raise UsageError(
            "--reverse swaps the two languages of a recipe; name a recipe, or exchange --source and --target instead"
        )
    if arguments.source or arguments.target:
        _train_on_files(arguments)
    elif arguments.words:
        _train_recipe(arguments)
    elif arguments.resume and arguments.out:
        _resume(arguments.out)
    else:
        raise UsageError("name a recipe (`sample` needs nothing else), or give your text with --source and --target")


def _train_recipe(arguments: argparse.Namespace) -> None:
    from clearformer.run.recipe import find_recipe, turned_round

    path = find_recipe(arguments.words[0])
    recipe = read(path, arguments.words[1:])
    recipe = turned_round(recipe) if arguments.reverse else recipe
    out = arguments.out or Path("runs") / recipe.name
    _finish(_train(recipe, out, base=path.parent, resume=arguments.resume))


def read(path: Path, changes: list[str]) -> "Recipe":
    """A recipe with changes laid over it; a setting that does not exist, in either, is wrong usage."""
    from clearformer.foundation import settings
    from clearformer.run.recipe import model_config, read_recipe

    settings.read_toml(path)  # a file that is missing or damaged is not
    with asked_wrongly():
        recipe = read_recipe(path, changes)
        if "from" not in recipe.model:  # a misspelt [model] is found now, not after the text was prepared
            model_config(recipe.model, vocab_size=1000, target_vocab_size=None)
        return recipe


def _resume(out: Path) -> None:
    """Resume a run from the recipe that its folder holds."""
    if not (out / "recipe.toml").exists():
        raise ValueError(f"there is no run in {out} to resume: it has no recipe.toml")
    _finish(_train(read(out / "recipe.toml", []), out, base=out, resume=True))


def _finish(model: Path) -> None:
    """The model folder for programs, and for people what to do with it."""
    print(model)
    _say(f'try it: clearformer translate --model {model} "…"')


def _train_on_files(arguments: argparse.Namespace) -> None:
    """Choose everything, say why, train, and measure on what was held out."""
    from clearformer.tasks.automatic.parallel_text import from_files, run_name

    source, target = arguments.source, arguments.target
    if source is None or target is None:
        raise UsageError("--source and --target belong together: a translation is learned from both sides")
    if wrong := [word for word in arguments.words if "=" not in word]:
        raise UsageError(f"{wrong[0]} is a recipe, and --source and --target go without one; give one or the other")
    out: Path = arguments.out or Path("runs") / run_name(source, target)
    if not arguments.resume:
        if (out / "checkpoints").exists():
            raise ValueError(f"{out} already holds a run; continue it with --resume, or choose another --out")
        _say(f"looking at {source} and {target} …")
        chosen = from_files(source, target, out)
        _say(chosen.report.to_text())
        _show([*chosen.choices, *_changes(arguments.words)])
        _write(chosen.recipe, out)
    recipe = read(out / "recipe.toml", arguments.words)
    model = _train(recipe, out, base=out, resume=arguments.resume)
    example = _evaluate(recipe, model, out)
    print(shlex.join(["clearformer", "translate", "--model", str(model), example]))


def _train(recipe: "Recipe", out: Path, *, base: Path, resume: bool) -> Path:
    from clearformer.cli.progress import training_progress
    from clearformer.run import train

    with training_progress(recipe.training.steps) as watchers:
        return train.train(recipe, out, resume=resume, base=base, watchers=watchers)


def _evaluate(recipe: "Recipe", model: Path, out: Path) -> str:
    """Print the score on the held-out test set; returns its shortest sentence, to try the model with."""
    from clearformer.cli.progress import progress_bar
    from clearformer.evaluation.bleu import score_translations
    from clearformer.inference.engines import open_translator
    from clearformer.text.doctor.parallel import read_lines

    sources, references = (list(read_lines(out / name)) for name in (recipe.data.test_source, recipe.data.test_target))
    translator = open_translator(model, config=recipe.decoding, scores="none")
    with progress_bar("translating the test set") as show:
        found = [one.text for one in translator.translate(sources, recipe.decoding, on_progress=show)]
    score = score_translations(
        found, references, language=recipe.data.target_language, tokenise=recipe.scoring.tokenise
    )
    print(
        f"BLEU {score.bleu:.2f} (95 % between {score.bleu_low:.2f} and {score.bleu_high:.2f}) "
        f"on {score.sentences:,} held-out sentences; {score.signature}"
    )
    return min(sources, key=len)


def _write(recipe: "Recipe", out: Path) -> None:
    from clearformer.foundation import settings

    text = settings.to_toml(settings.to_plain(recipe))
    (out / "recipe.toml").write_text(text, encoding="utf-8")


def _changes(words: list[str]) -> list["Choice"]:
    from clearformer.tasks.automatic.parallel_text import Choice

    return [Choice(what="changed", value=word, reason="the command line says so") for word in words]


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

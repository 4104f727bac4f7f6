"""clearformer train: from a recipe to a model folder."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="RECIPE.toml [key.path=value …]",
        help="a recipe file or the name of a shipped one (sample), and changes such as training.steps=500",
    )
    parser.add_argument("--out", type=Path, help="the folder of the run (runs/ and the recipe's name)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")


def run(arguments: argparse.Namespace) -> None:
    """Train, showing how it goes."""
    from clearformer import run as running
    from clearformer.cli.progress import training_progress
    from clearformer.recipe import find_recipe, read_recipe

    path = find_recipe(arguments.words[0])
    recipe = read_recipe(path, arguments.words[1:])
    out = arguments.out or Path("runs") / recipe.name
    with training_progress(recipe.training.steps) as watchers:
        model = running.train(recipe, out, resume=arguments.resume, base=path.parent, watchers=watchers)
    print(model)

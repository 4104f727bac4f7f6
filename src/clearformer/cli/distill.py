"""clearformer distill: train a smaller, faster model on a teacher's output."""

import argparse
from pathlib import Path

from clearformer.cli.named_models import ModelName
from clearformer.cli.search_options import add_others
from clearformer.cli.use import check_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "teacher",
        type=ModelName,
        metavar="TEACHER",
        help="a model folder, the name of a model that ships, or hub:OWNER/NAME",
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="RECIPE",
        help="the student's recipe: a file or the name of one that ships, then changes such as model.decoder_layers=1",
    )
    add_others(parser, "of the same labels, or over the same vocabulary,")
    parser.add_argument(
        "--also",
        type=ModelName,
        action="append",
        default=[],
        metavar="MODEL",
        help="a further teacher, which writes its own translations or summaries; may be given again",
    )
    parser.add_argument(
        "--back",
        type=ModelName,
        action="append",
        default=[],
        metavar="MODEL",
        help="translation: a model of the other direction, which writes new sources; may be given again",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="the folder of the run (runs/ and the recipe's name, -distilled)"
    )
    parser.add_argument(
        "--alone", action="store_true", help="learn from what the teacher says alone, without the original examples"
    )
    parser.add_argument(
        "--take-layers",
        action="store_true",
        help="start from the teacher's own layers; give the student fewer, such as model.layers=2",
    )
    parser.add_argument("--resume", action="store_true", help="resume from the last checkpoint")
    parser.epilog = (
        "A translator or summarizer learns from what the teacher writes; a classifier, tagger or answerer from its "
        "probabilities; also for texts and questions that people have neither labelled nor answered: "
        "data.unlabelled=FILE."
    )


def run(arguments: argparse.Namespace) -> None:
    """Let the teacher write lessons for the training text, then train the student on them."""
    from clearformer.cli.progress import progress_bar, training_progress
    from clearformer.cli.train import read
    from clearformer.run.distillation import distill
    from clearformer.run.recipe import find_recipe
    from clearformer.tasks.task import Teachers

    check_folder(arguments.out, "--out")
    path = find_recipe(arguments.words[0])
    recipe = read(path, arguments.words[1:])
    out = arguments.out or Path("runs") / f"{recipe.name}-distilled"
    with progress_bar("the teacher writes") as lessons, training_progress() as watchers:
        model = distill(
            Teachers(together=[arguments.teacher, *arguments.others], also=arguments.also, back=arguments.back),
            recipe,
            out,
            resume=arguments.resume,
            base=path.parent,
            alone=arguments.alone,
            take_layers=arguments.take_layers,
            watchers=watchers,
            on_progress=lessons,
        )
    print(model)

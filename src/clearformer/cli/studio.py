"""clearformer studio: see inside a model in a browser."""

import argparse
import sys
from pathlib import Path

from clearformer.cli.languages import add_translator, settle_translator
from clearformer.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_translator(parser, "the model to show")
    parser.add_argument(
        "--port", type=int, default=8700, metavar="N", help="port on this computer (8700, or the next free one)"
    )
    parser.add_argument(
        "--runs", type=Path, action="append", metavar="FOLDER", help="a training run, or a folder of runs (runs)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(arguments: argparse.Namespace) -> None:
    """Load the model, listen, and print the address."""
    from clearformer.folder.description import find_model
    from clearformer.serving.server import address_of, open_port, serve
    from clearformer.studio.app import LIMITS, studio_app
    from clearformer.studio.runs import Runs
    from clearformer.studio.shown_model import ShownModel

    if not 0 <= arguments.port < 65536:
        raise UsageError(f"--port must be between 0 and 65535, not {arguments.port}")
    for folder in arguments.runs or []:
        if not folder.is_dir():
            raise UsageError(f"--runs {folder} is not a folder")
    settle_translator(arguments)
    folder = find_model(arguments.model)
    listener = open_port(port=arguments.port)
    address = address_of(listener)
    app = studio_app(ShownModel.open(folder), Runs(arguments.runs or _usual_runs(folder)))

    def ready() -> None:
        print(address, flush=True)
        print(f"The studio shows {folder} at {address} (this computer only). Ctrl-C ends it.", file=sys.stderr)
        if arguments.open:
            import webbrowser

            webbrowser.open(address)

    serve(app, listener, on_ready=ready, limits=LIMITS)


def _usual_runs(model: Path) -> list[Path]:
    """`runs` where we are, and the run that the model belongs to."""
    around = model.resolve().parent
    return [
        path
        for path in (Path("runs"), around)
        if path.is_dir() and (path.name == "runs" or (path / "metrics.jsonl").exists())
    ]

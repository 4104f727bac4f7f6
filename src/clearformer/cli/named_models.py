"""Words of a command line that name a model: those that begin with `hub:` are fetched before the verb runs."""

import argparse
from collections.abc import Iterator


class ModelName(str):
    """The type of an argument that names a model, so that it can be told from a text that begins with `hub:`."""

    __slots__ = ()


def fetch_named(arguments: argparse.Namespace) -> None:
    """Fetch every model of the hub that the arguments name and that is not on this machine yet."""
    from clearformer.folder.fetched import HUB

    wanted = [name for name in _names(arguments) if name.startswith(HUB)]
    if not wanted:
        return
    from clearformer.cli.progress import progress_bar
    from clearformer.interop.hub_models import here

    for name in wanted:
        with progress_bar(f"getting {name}") as show:
            here(name, on_progress=show)


def _names(arguments: argparse.Namespace) -> Iterator[ModelName]:
    for value in vars(arguments).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ModelName):
                yield one

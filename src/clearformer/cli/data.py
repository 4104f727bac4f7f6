"""clearformer data: the corpora that recipes name."""

import argparse
import json

from clearformer.cli.usage import UsageError

WAYS = {
    "package": "comes with the package",
    "download": "can be downloaded",
    "attempt": "may be downloaded (not all of it was tried; what comes is checked)",
    "copy": "works from a local copy",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "what", metavar="list|get", choices=["list", "get"], help="list what is known, or get one corpus"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the corpus to get")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """List or get."""
    if arguments.what == "list":
        _list(arguments.json)
    elif arguments.name is None:
        raise UsageError("name the corpus to get; `clearformer data list` shows them")
    else:
        _get(arguments.name)


def _list(as_json: bool) -> None:
    from clearformer.data.catalogue.corpora import list_corpora

    corpora = list_corpora()
    if as_json:
        fields = (
            "name",
            "title",
            "licence",
            "attribution",
            "citation",
            "origin",
            "ask",
            "size",
            "way",
            "downloadable",
            "ships",
        )
        print(json.dumps([{field: getattr(corpus, field) for field in fields} for corpus in corpora], indent=2))
        return
    for corpus in corpora:
        size = f"{corpus.size / 1e6:,.1f} MB" if corpus.size else "size unknown"
        print(f"{corpus.name:19} {corpus.title}")
        print(f"{'':19} {size}, {WAYS[corpus.way]}; {corpus.licence}")


def _get(name: str) -> None:
    from clearformer.cli.progress import progress_bar
    from clearformer.data.catalogue.fetch import get

    with progress_bar(f"getting {name}") as show:
        folder = get(name, on_progress=show)
    print(folder)

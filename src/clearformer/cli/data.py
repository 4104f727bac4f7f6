"""clearformer data: the corpora that recipes name."""

import argparse
import json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("what", choices=["list", "get"], help="list what is known, or get one corpus")
    parser.add_argument("name", nargs="?", help="which corpus to get")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """List or get."""
    if arguments.what == "list":
        _list(arguments.json)
    elif arguments.name is None:
        raise ValueError("name the corpus to get; `clearformer data list` shows them")
    else:
        _get(arguments.name)


def _list(as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from clearformer.data.catalogue import list_corpora

    corpora = list_corpora()
    if as_json:
        fields = ("name", "title", "licence", "attribution", "citation", "origin", "size", "downloadable", "ships")
        print(json.dumps([{field: getattr(corpus, field) for field in fields} for corpus in corpora], indent=2))
        return
    table = Table(show_edge=False)
    for heading in ("name", "what", "licence", "size", "where"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for corpus in corpora:
        where = "here" if corpus.ships else "download" if corpus.downloadable else "local copy only"
        size = f"{corpus.size / 1e6:,.1f} MB" if corpus.size else ""
        table.add_row(corpus.name, corpus.title, corpus.licence, size, where)
    Console().print(table)


def _get(name: str) -> None:
    from clearformer.cli.progress import progress_bar
    from clearformer.data.fetch import get

    with progress_bar(f"getting {name}") as show:
        folder = get(name, on_progress=show)
    print(folder)

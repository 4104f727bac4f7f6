"""clearformer models: the models that ship, and published ones that can be fetched by name."""

import argparse
import json
import logging
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.parser import number_between
from clearformer.cli.shipped import EXAMPLE
from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.folder.description import Description
    from clearformer.tasks.verbs import Verb

log = logging.getLogger(__name__)

LARGEST_GB = 100_000.0


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """A model that can be used or fetched, as `models list --json` prints it.

    source: ships, registry or hub. download_bytes: what fetching it costs, None where only the hub knows. get, use: the
    commands that fetch and use it, the first only where there is something to fetch.
    """

    name: str
    title: str
    task: str
    verb: str
    source: str
    download_bytes: int | None
    licence: str | None
    here: bool
    folder: str | None
    get: str | None
    use: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "what", metavar="list|get", choices=["list", "get"], help="list what is known, or get one model"
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a name of the list, or owner/name[@revision] of the Hugging Face hub"
    )
    add_limit(parser)
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def add_limit(parser: argparse.ArgumentParser) -> None:
    """--max-gb."""
    parser.add_argument(
        "--max-gb",
        type=number_between(0.001, LARGEST_GB),
        default=10.0,
        metavar="N",
        help="refuse a model of the hub whose files are larger than this together (10)",
    )


def run(arguments: argparse.Namespace) -> None:
    """List or get."""
    if arguments.what == "list":
        if arguments.name is not None:
            raise UsageError(f"list takes no name; to fetch it, type `clearformer models get {arguments.name}`")
        _list(arguments.json)
    elif arguments.name is None:
        raise UsageError("name the model to get; `clearformer models list` shows them")
    else:
        _get(arguments.name, arguments.max_gb)


def _get(name: str, max_gb: float) -> None:
    """The folder on standard output, for programs, and for people what to type next."""
    import sys

    from clearformer.cli.progress import progress_bar
    from clearformer.folder.description import read_description
    from clearformer.interop.get_model import get_model
    from clearformer.interop.hub_download import FetchConfig

    with progress_bar(f"getting {name}") as show:
        folder = get_model(name, FetchConfig(max_gb=max_gb), on_progress=show)
    print(folder)
    print(f"try it: {use_command(_verb_of(read_description(folder)), name)}", file=sys.stderr)


def _list(as_json: bool) -> None:
    models = list(listed_models())
    if as_json:
        print(json.dumps([asdict(model) for model in models], indent=2))
        return
    for model in models:
        size = "ships" if model.source == "ships" else f"{(model.download_bytes or 0) / 1e6:,.1f} MB to fetch"
        facts = ("fetched" if model.here and model.source != "ships" else size, model.licence or "no licence given")
        print(f"{model.name:17} {model.title}")
        print(f"{'':17} {'; '.join(facts)}")
        print(f"{'':17} {model.use if model.here else model.get}")


def listed_models() -> Iterator[ListedModel]:
    """The models that ship, then the published ones, then what was fetched from the hub."""
    from clearformer.folder.description import shipped_models, shipped_names
    from clearformer.folder.fetched import hub_name, names_here, place_of
    from clearformer.interop.published import published_models
    from clearformer.tasks import verb_of

    for name in shipped_names():
        yield _present(name, shipped_models() / name, source="ships", download_bytes=0)
    fetched = names_here()
    for name, model in published_models().items():
        verb = verb_of(model.task)
        place = place_of(name) if name in fetched else None
        yield ListedModel(
            name=name,
            title=model.title,
            task=model.task,
            verb=verb.name,
            source="registry",
            download_bytes=model.package.size,
            licence=model.licence,
            here=place is not None,
            folder=None if place is None else str(place),
            get=f"clearformer models get {name}",
            use=use_command(verb, name),
        )
    for name in fetched:
        place = place_of(name)
        if hub_name(name) is None or place is None:
            continue
        try:
            yield _present(name, place, source="hub", download_bytes=None)
        except ValueError as error:
            log.warning("%s; `clearformer models get %s` fetches it anew", error, name)


def _present(name: str, folder: Path, *, source: str, download_bytes: int | None) -> ListedModel:
    """A model whose folder is on this machine and says everything."""
    from clearformer.folder.description import read_description
    from clearformer.tasks import name_task

    described = read_description(folder)
    verb, task = _verb_of(described), name_task(described.task, described.model)
    return ListedModel(
        name=name,
        title=_title(name, described, verb),
        task=task,
        verb=verb.name,
        source=source,
        download_bytes=download_bytes,
        licence=described.provenance.get("licence"),
        here=True,
        folder=str(folder),
        get=None if source == "ships" else f"clearformer models get {name}",
        use=use_command(verb, name, example=EXAMPLE if name == verb.for_pictures else None),
    )


def _title(name: str, described: "Description", verb: "Verb") -> str:
    facts: dict[str, Any] = dict(described.provenance)
    if facts.get("source_language") and facts.get("target_language"):
        return f"{verb.does}, from {facts['source_language']} to {facts['target_language']}"
    known = f": {verb.knows}" if name in (verb.default, verb.for_pictures) and verb.knows else ""
    return f"{described.model.get('family', 'a model')}, {verb.does}{known}"


def _verb_of(described: "Description") -> "Verb":
    from clearformer.tasks import name_task, verb_of

    task = name_task(described.task, described.model)
    if task == "language-model" and "chat_template" in described.preprocessing:
        task = "conversation"
    return verb_of(task)


def use_command(verb: "Verb", model: str, *, example: str | None = None) -> str:
    """What to type to use a model; where the command line has no verb for it yet, what shows its parts."""
    from clearformer.cli.main import VERBS

    if verb.name not in VERBS:
        return inspect_command(model)
    return f"clearformer {verb.name} {example or verb.example} --model {shlex.quote(model)}"


def inspect_command(model: str) -> str:
    """What shows a model that no verb uses."""
    return f"clearformer inspect {shlex.quote(model)}"

"""clearformer import: a published checkpoint becomes one of our model folders."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.models import add_limit, inspect_command, use_command
from clearformer.cli.usage import UsageError
from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a checkpoint's folder (Hugging Face, CTranslate2), a .gguf file, or owner/name[@revision] of the Hugging "
        "Face hub, with or without hub: before it",
    )
    parser.add_argument("dir", type=Path, metavar="FOLDER", help="the model folder to write")
    parser.add_argument(
        "--as", dest="family", metavar="FAMILY", help="the model's family, if config.json does not name it"
    )
    parser.add_argument(
        "--split", metavar="PATTERN", help="for a vocab.txt of whole tokens: the regular expression that finds them"
    )
    for option, side, what in (("--from", "source", "in"), ("--to", "target", "to write")):
        parser.add_argument(
            option,
            dest=side + "_mark",
            metavar="LANGUAGE",
            help=f"of a translator among many: the language {what}",
        )
    parser.add_argument(
        "--not-prose",
        action="store_true",
        help="a language model of something else than sentences (proteins, music), or an untrained one: do not ask how "
        "likely sentences are for it",
    )
    parser.add_argument(
        "--dtype",
        choices=("keep", "bfloat16", "float32"),
        default="keep",
        help="how the weights are kept: as they were published, rounded to bfloat16, or widened to float32 (keep)",
    )
    add_limit(parser)
    parser.add_argument("--json", action="store_true", help="print the certificate as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Import, then show how well it agrees with the published program, what it is, and what to type next."""
    import json

    check_folder(arguments.dir, "FOLDER", new=True)
    made = _imported(arguments)
    certificate = made.provenance["certificate"]
    if arguments.json:
        print(json.dumps(certificate, indent=2))
        return
    for name, outcome in [*rows(certificate), *facts(made, arguments.dir)]:
        print(f"{name:<32} {outcome}")


def _imported(arguments: argparse.Namespace) -> "Bundle":
    """From a path, or, where nothing lies there and the name could be one, from the hub."""
    from clearformer.folder.fetched import asked_of_hub, hub_name
    from clearformer.interop.importer import import_checkpoint

    source = Path(arguments.source)
    on_hub = asked_of_hub(arguments.source) or hub_name(arguments.source)
    languages = _languages(arguments)
    dtype = None if arguments.dtype == "keep" else arguments.dtype
    told: dict[str, Any] = {
        "split": arguments.split, "languages": languages, "dtype": dtype, "prose": not arguments.not_prose,
    }  # fmt: skip
    if source.exists() or on_hub is None:
        return import_checkpoint(source, arguments.dir, arguments.family, **told)
    from clearformer.cli.progress import progress_bar
    from clearformer.interop.get_model import import_from_hub
    from clearformer.interop.hub import endpoint
    from clearformer.interop.hub_download import FetchConfig

    print(f"there is no folder {source} here; looking for it on {endpoint()}", file=sys.stderr, flush=True)
    config = FetchConfig(max_gb=arguments.max_gb, family=arguments.family)
    with progress_bar(f"getting {on_hub}") as show:
        return import_from_hub(on_hub, arguments.dir, config, on_progress=show, **told)


def _languages(arguments: argparse.Namespace) -> tuple[str, str] | None:
    pair = (arguments.source_mark, arguments.target_mark)
    if pair == (None, None):
        return None
    if None in pair:
        raise UsageError("a translator goes from one language to another; give both --from and --to")
    return pair


def rows(certificate: dict[str, object]) -> list[tuple[str, str]]:
    """The certificate as a table: what was compared, and the outcome."""
    if not certificate["checked"]:
        return [("parity", f"not checked: {certificate['reason']}"), *_alone(certificate.get("self_check"))]
    differences = certificate["largest_difference"]
    assert isinstance(differences, dict)
    table = [("reference", str(certificate["reference"]))]
    table += [(name, f"{value:.1e}") for name, value in differences.items() if value is not None]
    for key, label in (("greedy_equal", "greedy tokens"), ("tokens_equal", "tokens of texts")):
        outcome = certificate[key]
        if isinstance(outcome, list) and outcome:
            table.append((label, f"equal for {sum(outcome)} of {len(outcome)} texts"))
    return table


def _alone(found: object) -> list[tuple[str, str]]:
    """What the model showed by itself."""
    if not isinstance(found, dict):
        return []
    words = {"future": "future changes the past", "padding": "padding changes a text", "cached_steps": "cached steps"}
    table = [(words[name], f"{value:.1e}") for name, value in found.items() if name in words]
    if "perplexity" in found:
        table.append(("perplexity of plain sentences", f"{found['perplexity']:,.1f}"))
    return [("values", "finite"), *table]


def facts(made: "Bundle", folder: Path) -> list[tuple[str, str]]:
    """What the model is, and the next command to type."""
    from clearformer.foundation import settings
    from clearformer.tasks import name_task, verb_of

    verb = verb_of(name_task(made.task, settings.to_plain(made.config)))
    does, example = verb.does, "picture.png" if made.config.front.kind == "patches" else verb.example
    following = use_command(verb, str(folder), example=example)
    if made.tokenizer is None and made.config.front.kind == "tokens":
        does = f"{does}, but has no vocabulary and reads ids"
        following = inspect_command(str(folder))
    return [
        ("family", f"{made.config.family}, {made.config.shape}"),
        ("parameters", f"{sum(one.numel() for one in made.model.parameters()):,}, kept in {made.kept}"),
        ("use", does),
        ("next", following),
    ]

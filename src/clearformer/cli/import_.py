"""clearformer import: a published checkpoint becomes one of our model folders."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "source", type=Path, metavar="SOURCE", help="a checkpoint's folder (Hugging Face, CTranslate2), or a .gguf file"
    )
    parser.add_argument("dir", type=Path, metavar="FOLDER", help="the model folder to write")
    parser.add_argument(
        "--as", dest="family", metavar="FAMILY", help="the model's family, if config.json does not name it"
    )
    parser.add_argument(
        "--split", metavar="PATTERN", help="for a vocab.txt of whole tokens: the regular expression that finds them"
    )
    parser.add_argument("--json", action="store_true", help="print the certificate as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Import, then show how well it agrees with the published program, what it is, and what to type next."""
    import json

    from clearformer.interop.importer import import_checkpoint

    check_folder(arguments.dir, "FOLDER", new=True)
    made = import_checkpoint(arguments.source, arguments.dir, arguments.family, split=arguments.split)
    certificate = made.provenance["certificate"]
    if arguments.json:
        print(json.dumps(certificate, indent=2))
        return
    for name, outcome in [*rows(certificate), *facts(made, arguments.dir)]:
        print(f"{name:<32} {outcome}")


def rows(certificate: dict[str, object]) -> list[tuple[str, str]]:
    """The certificate as a table: what was compared, and the outcome."""
    if not certificate["checked"]:
        return [("parity", f"not checked: {certificate['reason']}")]
    differences = certificate["largest_difference"]
    assert isinstance(differences, dict)
    table = [("reference", str(certificate["reference"]))]
    table += [(name, f"{value:.1e}") for name, value in differences.items() if value is not None]
    for key, label in (("greedy_equal", "greedy tokens"), ("tokens_equal", "tokens of texts")):
        outcome = certificate[key]
        if isinstance(outcome, list) and outcome:
            table.append((label, f"equal for {sum(outcome)} of {len(outcome)} texts"))
    return table


def facts(made: "Bundle", folder: Path) -> list[tuple[str, str]]:
    """What the model is, and the next command to type."""
    from clearformer.cli.main import VERBS
    from clearformer.foundation import settings
    from clearformer.tasks import find_task, name_task

    verb = find_task(name_task(made.task, settings.to_plain(made.config))).verb
    does, known = verb.does, verb.name in VERBS
    if made.tokenizer is None and made.config.front.kind == "tokens":
        does, known = f"{does}, but has no vocabulary and reads ids", False
    shown = shlex.quote(str(folder))
    example = "picture.png" if made.config.front.kind == "patches" else verb.example
    return [
        ("family", f"{made.config.family}, {made.config.shape}"),
        ("parameters", f"{sum(one.numel() for one in made.model.parameters()):,}"),
        ("use", does),
        ("next", f"clearformer {verb.name} {example} --model {shown}" if known else f"clearformer inspect {shown}"),
    ]

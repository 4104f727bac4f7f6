"""clearformer import: a published checkpoint becomes one of our model folders."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.use import check_folder

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle
    from clearformer.model.config import ModelConfig

# What a model with this head does with text, and a command that lets it.
_READERS = {
    "class": ("classifies texts", 'classify "A gripping film."'),
    "tags": ("tags the words of a text", 'tag "Ada Lovelace lived in London."'),
    "span": ("finds the answer to a question", 'answer "Where did Ada live?" "Ada Lovelace lived in London."'),
    "states": ("embeds texts", 'embed "Two dogs play in the snow."'),
}
_WRITERS = {
    "decoder": ("continues a text", 'generate "Once upon a time"'),
    "encoder-decoder": ("translates, or rewrites a text", 'translate "Two dogs play in the snow."'),
    "encoder": ("fills in masked words", 'fill "Two dogs [MASK] in the snow."'),
}
_OTHERS = {"patches": ("reads pictures", None), "sound": ("writes down speech", "transcribe speech.wav")}


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

    does, command = use(made.config)
    if made.tokenizer is None and made.config.front.kind == "tokens":
        does, command = f"{does}, but has no vocabulary and reads ids", None
    elif command is not None and command.split()[0] not in VERBS:
        command = None
    shown = shlex.quote(str(folder))
    return [
        ("family", f"{made.config.family}, {made.config.shape}"),
        ("parameters", f"{sum(one.numel() for one in made.model.parameters()):,}"),
        ("use", does),
        ("next", f"clearformer {command} --model {shown}" if command else f"clearformer inspect {shown}"),
    ]


def use(config: "ModelConfig") -> tuple[str, str | None]:
    """What a model does, and a command for it, if there is one."""
    if config.front.kind != "tokens":
        return _OTHERS[config.front.kind]
    return _WRITERS[config.shape] if config.head.kind == "language-model" else _READERS[config.head.kind]

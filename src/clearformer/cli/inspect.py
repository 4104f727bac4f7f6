"""clearformer inspect: the parameters, memory and operations of a model, by part."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from clearformer.cli.named_models import ModelName
from clearformer.cli.parser import number_between

if TYPE_CHECKING:
    from clearformer.model.config import ModelConfig
    from clearformer.model.cost import ModelCost

LONGEST = 1_000_000  # tokens in a sequence; no model reads more, and the count of operations stays a number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "model",
        type=ModelName,
        metavar="MODEL",
        help="a model folder, hub:OWNER/NAME, or a preset such as tiny, base, big, gpt2, bert-base, gpt3",
    )
    kind = number_between(1, LONGEST)
    parser.add_argument(
        "--length", type=kind, default=128, metavar="N", help="tokens in a sequence, to count operations for (128)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Count and print."""
    from clearformer.folder.description import find_model, read_description
    from clearformer.foundation import settings
    from clearformer.model.config import ModelConfig
    from clearformer.model.cost import count_cost
    from clearformer.model.presets import PRESETS, preset

    if arguments.model in PRESETS:
        config = preset(arguments.model)
    else:
        try:
            folder = find_model(arguments.model)
        except ValueError as error:
            raise ValueError(f"{error}, or name a preset ({', '.join(PRESETS)})") from None
        described = read_description(folder)
        config = settings.parse(ModelConfig, described.model, f"{folder}/config.json")
    found = count_cost(config, length=arguments.length)
    if arguments.json:
        print(json.dumps(_as_json(arguments.model, config, found), indent=2))
    else:
        _print(arguments.model, config, found)


def _as_json(name: str, config: "ModelConfig", found: "ModelCost") -> dict[str, Any]:
    return {
        "model": name,
        "family": config.family,
        "parameters": {"total": found.total, "active": found.active, "parts": found.parts},
        "bytes": {"weights": found.bytes, "training": found.training_bytes},
        "operations": {"per_token": found.flops_per_token, "length": found.length},
    }


def _print(name: str, config: "ModelConfig", found: "ModelCost") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{name} ({config.family}, {config.shape})", title_justify="left", show_edge=False)
    table.add_column("part")
    table.add_column("parameters", justify="right")
    table.add_column("share", justify="right")
    for part, count in found.parts.items():
        table.add_row(part, f"{count:,}", f"{count / found.total:.1%}")
    table.add_section()
    table.add_row("total", f"{found.total:,}", "100%")
    if found.active < found.total:
        table.add_row("active for a token", f"{found.active:,}", f"{found.active / found.total:.1%}")
    console = Console()
    console.print(table)
    console.print(f"\nweights     {_size(found.bytes)} in float32, {_size(found.bytes // 2)} in float16")
    forward, training = _short(found.flops_per_token), _short(3 * found.flops_per_token)
    console.print(f"operations  {forward}FLOP per token forward, {training}FLOP in training, at length {found.length}")


def _size(count: float) -> str:
    return f"{_short(count)}B"


def _short(count: float) -> str:
    """Three or four digits and a letter: 63.1 M."""
    power = min(4, max(0, (len(str(int(count))) - 1) // 3))
    return f"{count / 1000**power:.1f} {['', 'k', 'M', 'G', 'T'][power]}"

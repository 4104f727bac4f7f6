"""clearformer diagnose: what is wrong with a model, and what to do."""

import argparse
import json
from pathlib import Path

from clearformer.cli.named_models import ModelName
from clearformer.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "folder", type=ModelName, metavar="RUN|MODEL", help="the folder of a run, a model folder, or a model's name"
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences to look at (a run has its own)")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="their translations by people")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Examine and print."""
    from clearformer.cli.progress import progress_bar
    from clearformer.diagnosis.examine import diagnose
    from clearformer.folder.description import find_model

    if (arguments.source is None) != (arguments.reference is None):
        raise UsageError("--source and --reference belong together: output is judged beside a translation by people")
    given = Path(arguments.folder)
    folder = given if (given / "recipe.toml").is_file() else find_model(arguments.folder)  # a run tells more
    with progress_bar("translating") as show:
        found = diagnose(folder, source=arguments.source, reference=arguments.reference, on_progress=show)
    if arguments.json:
        print(json.dumps(found.as_plain(), ensure_ascii=False, indent=2))
        return
    for name, value in found.measures.items():
        print(
            f"{name.replace('_', ' '):<28} {value:.4g}"
            if isinstance(value, float)
            else f"{name.replace('_', ' '):<28} {value}"
        )
    for finding in found.findings:
        evidence = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in finding.evidence.items())
        print(f"\n{finding.name}: {finding.says}\n  {evidence}\n  {finding.remedy}")
    if not found.findings:
        print("\nNothing is wrong, as far as these measures tell.")

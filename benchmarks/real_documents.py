"""Real files go through the translation of documents; parsers that are not ours compare their structure.

    python benchmarks/real_documents.py FOLDER… [--each 20] [--model en-de] [--largest 60000]

Without --model a translator that spoils what it can takes part: it reverses words, loses placeholders, stops early and
writes marks. Messages of .po files lose their translations first, so that there is something to translate.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from clearformer.documents.file_endings import open_document
from clearformer.documents.segments import DocumentError
from clearformer.documents.sentence_steps import Said
from clearformer.documents.translate_document import translate_document
from support.document_structure import structure
from support.documents import GERMAN, spoiling

ENDINGS = (".txt", ".md", ".srt", ".html", ".docx", ".po")


def files_of(folders: list[Path], ending: str, each: int, largest: int) -> list[Path]:
    found = sorted({path for folder in folders for path in folder.rglob(f"*{ending}") if path.is_file()})
    fitting = [path for path in found if 200 < path.stat().st_size < largest]
    random.Random(1).shuffle(fitting)
    return [path for path in fitting if _readable(path)][:each]


def _readable(path: Path) -> bool:
    try:
        return len(open_document(path).segments) > 0
    except DocumentError:
        return False


def emptied(path: Path, folder: Path) -> Path:
    """A .po file without its translations; others as they are."""
    if path.suffix != ".po":
        return path
    lines, skipping = [], False
    entries = path.read_text(encoding="utf-8").split("\n\n")
    for number, entry in enumerate(entries):
        for line in entry.split("\n"):
            skipping = number > 0 and (line.startswith("msgstr") or (skipping and line.startswith('"')))
            if not skipping:
                lines.append(line)
            elif line.startswith("msgstr"):
                lines.append(line.partition(" ")[0] + ' ""')
        lines.append("")
    made = folder / path.name
    made.write_text("\n".join(lines), encoding="utf-8")
    return made


def translator(model: str | None) -> Callable[[list[str]], list[Said]]:
    if model is None:
        return spoiling
    from clearformer.inference.engines import open_translator

    opened = open_translator(model, scores="none")
    return lambda texts: [Said(one.text) for one in opened.translate(texts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--model")
    parser.add_argument("--largest", type=int, default=60_000)
    chosen = parser.parse_args()
    ask = translator(chosen.model)
    print("| format | files | sentences | in parts | structure equal |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as aside:
        for ending in ENDINGS:
            files = files_of(chosen.folders, ending, chosen.each, chosen.largest)
            sentences = parts = equal = 0
            for path in files:
                given = emptied(path, Path(aside))
                done = translate_document(open_document(given), ask, GERMAN)
                sentences += len(done.sentences)
                parts += sum(one.in_parts for one in done.sentences)
                if structure(given, done.data) == structure(given, given.read_bytes()):
                    equal += 1
                else:
                    print(f"{path}: another structure", file=sys.stderr)
            print(f"| `{ending}` | {len(files)} | {sentences:,} | {parts:,} | {equal} |", flush=True)


if __name__ == "__main__":
    main()

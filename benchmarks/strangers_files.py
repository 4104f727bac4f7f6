"""Five files that no recipe was tuned on, made from public corpora as other people would have made them.

`python benchmarks/strangers_files.py FOLDER` writes them; `--train MINUTES` also trains a model on each, without any
other option, and prints the scores. The data sets are found through CLEARFORMER_DATA.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS = 8000  # of each table
Row = list[str]


def rows(path: Path) -> Iterator[Row]:
    """The lines of a packed table."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


def umfrage_csv(data: Path, out: Path) -> Path:
    """SST-2 as a spreadsheet writes it in Germany: other headings, semicolons, quotation marks, a byte order mark."""
    path = out / "umfrage.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL)
        writer.writerow(["Nr", "Aussage", "Urteil"])
        given = [row for row in rows(data / "sst-2" / "train.tsv.gz") if row[0] in "01"]
        for number, (label, text) in enumerate(random.Random(1).sample(given, ROWS)):
            writer.writerow([number, text, ("schlecht", "gut")[int(label)]])
    return path


def titles_jsonl(data: Path, out: Path) -> Path:
    """THUCNews with Chinese keys."""
    folder = data / "chinese" / "thucnews-titles"
    names = [row[0] for row in rows(folder / "class.txt.gz")]
    with (out / "标题.jsonl").open("w", encoding="utf-8") as file:
        for number, (label, text) in enumerate(rows(folder / "train10k.tsv.gz")):
            record = {"编号": number, "新闻": text, "栏目": names[int(label)]}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return out / "标题.jsonl"


def export_txt(data: Path, out: Path) -> Path:
    """WNUT as tab-separated columns, of which one stands behind the tag, in a file called .txt."""
    with (out / "export.txt").open("w", encoding="utf-8") as file:
        for row in rows(data / "wnut-17" / "train.conll.gz"):
            file.write("\n" if len(row) < 2 else f"{row[0]}\t{len(row[0])}\t{row[-1]}\t{row[0].lower()}\n")
    return out / "export.txt"


def quiz_json(data: Path, out: Path) -> Path:
    """A part of SQuADShifts with its articles under another key."""
    with gzip.open(data / "squad" / "squadshifts" / "new_wiki_v1.0.json.gz", "rt", encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    (out / "quiz.json").write_text(json.dumps({"source": "wiki", "articles": content["data"]}), encoding="utf-8")
    return out / "quiz.json"


def dump_tsv(data: Path, out: Path) -> Path:
    """MR without headings, the label between a number and the text."""
    given = list(rows(data / "mr-polarity" / "train.tsv.gz"))[1:]
    random.Random(2).shuffle(given)
    lines = (f"{number}\t{label}\t{text}\n" for number, (label, text) in enumerate(given))
    (out / "dump.tsv").write_text("".join(lines), encoding="utf-8")
    return out / "dump.tsv"


def main() -> None:
    """Write the files, and train if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", type=float, metavar="MINUTES")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["CLEARFORMER_DATA"])
    for make in (umfrage_csv, titles_jsonl, export_txt, quiz_json, dump_tsv):
        path = make(data, arguments.folder)
        print(path, flush=True)
        if arguments.train is not None:
            out = arguments.folder / "runs" / path.stem
            words = ["train", "--data", str(path), "--minutes", str(arguments.train), "--out", str(out)]
            subprocess.run([sys.executable, "-m", "clearformer", *words], check=True)


if __name__ == "__main__":
    main()

"""Five files that no recipe was tuned on, made from public corpora as other people would have made them.

`python benchmarks/strangers_files.py FOLDER` writes them; `--train` also trains a model on each, without any option,
and scores it on the test that the recipe of that corpus is scored on (titles and résumés: see docs/results/reading.md).
`--only NAME` does one of them. The data sets are found through CLEARFORMER_DATA.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

Row = list[str]


def rows(path: Path, separator: str = "\t") -> Iterator[Row]:
    """The lines of a packed table."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split(separator)


def opinions_csv(data: Path, out: Path) -> Path:
    """MR as a spreadsheet writes it in Germany: other headings, semicolons, quotation marks, a byte order mark."""
    path = out / "opinions.csv"
    given = chain.from_iterable(list(rows(data / "mr-polarity" / f"{part}.tsv.gz"))[1:] for part in ("train", "val"))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL)
        writer.writerow(["nr", "opinion", "verdict"])
        for number, (label, text) in enumerate(random.Random(1).sample(mixed := list(given), len(mixed))):
            writer.writerow([number, text, ("bad", "good")[int(label)]])
    return path


def titles_jsonl(data: Path, out: Path) -> Path:
    """THUCNews with Chinese keys, and a number before each title."""
    folder = data / "chinese" / "thucnews-titles"
    names = [row[0] for row in rows(folder / "class.txt.gz")]
    with (out / "titles.jsonl").open("w", encoding="utf-8") as file:
        for number, (label, text) in enumerate(rows(folder / "train10k.tsv.gz")):
            record = {"编号": number, "标题": text, "栏目": names[int(label)]}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return out / "titles.jsonl"


def people_conll(data: Path, out: Path) -> Path:
    """The résumés with tabs, and with BIO where they had BMES."""
    with (out / "people.conll").open("w", encoding="utf-8") as file:
        for row in rows(data / "chinese" / "resume-ner" / "train.bmes.gz", " "):
            if len(row) < 2:
                file.write("\n")
                continue
            place, _, kind = row[1].partition("-")
            file.write(f"{row[0]}\t" + (f"{'B' if place in 'BS' else 'I'}-{kind}" if kind else "O") + "\n")
    return out / "people.conll"


def export_txt(data: Path, out: Path) -> Path:
    """WNUT as tab-separated columns, of which one stands behind the tag, in a file called .txt."""
    with (out / "export.txt").open("w", encoding="utf-8") as file:
        for row in chain.from_iterable(rows(data / "wnut-17" / f"{part}.conll.gz") for part in ("train", "dev")):
            file.write("\n" if len(row) < 2 else f"{row[0]}\t{len(row[0])}\t{row[-1]}\t{row[0].lower()}\n")
    return out / "export.txt"


def tweets_dat(data: Path, out: Path) -> Path:
    """The Broad Twitter Corpus with a number before each word, other names of the classes, and no known ending."""
    names = {"PER": "person", "LOC": "place", "ORG": "organisation"}
    with (out / "tweets.dat").open("w", encoding="utf-8") as file:
        number = 0
        for row in chain.from_iterable(rows(data / "broad-twitter" / f"{part}.conll.gz") for part in "abegh"):
            number = number + 1 if len(row) > 1 else 0
            place, _, kind = row[-1].partition("-")
            tag = f"{place}-{names[kind]}" if kind else "O"
            file.write(f"{number}\t{row[0]}\t{tag}\n" if len(row) > 1 else "\n")
    return out / "tweets.dat"


MAKERS: dict[str, Callable[[Path, Path], Path]] = {
    "opinions": opinions_csv,
    "titles": titles_jsonl,
    "people": people_conll,
    "export": export_txt,
    "tweets": tweets_dat,
}


def test_set(name: str, data: Path, out: Path) -> Path | None:
    """The test that the corpus' recipe is scored on, in the file's own names; None: what the run held out."""
    if name == "opinions":
        path = out / "opinions-test.tsv"
        given = list(rows(data / "mr-polarity" / "test.tsv.gz"))[1:]
        lines = [f"{text}\t{('bad', 'good')[int(label)]}" for label, text in given]
        path.write_text("\n".join(["opinion\tverdict", *lines]) + "\n", encoding="utf-8")
        return path
    if name == "export":
        return data / "wnut-17" / "test.conll.gz"
    if name == "tweets":
        path = out / "tweets-test.conll"
        names = {"PER": "person", "LOC": "place", "ORG": "organisation"}
        lines = []
        for row in rows(data / "broad-twitter" / "f.conll.gz"):
            place, _, kind = row[-1].partition("-")
            lines.append("" if len(row) < 2 else f"{row[0]}\t{place}-{names[kind]}" if kind else f"{row[0]}\tO")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path
    return None


def main() -> None:
    """Write the files, and train if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--only", choices=MAKERS)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["CLEARFORMER_DATA"])
    for name in [arguments.only] if arguments.only else list(MAKERS):
        path = MAKERS[name](data, arguments.folder)
        print(path, flush=True)
        if not arguments.train:
            continue
        out = arguments.folder / "runs" / name
        program = [sys.executable, "-m", "clearformer"]
        subprocess.run([*program, "train", "--data", str(path), "--out", str(out)], check=True)
        if judged := test_set(name, data, arguments.folder):
            subprocess.run([*program, "evaluate", "--model", str(out), "--data", str(judged)], check=True)


if __name__ == "__main__":
    main()

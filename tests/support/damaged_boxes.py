"""Files of boxes with bytes changed, or with a hostile value where a number or a name belongs."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from support.damage import Files, damaged
from support.drawn_picture import drawn_picture

HOSTILE = (
    "-1", "0", "1e999", "-1e999", "NaN", "Infinity", "1e308", "4294967296", "9" * 400, "0.5", "null", "true", '""',
    '"5"', '"' + "x" * 300 + '"', "[]", "{}", "[[[[[[1]]]]]]", '"\\ud800"', '"../../../etc/passwd"', '"\\u0000"',
)  # fmt: skip
DEEP = "[" * 100_000
MARKED = ("", "<object>" * 5000, "&lol;", "&#0;", '<!DOCTYPE a [<!ENTITY b "c">]>', "<![CDATA[<]]>", "\ud800")


class DamagedBoxes:
    """A file of boxes beside its pictures: bytes changed, or one of its values exchanged for a hostile one."""

    def __init__(self, folder: Path, name: str, whole: str, exchange: Callable[[str, random.Random], str]) -> None:
        self.name, self.path, self.whole, self.exchange = name, folder / name, whole, exchange
        for number in (1, 2):
            drawn_picture("RGB").save(folder / f"{number}.png")

    def read_whole(self) -> None:
        self.path.write_text(self.whole, encoding="utf-8")
        assert (said := self.read()) is None, said

    def write(self, draw: np.random.Generator) -> None:
        if draw.random() < 0.3:
            self.path.write_bytes(damaged(self.whole.encode(), draw))
        else:
            made = self.exchange(self.whole, random.Random(int(draw.integers(1 << 40))))
            self.path.write_text(made, encoding="utf-8", errors="surrogatepass")

    def read(self) -> str | None:
        """Everything that training would ask: the boxes, the pictures, and what is wrong with them."""
        from clearformer.data.readers.archives import ArchiveError
        from clearformer.data.readers.box_files import read_boxed
        from clearformer.data.readers.boxes import BoxError, load, problems
        from clearformer.data.readers.pictures import PictureError

        try:
            for one in read_boxed(self.path):
                pixels, moved = load(one)
                wrong = problems(moved, pixels.shape[1], pixels.shape[0])
                good = set(range(len(moved.names))) - {problem.index for problem in wrong}
                assert np.isfinite(moved.boxes[sorted(good)]).all()
                assert all("\n" not in f"{problem.place}: {problem.what}" for problem in wrong)
        except (ArchiveError, BoxError, PictureError) as error:
            return str(error)
        return None

    def remove(self) -> None:
        self.path.unlink()


def coco(folder: Path) -> Files:
    table = {
        "images": [{"id": n, "file_name": f"{n}.png", "width": 56, "height": 40} for n in (1, 2)],
        "annotations": [
            {"id": n, "image_id": 1 + n % 2, "category_id": 5, "bbox": [n, 2, 10, 12.5], "iscrowd": 0} for n in range(4)
        ],
        "categories": [{"id": 5, "name": "disc"}],
    }
    return DamagedBoxes(folder, "damaged.json", json.dumps(table), _exchange_value)


def _exchange_value(whole: str, draw: random.Random) -> str:
    """One value somewhere in the table becomes something else, or is gone."""
    table = copy.deepcopy(json.loads(whole))
    for _ in range(draw.randint(1, 2)):
        places = list(_places(table))
        holder, key = draw.choice(places)
        if draw.random() < 0.15:
            del holder[key]
        else:
            holder[key] = "HOSTILE"
    made = json.dumps(table)
    while '"HOSTILE"' in made:
        made = made.replace('"HOSTILE"', DEEP if draw.random() < 0.02 else draw.choice(HOSTILE), 1)
    return made


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def voc(folder: Path) -> Files:
    objects = "".join(
        f"<object><name>disc</name><bndbox><xmin>{n}</xmin><ymin>2</ymin><xmax>{n + 9}</xmax><ymax>14</ymax></bndbox>"
        "</object>"
        for n in range(3)
    )
    size = "<size><width>56</width><height>40</height><depth>3</depth></size>"
    inside = folder / "annotated"
    inside.mkdir()
    drawn_picture("RGB").save(inside / "damaged.png")
    whole = f"<annotation><filename>damaged.png</filename>{size}{objects}</annotation>"
    return DamagedFolder(inside, "damaged.xml", whole, _exchange_text)


class DamagedFolder(DamagedBoxes):
    """The same where the folder is read, not the file."""

    def read(self) -> str | None:
        kept, self.path = self.path, self.path.parent
        try:
            said = super().read()
        finally:
            self.path = kept
        # A folder without any whole annotation has nothing to read: that names the folder.
        return said and said.replace(f"{kept.parent} holds no", f"{kept.name} holds no")


def _exchange_text(whole: str, draw: random.Random) -> str:
    """What stands between two tags becomes something else."""
    pieces = whole.replace("<", "\0<").replace(">", ">\0").split("\0")
    for _ in range(draw.randint(1, 2)):
        place = draw.randrange(len(pieces))
        pieces[place] = draw.choice(
            (
                *HOSTILE,
                "",
                "<object>" * 5000,
                "&lol;",
                "&#0;",
                '<!DOCTYPE a [<!ENTITY b "c">]>',
                "<![CDATA[<]]>",
                "\ud800",
            )
        )
    return "".join(pieces)

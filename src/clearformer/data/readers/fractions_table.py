"""A table of pictures with at most one box each, its edges as fractions of the picture: heads of cats and dogs.

The table has the columns name, a class, and one that begins with the word head_box; pictures lie in `images` beside it.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from clearformer.data.readers.archives import FileStore
from clearformer.data.readers.boxes import FARTHEST, BoxedPicture, BoxError, as_boxes

BOX, CLASS, NAME = "head_box", "species", "name"


def read_table(store: FileStore, name: str) -> Iterator[BoxedPicture]:
    """Every picture that has a box."""
    place = store.place(name)
    lines = store.read(name).decode("utf-8", "replace").splitlines()
    columns = lines[0].split("\t") if lines else []
    found = {word: next((n for n, column in enumerate(columns) if column.startswith(word)), None) for word in
             (NAME, CLASS, BOX)}  # fmt: skip
    if missing := [word for word, number in found.items() if number is None]:
        raise BoxError(f"{place} has no column {missing[0]}: give a table with the columns {NAME}, {CLASS} and {BOX}")
    folder = PurePosixPath(name).parent / "images"
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise BoxError(f"{place}:{number} has {len(cells)} columns, and the first line {len(columns)}")
        picture, label, box = (cells[found[word] or 0] for word in (NAME, CLASS, BOX))
        if not box.strip():
            continue
        try:
            edges = [float(edge) for edge in box.split(",")]
        except ValueError:
            edges = []
        if len(edges) != 4 or not all(abs(edge) < FARTHEST for edge in edges):
            raise BoxError(f"{place}:{number} has no box of four numbers, but {box[:60]!r}")
        yield BoxedPicture(
            store=store,
            picture=str(folder / f"{picture}.jpg"),
            place=f"{place}:{number}",
            boxes=as_boxes([edges]),
            names=(label,),
            fractions=True,
        )

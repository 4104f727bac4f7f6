"""A table with one box per picture, as fractions: rows without a box are passed over, broken ones refused by line."""

import pytest

from clearformer.data.readers.archives import Folder
from clearformer.data.readers.boxes import BoxError
from clearformer.data.readers.fractions_table import read_table

HEAD = "name\tclass(1-37)\tspecies\thead_box(xmin,ymin,xmax,ymax as fractions)\n"


def read(folder, text):
    (folder / "labels.tsv").write_text(text)
    return list(read_table(Folder(folder), "labels.tsv"))


def test_rows_with_a_box_are_read(tmp_path):
    found = read(tmp_path, HEAD + "a_1\t1\tcat\t0.5,0.25,0.75,0.5\nb_2\t2\tdog\t\n")
    assert [(one.picture, one.names, one.boxes.tolist()) for one in found] == [
        ("images/a_1.jpg", ("cat",), [[0.5, 0.25, 0.75, 0.5]])
    ]
    assert found[0].fractions


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no column name"),
        ("name\tspecies\n", "has no column head_box"),
        (HEAD + "a\t1\tcat\n", r"labels\.tsv:2 has 3 columns, and the first line 4"),
        (HEAD + "a\t1\tcat\t0.1,0.2,x,1\n", r"labels\.tsv:2 has no box of four numbers, but '0\.1,0\.2,x,1'"),
    ],
)
def test_broken_tables_are_refused_by_line(tmp_path, text, why):
    with pytest.raises(BoxError, match=why):
        read(tmp_path, text)

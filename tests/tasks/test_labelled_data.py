"""What a classifier learns from: parts that do not overlap, and texts without labels from lines or tables."""

from clearformer.tasks.labelled_data import LabelledData, split, unlabelled


def table(tmp_path, rows=40):
    lines = [f"{'ab'[n % 2]}\ttext {n}" for n in range(rows)]
    (tmp_path / "train.tsv").write_text("\n".join(["label\ttext", *lines]) + "\n")
    return LabelledData(train="train.tsv", hold_out=0.25)


def test_some_of_each_class_is_held_out_where_there_is_no_dev(tmp_path):
    train, dev = split(table(tmp_path), tmp_path)
    assert (len(train), len(dev)) == (30, 10)
    assert {row.text for row in train} & {row.text for row in dev} == set()
    assert sorted(row.label for row in dev) == ["a"] * 5 + ["b"] * 5


def test_texts_without_labels_are_lines_or_the_column_of_a_table(tmp_path):
    data = table(tmp_path)
    (tmp_path / "lines.txt").write_text("one\n\ntwo\n")
    (tmp_path / "same.csv").write_text("text,other\none,x\ntwo,y\n")
    (tmp_path / "another.csv").write_text("id,body\n1,one\n2,two\n")
    for name in ("lines.txt", "same.csv", "another.csv"):
        given = LabelledData(**{**vars(data), "unlabelled": name})
        assert list(unlabelled(given, tmp_path)) == ["one", "two"], name

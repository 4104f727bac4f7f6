"""Tables of labelled texts: columns are found or asked for, and what cannot be read is named by file and line."""

import gzip
import json

import pytest

from clearformer.data.readers.labelled import (
    LabelColumns,
    LabelledError,
    find_columns,
    read_labelled,
    read_rows,
)

ROWS = [("good film", "pos"), ("bad film", "neg"), ("a film, with a comma", "pos"), ('he said "no"', "neg")] * 3


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def as_csv(rows, header="text,label"):
    quoted = [('"' + text.replace('"', '""') + '"', label) for text, label in rows]
    return "".join(f"{line}\n" for line in [header, *(f"{text},{label}" for text, label in quoted)] if line)


def read(path, **told):
    return [(row.text, row.label) for row in read_labelled(path, find_columns(path, **told))]


def test_the_same_rows_in_every_format(tmp_path):
    table = write(tmp_path / "a.csv", as_csv(ROWS))
    tabs = write(tmp_path / "a.tsv", "sentence\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in ROWS))
    lines = [json.dumps({"review": text, "sentiment": label}) for text, label in ROWS]
    objects = write(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    assert read(table) == read(tabs) == read(objects) == read(packed) == ROWS


def test_columns_without_headings_are_found_by_what_stands_in_them(tmp_path):
    rows = [(f"a text about number {number}", ("yes", "no", "maybe")[number % 3]) for number in range(60)]
    first = write(tmp_path / "a.tsv", "".join(f"{label}\t{text}\n" for text, label in rows))
    last = write(tmp_path / "b.tsv", "".join(f"{text}\t{label}\n" for text, label in rows))
    assert find_columns(first) == LabelColumns(text="2", label="1")
    assert find_columns(last) == LabelColumns(text="1", label="2")
    assert read(first) == read(last) == rows


def test_headings_that_nobody_knows_are_asked_for_by_name(tmp_path):
    rows = "".join(f"{n % 2},{n % 3},words {n}\n" for n in range(40))
    path = write(tmp_path / "a.csv", "label_a,id,words\n" + rows)
    with pytest.raises(LabelledError, match=r"could all be the label; say which with data\.label=NAME"):
        find_columns(path)
    assert find_columns(path, label="label_a") == LabelColumns(text="words", label="label_a")
    with pytest.raises(LabelledError, match=r"has no column 'klass'; it has label_a, id, words"):
        find_columns(path, label="klass")


def test_pairs_of_texts(tmp_path):
    rows = "".join(f"how are you {n}\twho are you {n}\t{n % 2}\n" for n in range(20))
    path = write(tmp_path / "a.tsv", "question1\tquestion2\tlabel\n" + rows)
    found = find_columns(path)
    assert found == LabelColumns(text="question1", second="question2", label="label")
    assert next(iter(read_labelled(path, found)))[:3] == ("how are you 0", "who are you 0", "0")


def test_a_broken_quotation_is_named_by_its_line(tmp_path):
    good = as_csv(ROWS * 68)  # 816 rows
    lines = good.splitlines()
    lines[811] = '"this quotation never ends,pos'
    path = write(tmp_path / "a.csv", "\n".join(lines) + "\n")
    with pytest.raises(LabelledError, match=r"a\.csv, line 812: a quotation mark opens"):
        list(read_rows(path))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "text,label\ngood\n", r"line 2 has 1 columns where 2 are expected"),
        ("a.csv", "text,label\n,pos\n", r"line 2 has nothing in column 'text'"),
        ("a.tsv", "text\tlabel\ngood\t \n", r"line 2 has nothing in column 'label'"),
        ("a.jsonl", '{"text": "a", "label": "b"}\nno json\n', r"line 2 is not JSON"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n[1]\n', r"line 2 is not a JSON object"),
        ("a.csv", "", r"has no rows"),
        ("a.txt", "only one column\nhere\n", r"has no columns"),
    ],
)
def test_what_cannot_be_read_is_refused_by_line(tmp_path, name, text, says):
    path = write(tmp_path / name, text)
    with pytest.raises(LabelledError, match=says):
        list(read_labelled(path, find_columns(path)))


def test_a_field_over_several_lines_is_one_row(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"two\nlines",pos\n"one",neg\n')
    rows = list(read_rows(path))
    assert [row.line for row in rows] == [2, 4]
    assert rows[0].fields["text"] == "two\nlines"


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (("问题一", "问题二", "相同"), ("问题一", "问题二")),
        (("Question 2", "Question 1", "same"), ("Question 2", "Question 1")),
        (("q_a", "q_b", "same"), ("q_a", "q_b")),
        (("comment", "title 1", "same"), None),
        (("area", "arena", "same"), None),
    ],
)
def test_columns_that_differ_in_a_number_are_a_pair(tmp_path, names, pair):
    path = tmp_path / "a.csv"
    rows = [f"one long question {n},another question {n},{'yn'[n % 2]}" for n in range(40)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    found = find_columns(path)
    assert (found.second is None) == (pair is None)
    assert pair is None or (found.text, found.second) == pair
    assert found.label == names[2]

"""Preparing what an origin serves: each step does what its name says, and a wrong document is refused by the step."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.catalogue.prepare import STEPS, PrepareError, prepare

CELLS = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=("Cs",)), max_size=8)
TABLES = st.lists(st.tuples(CELLS, CELLS), max_size=8)


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("steps", "served", "expected"),
    [
        (["trim"], b"a\tO \r\n\t\n  b\tO", b"a\tO\n\nb\tO\n"),
        (["one-space"], "a \u00a0 b\t c\u3000d \n".encode(), b"a b\tc d\n"),
        (["tab-after-first-word"], b"0 not good .\n1 good\n", b"0\tnot good .\n1\tgood\n"),
        (["columns 2 1"], b"good\t1\n", b"1\tgood\n"),
        (["columns 3"], b"a\tb\tc\n", b"c\n"),
        (["rows 1 3"], b"0\n1\n2\n3\n", b"1\n2\n"),
        (["header label text"], b"1\tx\n", b"label\ttext\n1\tx\n"),
        (["without-header"], b"label\ttext\n1\tx\n", b"1\tx\n"),
        (["distinct 2"], b"a\tb\t1\na\tb\t2\na\tc\t3\n", b"a\tb\t1\na\tc\t3\n"),
        (["from-csv"], b'1,"a ""b"", c\nd"\r\n0,e\r\n', b'1\ta "b", c d\n0\te\n'),
        (["compact-json"], b'{"a": [1, "\\u00e9"]}', '{"a":[1,"\u00e9"]}'.encode()),
        (["decode cp1252"], "caf\u00e9 \u2018x".encode("cp1252"), "caf\u00e9 \u2018x".encode()),
        (["decode utf-8 cp1252"], "caf\u00e9".encode("cp1252"), "caf\u00e9".encode()),
        (["decode utf-8 cp1252"], "caf\u00e9".encode(), "caf\u00e9".encode()),
        (["member a.txt", "trim"], zipped(**{"a.txt": b"x \n", "b": b"y"}), b"x\n"),
        ([], b"as it is", b"as it is"),
    ],
)
def test_a_step_does_what_its_name_says(steps, served, expected):
    assert prepare([served], steps) == expected


def test_documents_get_their_labels_and_are_put_together():
    steps = ["trim", "labels 1 0", "rows 0 1", "join", "header label sentence"]
    assert prepare([b"good . \nfine\n", b"bad . \n"], steps) == b"label\tsentence\n1\tgood .\n0\tbad .\n"


def test_answers_are_noted_at_their_first_place():
    answers = [{"answer_start": 8, "text": "gold"}, {"text": "the gold", "answer_start": 4}]
    paragraph = {"context": "gold or the gold", "qas": [{"answers": answers, "question": "?", "id": "q"}]}
    served = json.dumps({"data": [{"title": "T", "paragraphs": [paragraph]}], "version": "1.1"}).encode()
    prepared = prepare([served], ["first-places"])
    (question,) = json.loads(prepared)["data"][0]["paragraphs"][0]["qas"]
    assert question["answers"] == [
        {"answer_start": 0, "text": "gold", "occurrences": 2},
        {"answer_start": 8, "text": "the gold"},
    ]
    assert prepare([prepared], ["first-places"]) == prepared


@given(TABLES)
def test_columns_swapped_twice_are_as_they_were(rows):
    table = "".join(f"{a}\t{b}\n" for a, b in rows).encode()
    assert prepare([table], ["columns 2 1", "columns 2 1"]) == table


@given(TABLES)
def test_tidying_twice_is_tidying_once(rows):
    table = "".join(f"{a}\t{b}\n" for a, b in rows).encode()
    for step in ("trim", "one-space", "distinct 1"):
        once = prepare([table], [step])
        assert prepare([once], [step]) == once


@pytest.mark.parametrize(
    ("step", "served"),
    [
        ("compact-json", b"<html>404</html>"),
        ("first-places", b'{"data": [{}], "version": "1"}'),
        ("first-places", json.dumps({"version": "1", "data": "words"}).encode()),
        ("member a.txt", b"no archive"),
        ("member a.txt", zipped(b="x")),
        ("columns 2", b"one column\n"),
        ("trim", b"\xff\xfe\n"),
        ("labels 1 0", b"one document\n"),
        ("apart val 1 2 2", b"no pair\n"),
    ],
)
def test_what_cannot_be_prepared_is_refused_by_the_step(step, served):
    with pytest.raises(PrepareError, match=f"the step '{step}' failed"):
        prepare([served], [step])


def test_a_torn_archive_is_refused():
    archive = zipped(**{"a.txt": bytes(10_000)})
    damaged = archive[:45] + b"?" + archive[46:]
    with pytest.raises(PrepareError, match=r"the step 'member a\.txt' failed"):
        prepare([damaged], ["member a.txt"])


def test_too_much_is_refused():
    with pytest.raises(PrepareError, match=r"'member a' gave more than 1,000 bytes"):
        prepare([zipped(a=bytes(10_000))], ["member a"], max_bytes=1000)


def test_every_step_explains_itself():
    assert all(step.__doc__ for step in STEPS.values())

"""Questions and statements without their marks."""

import gzip

from clearformer.lab.lost_marks import ASKED, HELD, TOLD, unmarked_sentences, write_unmarked

LINES = ["I am here.", "Are you there?", "Yes!", "No.", "Who?", "It rains.", "It pours."]


def test_as_many_statements_as_questions_and_no_mark():
    assert list(unmarked_sentences(LINES)) == [
        ("are you there", ASKED),
        ("yes", TOLD),
        ("who", ASKED),
        ("it rains", TOLD),
    ]


def test_what_is_judged_by_is_not_learned_from(tmp_path):
    source = tmp_path / "train.en.gz"
    with gzip.open(source, "wt", encoding="utf-8") as file:
        file.writelines(f"Is it {number}?\nIt is {number}.\n" for number in range(HELD))
    files = write_unmarked(source, tmp_path / "made")
    learned, judged = (files[name].read_text().splitlines() for name in ("train_source", "dev_source"))
    assert (len(learned), len(judged)) == (HELD, HELD)
    assert not {*learned} & {*judged}
    assert set(files["dev_target"].read_text().split()) == {ASKED, TOLD}

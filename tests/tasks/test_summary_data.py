"""What a summarizer learns from: tables that have summaries, parts that share no text, lessons beside them."""

import json

import pytest

from clearformer.tasks.summary_data import SummaryData, columns_of, split, taught


@pytest.mark.parametrize("values", [{"hold_out": 0.0}, {"split_pieces": 1.0}, {"max_length": 4}, {"max_summary": 2}])
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(ValueError, match=f"data.{next(iter(values))}"):
        SummaryData(**values)


def test_a_table_without_summaries_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\n" + "a b c d e f g h,x\n" * 30)
    with pytest.raises(ValueError, match=r"no columns of texts and shorter summaries; name them: data\.text"):
        columns_of(tmp_path / "t.csv")


def test_lessons_stand_beside_people_s_summaries_or_in_their_place(tmp_path):
    rows = [{"text": f"{n} dogs play in the snow behind the house", "summary": f"{n} dogs play"} for n in range(20)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "lessons.jsonl").write_text(json.dumps({"text": "a text that is long", "summary": "long"}) + "\n")
    data = SummaryData(train="train.jsonl", hold_out=0.2)
    train, held = split(data, tmp_path)
    assert held
    assert not {pair.text for pair in train} & {pair.text for pair in held}
    assert taught(data, tmp_path, train) == train
    beside = taught(SummaryData(lessons="lessons.jsonl"), tmp_path, train)
    assert beside[:-1] == train
    assert beside[-1].summary == "long"
    assert taught(SummaryData(lessons="lessons.jsonl", lessons_alone=True), tmp_path, train) == beside[-1:]

"""What the doctor says of tagged sentences, by file and line."""

import json

from clearformer.data.readers.conll import read_conll
from clearformer.tasks.automatic.tag_doctor import examine_tags


def test_the_doctor_counts_and_names(tmp_path):
    path = tmp_path / "names.conll"
    path.write_text("Rome\tB-LOC\n\nRome\tO\n\nRome\tI-PER\n\nthe\tO\n")
    report = examine_tags(path, list(read_conll(path, illegal="repair")))
    assert not report.fatal
    assert (report.sentences, report.without, report.words, report.kinds) == (4, 2, 4, {"LOC": 1, "PER": 1})
    text = report.to_text()
    assert f"{path}:3: as on line 1, which has other tags" in text
    assert f"{path}:5" in text
    told = json.loads(report.to_json())
    assert told["without_entities"] == 2
    assert told["counts"]["a line that had to be repaired"] == 1


def test_without_an_entity_there_is_nothing_to_learn(tmp_path):
    path = tmp_path / "plain.conll"
    path.write_text("Rome\tO\n")
    report = examine_tags(path, list(read_conll(path)))
    assert report.fatal
    assert "none; tag some" in report.to_text()
    assert "nothing wrong" in report.to_text()

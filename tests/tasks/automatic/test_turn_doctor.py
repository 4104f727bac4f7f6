"""What is wrong with conversations is said by line, and what cannot be learned from at all is refused."""

import json

from clearformer.tasks.automatic.turn_doctor import FEWEST, examine_turns


def write(path, talks):
    roles = ("user", "assistant")
    records = [{"messages": [{"role": roles[n % 2], "content": word} for n, word in enumerate(talk)]} for talk in talks]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_repeats_and_silence_are_found(tmp_path):
    talks = [(f"q{n}", f"a{n}") for n in range(FEWEST)] + [("q1", "a1"), ("nobody answers",)]
    rows, report = examine_turns(write(tmp_path / "a.jsonl", talks))
    assert (len(rows), report.conversations, report.answers, report.fatal) == (12, 12, 11, False)
    assert "a.jsonl:12 has no answer to learn from; it is left out" in report.to_text()
    assert "1 conversations stand there more than once" in report.to_text()
    assert json.loads(report.to_json())["answers"] == 11


def test_too_few_or_senseless_lines_are_fatal(tmp_path):
    _, report = examine_turns(write(tmp_path / "a.jsonl", [("q", "a")]))
    assert report.fatal
    assert f"give {FEWEST} at least" in report.findings[0]
    (tmp_path / "b.jsonl").write_text('{"messages": [{"role": "dog", "content": "x"}]}\n')
    _, report = examine_turns(tmp_path / "b.jsonl")
    assert report.fatal
    assert "b.jsonl:1 has a message 1 with the role 'dog'" in report.findings[0]


def test_nothing_wrong(tmp_path):
    _, report = examine_turns(write(tmp_path / "a.jsonl", [(f"q{n}", f"a{n}") for n in range(FEWEST)]))
    assert "nothing wrong was found" in report.to_text()

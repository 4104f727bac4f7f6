"""Questions in the layout of SQuAD: every one is read, and what is wrong is named by file, line and question."""

import gzip
import json
import os
from pathlib import Path

import pytest

from clearformer.data.readers.squad import GivenAnswer, QuestionFileError, looks_like_questions, read_questions

CONTEXT = "Two dogs play in the snow. 两只狗 😀 play."


def content(**changes):
    entry = {"id": "q1", "question": "Who plays?", "answers": [{"text": "Two dogs", "answer_start": 0}], **changes}
    entry = {key: value for key, value in entry.items() if value is not None}
    return {"version": "1.1", "data": [{"title": "Snow", "paragraphs": [{"context": CONTEXT, "qas": [entry]}]}]}


def write(path, what):
    path.write_text(what if isinstance(what, str) else json.dumps(what, ensure_ascii=False), encoding="utf-8")
    return path


def test_every_question_with_its_context_and_answers(tmp_path):
    answers = [{"text": word, "answer_start": CONTEXT.index(word)} for word in ("snow", "the snow", "the snow")]
    [asked] = read_questions(write(tmp_path / "a.json", content(answers=answers)))
    assert (asked.id, asked.question, asked.context) == ("q1", "Who plays?", CONTEXT)
    for answer in asked.answers:
        assert CONTEXT[answer.start :].startswith(answer.text)
    assert asked.usual() == GivenAnswer("the snow", 17)


def test_offsets_count_characters_and_not_bytes(tmp_path):
    answer = {"text": "😀 play", "answer_start": CONTEXT.index("😀")}
    [asked] = read_questions(write(tmp_path / "a.json", content(answers=[answer])))
    assert asked.answers[0].text == "😀 play"


def test_gzipped_is_the_same(tmp_path):
    plain = write(tmp_path / "a.json", content())
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_questions(tmp_path / "a.json.gz")) == list(read_questions(plain))


def test_a_question_without_an_answer_says_so(tmp_path):
    told = content(answers=[], is_impossible=True, plausible_answers=[{"text": "snow", "answer_start": 21}])
    [asked] = read_questions(write(tmp_path / "a.json", told))
    assert asked.answers == ()
    assert asked.usual() is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": [{"text": "snow", "answer_start": 3}]}, "question q1: .*'snow' is not at 3 but at 21"),
        ({"answers": [{"text": "ice", "answer_start": 3}]}, "question q1: .*'ice' is not at 3 nor anywhere else"),
        ({"answers": [{"text": "😀 play.", "answer_start": -8}]}, "question q1: .* is not at -8"),
        ({"answers": [{"text": " ", "answer_start": 3}]}, "question q1: an answer is empty"),
        ({"answers": [{"text": "snow"}]}, "question q1: 'answer_start' is missing"),
        ({"answers": [{"text": "snow", "answer_start": "21"}]}, "question q1: 'answer_start' should be a whole number"),
        ({"answers": ["snow"]}, "question q1: .* an object with 'text'"),
        ({"answers": []}, "question q1: there is no answer; give one, or say is_impossible"),
        ({"answers": None}, "question q1: 'answers' is missing"),
        ({"question": None}, "question q1: 'question' is missing"),
        ({"question": 5}, "question q1: 'question' should be a text and is 5"),
        ({"is_impossible": "no"}, "question q1: is_impossible is 'no'"),
        ({"id": None}, "question 1 of paragraph 1 of 'Snow': 'id' is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_question(tmp_path, changes, reason):
    with pytest.raises(QuestionFileError, match=rf"a\.json:1:\d+, {reason}"):
        list(read_questions(write(tmp_path / "a.json", content(**changes))))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"version": 1}', "'data' is missing"),
        ('{"data": 1}', "'data' should be a list"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "'context' is missing"),
        ('{"data": [7]}', "7 stands where an object"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, text, reason):
    with pytest.raises(QuestionFileError, match=reason):
        list(read_questions(write(tmp_path / "a.json", text)))


def test_a_cut_archive_is_refused(tmp_path):
    whole = gzip.compress(json.dumps(content()).encode())
    (tmp_path / "a.json.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(QuestionFileError, match=r"a\.json\.gz is a damaged gzip file"):
        list(read_questions(tmp_path / "a.json.gz"))


def test_with_somebody_to_tell_the_rest_is_read(tmp_path):
    made = content()
    entries = made["data"][0]["paragraphs"][0]["qas"]
    entries.append({"id": "q2", "question": "Where?", "answers": [{"text": "snow", "answer_start": 3}]})
    told = []
    read = list(read_questions(write(tmp_path / "a.json", made), lambda *words: told.append(words)))
    assert [asked.id for asked in read] == ["q1"]
    [(place, problem)] = told
    assert place.endswith("a.json:1:218, question q2")
    assert "but at 21" in problem


def test_a_fault_is_named_by_its_line(tmp_path):
    """The line on which the question begins; a file whose questions are not all read is not trusted for lines."""
    made = content()
    entries = made["data"][0]["paragraphs"][0]["qas"]
    entries += [{"id": f"q{number}", "question": "Where?", "answers": []} for number in range(2, 5)]
    text = json.dumps(made, indent=1)
    told: list[str] = []
    list(read_questions(write(tmp_path / "a.json", text), lambda place, problem: told.append(place)))
    lines = text.splitlines()
    found = {place.rpartition(" ")[2]: int(place.split(":")[1].split(",")[0]) for place in told}
    assert set(found) == {"q2", "q3", "q4"}
    for name, line in found.items():
        assert lines[line - 1].strip() == "{"
        assert f'"{name}"' in lines[line]
    doubled = text.replace('"qas": [', '"qas": [{"id": "lost"}], "qas": [')
    with pytest.raises(QuestionFileError, match=r"a\.json, question q2: there is no answer"):
        list(read_questions(write(tmp_path / "a.json", doubled)))


def test_the_layout_is_recognised(tmp_path):
    assert looks_like_questions(write(tmp_path / "a.json", content()))
    assert not looks_like_questions(write(tmp_path / "b.json", '{"data": [1]}'))
    assert not looks_like_questions(write(tmp_path / "c.txt", content()))


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("file", "count", "misplaced"),
    [
        ("squad/dev-v1.1.rebuilt.json.gz", 10_570, 0),
        ("squad/squadshifts/reddit_v1.0.json.gz", 9_803, 0),
        ("squad/xquad/xquad.zh.json.gz", 1_190, 0),
        ("chinese/drcd/dev.json.gz", 3_524, 0),
        ("chinese/cmrc2018/trial.json.gz", 1_002, 5),
    ],
)
def test_published_files_are_read_whole(file, count, misplaced):
    told = []
    path = Path(os.environ["CLEARFORMER_DATA"]) / file
    assert len(list(read_questions(path, lambda *words: told.append(words)))) == count - len({one for one, _ in told})
    assert len(told) == misplaced

"""Files that no recipe was tuned on, made as other people make them: each is understood without an option.

The same five from real corpora, trained to the end: benchmarks/strangers_files.py.
"""

import json
import random

import pytest

import clearformer as cf
from clearformer.cli.main import main
from clearformer.data.readers.labelled import find_columns
from clearformer.run.automatic import choose, recognise
from clearformer.run.recipe import parse_recipe

FILLERS = ("the", "film", "was", "really", "a", "story", "with", "music", "and", "actors")


def sentence(draw, word):
    words = draw.choices(FILLERS, k=draw.randint(3, 9))
    words.insert(draw.randrange(len(words)), word)
    return " ".join(words)


def german_csv(path, rows=80, mislabelled=0):
    """Other headings, semicolons, quotation marks, and a byte order mark, as a spreadsheet writes it.

    mislabelled: every n-th row has the other label.
    """
    draw = random.Random(1)
    lines = ["Nr.;Urteil;Satz"]
    for number in range(rows):
        text = sentence(draw, ("awful", "lovely")[number % 2])
        label = ("schlecht", "gut")[(number + bool(mislabelled and number % mislabelled == 0)) % 2]
        lines.append(f'{number};{label};"{text}; said ""he"", {number}"')
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")


def chinese_jsonl(path, rows=80):
    """Keys that nobody listed, numbers among the values."""
    draw = random.Random(2)
    kinds = {"体育": "球队比赛冠军联赛", "财经": "股市基金银行利率"}
    lines = []
    for number in range(rows):
        kind = list(kinds)[number % 2]
        title = "".join(draw.choices(kinds[kind], k=9))
        lines.append(json.dumps({"编号": number, "新闻": f"{title}{number}", "栏目": kind}, ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tagged_txt(path, rows=60):
    """CoNLL with two columns more, of which one stands behind the tag, and a name that says nothing."""
    draw = random.Random(3)
    lines = []
    for _ in range(rows):
        for word, kind in ((draw.choice(FILLERS), ""), (draw.choice(("Ada", "Alan")), "B-PER"), ("Hopper", "I-PER")):
            lines.append(f"{word}\tNN\t{kind or 'O'}\t{draw.randrange(9)}")
        lines += [f"{draw.choice(FILLERS)}{draw.randrange(99)}\tVB\tO\t1", ""]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def other_squad(path, rows=40):
    """The articles under another key."""
    draw = random.Random(4)
    paragraphs = []
    for number in range(rows):
        context = f"{sentence(draw, 'treasure')} {number}"
        answer = {"text": "treasure", "answer_start": context.index("treasure")}
        paragraphs.append({"context": context, "qas": [{"id": f"q{number}", "question": "what?", "answers": [answer]}]})
    path.write_text(json.dumps({"source": "x", "articles": [{"paragraphs": paragraphs}]}), encoding="utf-8")


def headless_tsv(path, rows=80):
    """No headings; the label stands between a number and the text, and quotation marks are not closed."""
    draw = random.Random(5)
    lines = [
        f'{number}\t{("neg", "pos")[number % 2]}\t"{sentence(draw, ("awful", "lovely")[number % 2])} {number}'
        for number in range(rows)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


FILES = {
    "umfrage.csv": (german_csv, "text-classification", "text in column Satz, label in column Urteil"),
    "titles.jsonl": (chinese_jsonl, "text-classification", "text in column 新闻, label in column 栏目"),
    "export.txt": (tagged_txt, "tagging", "words with tags: PER"),
    "quiz.json": (other_squad, "question-answering", "questions about texts"),
    "dump.tsv": (headless_tsv, "text-classification", "text in column 3, label in column 2"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_stranger_s_file_is_understood_without_an_option(tmp_path, name):
    make, task, words = FILES[name]
    make(tmp_path / name)
    found = recognise([tmp_path / name])
    assert found.task.name == task
    assert words in found.words
    chosen = choose([tmp_path / name], tmp_path / "run")
    assert parse_recipe(chosen.recipe, "chosen").task == task
    assert all(choice.reason for choice in chosen.choices)


def test_and_trains_to_a_report_that_names_lines_of_the_given_file(tmp_path, capsys):
    german_csv(tmp_path / "umfrage.csv", mislabelled=3)
    given = (tmp_path / "umfrage.csv").read_text(encoding="utf-8").splitlines()
    tiny = ["training.steps=4", "training.validate_every=2", "training.save_every=2", "model.layers=1"]
    out = tmp_path / "run"
    assert main(["train", "--data", str(tmp_path / "umfrage.csv"), "--out", str(out), *tiny]) == 0
    printed = capsys.readouterr()
    assert "calibration error" in printed.out
    assert "true \\ said" in printed.err
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["part"] == "test"
    assert report["mistakes"]
    for mistake in report["mistakes"]:
        file, _, line = mistake["place"].rpartition(":")
        assert file == str(tmp_path / "umfrage.csv")
        assert mistake["text"].split("; said")[0] in given[int(line) - 1]
    assert {"gut", "schlecht"} == set(report["confusion"]["labels"])
    assert main(["evaluate", "--model", str(out), "--data", str(tmp_path / "umfrage.csv"), "--report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["classes"]
    assert cf.load(out).classify("lovely film")[0].label in ("gut", "schlecht")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    german_csv(folder / "umfrage.csv")
    tiny = {"training.steps": 2, "training.validate_every": 2, "training.save_every": 2, "model.layers": 1}
    return cf.train(data=folder / "umfrage.csv", changes=tiny, out=folder / "run")


def test_a_label_that_the_model_never_saw_is_named_by_its_line(model, tmp_path, capsys):
    german_csv(tmp_path / "new.csv")
    lines = (tmp_path / "new.csv").read_text(encoding="utf-8").splitlines()
    lines[41] = lines[41].replace(";gut;", ";mittel;").replace(";schlecht;", ";mittel;")
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["evaluate", "--model", str(model), "--data", str(tmp_path / "new.csv")]) == 1
    told = capsys.readouterr().err
    assert "new.csv:42: the label 'mittel' is unknown to the model, which has gut, schlecht; rename it" in told


@pytest.mark.parametrize(
    ("texts", "told"),
    [([""], "text 1 is empty"), (["fine", " \t "], "text 2 is empty")],
)
def test_an_empty_text_is_refused_by_its_number(model, capsys, texts, told):
    assert main(["classify", "--model", str(model), *texts]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x" * 100_000, "word " * 20_000, "电影" * 50_000])
def test_a_hundred_thousand_characters_are_read_in_windows(model, text):
    [found] = cf.load(model).classify([text])
    assert sum(found.scores.values()) == pytest.approx(1.0, abs=1e-4)


def test_several_columns_of_nought_and_one_are_labels(tmp_path):
    draw = random.Random(6)
    switches = [",".join(str(draw.randrange(2)) for _ in range(3)) for _ in range(60)]
    rows = [f"{n},{sentence(draw, 'x')} {n},{marks}" for n, marks in enumerate(switches)]
    (tmp_path / "toxic.csv").write_text("id,comment_text,rude,loud,odd\n" + "\n".join(rows) + "\n")
    found = find_columns(tmp_path / "toxic.csv")
    assert (found.kind, found.labels, found.text) == ("several", ("rude", "loud", "odd"), "comment_text")
    chosen = choose([tmp_path / "toxic.csv"], tmp_path / "run")
    recipe = parse_recipe(chosen.recipe, "chosen")
    assert recipe.data.kind == "several"
